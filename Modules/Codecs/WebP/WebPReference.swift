import CWebP
package import FoundationEssentials

/// The plain calls of libwebp that benchmarks compare ``WebPDecoder`` with.
package enum WebPReference {
    /// Decodes a still image into memory of its own and throws the pixels away. Returns their number, 0 on any error.
    package static func decode(_ data: Data) -> Int {
        data.withUnsafeBytes { memory in
            var (width, height) = (Int32(0), Int32(0))
            let bytes = memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
            guard let pixels = WebPDecodeRGBA(bytes, memory.count, &width, &height) else { return 0 }
            WebPFree(pixels)
            return Int(width) * Int(height)
        }
    }
}
