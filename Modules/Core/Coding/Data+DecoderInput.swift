package import FoundationEssentials

extension Data {
    /// Hands the bytes to a C decoder. The pointer is valid inside `body` only.
    ///
    /// - Throws: ``ImageDecodingError`` `empty` when there is not one byte, or what `body` throws.
    package func withDecoderInput<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) -> Result
    ) throws(ImageDecodingError) -> Result {
        try bytes.withUnsafeBytes { memory throws(ImageDecodingError) in
            guard !memory.isEmpty else { throw ImageDecodingError(.empty, "there are no bytes") }
            return try body(memory.assumingMemoryBound(to: UInt8.self))
        }
    }
}
