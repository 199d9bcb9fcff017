import FoundationEssentials
import Glibc

/// The bytes of a file in memory of their own, freed when the value goes.
struct FileBytes: ~Copyable {
    private let memory: UnsafeMutableRawPointer
    private let count: Int

    /// Allocates room for `count` bytes, and for `spare` more, and lets `fill` write them; nil when it reports failure.
    init?(count: Int, spare: Int = 0, fill: (UnsafeMutableRawBufferPointer) -> Bool) {
        guard let memory = malloc(max(1, count + spare)) else { return nil }
        guard fill(UnsafeMutableRawBufferPointer(start: memory, count: count + spare)) else {
            free(memory)
            return nil
        }
        self.memory = memory
        self.count = count
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
