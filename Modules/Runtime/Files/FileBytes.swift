import AlcedoLibc

/// The bytes of a file in allocated memory, which is freed when the value is destroyed.
package struct FileBytes: ~Copyable {
    private let memory: UnsafeMutableRawPointer
    private let count: Int
    /// The memory to fill, including the spare bytes.
    package let room: UnsafeMutableRawBufferPointer

    /// Allocates memory for `count` bytes, and for `spare` more. Throws `ENOMEM` if it is not available.
    package init(count: Int, spare: Int = 0) throws(SystemError) {
        guard let memory = malloc(max(1, count + spare)) else { throw SystemError(number: ENOMEM) }
        self.memory = memory
        self.count = count
        room = UnsafeMutableRawBufferPointer(start: memory, count: count + spare)
    }

    deinit { free(memory) }

    package func withBytes<Result>(_ body: (RawSpan) -> Result) -> Result {
        body(UnsafeRawBufferPointer(start: memory, count: count).bytes)
    }

    /// Returns the memory, which the caller must release with `free`.
    package consuming func takeMemory() -> UnsafeMutableRawPointer {
        let memory = memory
        discard self
        return memory
    }
}
