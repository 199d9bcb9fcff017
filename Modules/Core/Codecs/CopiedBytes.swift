import AlcedoLibc

/// A copy of the bytes of a file at a fixed address, which a C library needs for as long as frames are decoded.
///
/// `@unchecked` because of the pointer. No lock is needed, because the bytes never change.
package final class CopiedBytes: @unchecked Sendable {
    package let bytes: UnsafeBufferPointer<UInt8>
    /// The bytes, followed by a zero byte.
    package let paddedBytes: UnsafeBufferPointer<UInt8>
    private let memory: UnsafeMutableRawPointer

    /// Copies the bytes.
    ///
    /// - Parameters:
    ///   - source: The bytes.
    ///   - format: The name of the format, for errors.
    /// - Throws: ``ImageDecodingError`` `outOfMemory`.
    package init(_ source: UnsafeBufferPointer<UInt8>, of format: String) throws(ImageDecodingError) {
        guard let base = source.baseAddress, let memory = malloc(source.count + 1) else {
            throw ImageDecodingError(.outOfMemory, "\(format): cannot copy \(source.count) bytes: out of memory")
        }
        memory.copyMemory(from: base, byteCount: source.count)
        memory.storeBytes(of: 0, toByteOffset: source.count, as: UInt8.self)
        self.memory = memory
        let start = memory.assumingMemoryBound(to: UInt8.self)
        bytes = UnsafeBufferPointer(start: start, count: source.count)
        paddedBytes = UnsafeBufferPointer(start: start, count: source.count + 1)
    }

    deinit { free(memory) }
}
