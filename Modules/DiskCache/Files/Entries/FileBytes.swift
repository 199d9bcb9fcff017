import AlcedoCore
import AlcedoLibc
import FoundationEssentials

/// The bytes of a file in memory of their own, freed when the value goes.
struct FileBytes: ~Copyable {
    private let memory: UnsafeMutableRawPointer
    private let count: Int
    /// What it can hold, to be filled.
    let room: UnsafeMutableRawBufferPointer

    /// Allocates room for `count` bytes, and for `spare` more.
    init(count: Int, spare: Int = 0) throws(SystemRefusal) {
        guard let memory = malloc(max(1, count + spare)) else { throw SystemRefusal(number: ENOMEM) }
        self.memory = memory
        self.count = count
        room = UnsafeMutableRawBufferPointer(start: memory, count: count + spare)
    }

    deinit { free(memory) }

    func withBytes<Result>(_ body: (RawSpan) -> Result) -> Result {
        body(UnsafeRawBufferPointer(start: memory, count: count).bytes)
    }

    /// Gives the memory away as its first `length` bytes, without copying.
    consuming func prefix(_ length: Int) -> Data {
        let memory = memory
        discard self
        return Data(bytesNoCopy: memory, count: length, deallocator: .free)
    }
}
