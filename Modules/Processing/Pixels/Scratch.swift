/// Memory for a kernel: nought at first, aligned to a cache line, freed with its owner.
///
/// Kernels use pointers because a bounds check on every sample costs more than the arithmetic; the owner computes the
/// count, and every kernel says how much it touches.
struct Scratch<Element: BitwiseCopyable>: ~Copyable {
    let base: UnsafeMutablePointer<Element>

    /// - Parameter count: At least nought; a multiple of what the vector loops step by.
    init(count: Int) {
        let byteCount = count * MemoryLayout<Element>.stride
        let memory = UnsafeMutableRawPointer.allocate(byteCount: max(byteCount, 1), alignment: 64)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        base = memory.assumingMemoryBound(to: Element.self)
    }

    deinit { UnsafeMutableRawPointer(base).deallocate() }
}

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

/// The pixels of one row as floats; shared by the calls of one piece of work.
final class PixelRow {
    private let memory: Scratch<SIMD4<Float>>
    var base: UnsafeMutablePointer<SIMD4<Float>> { memory.base }

    init(_ width: Int) { memory = Scratch(count: width) }
}
