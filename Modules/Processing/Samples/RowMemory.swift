/// Bytes of one row on its way to the next consumer.
final class RowMemory {
    private let memory: Scratch<UInt8>
    private let byteCount: Int
    var base: UnsafeMutableRawPointer { UnsafeMutableRawPointer(memory.base) }

    init(byteCount: Int) {
        memory = Scratch(count: byteCount)
        self.byteCount = byteCount
    }

    /// Valid while the memory is.
    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: byteCount) }
}
