public import AlcedoCore

extension CodecRegistry.Entry {
    /// WebP, recognised by its RIFF header: `RIFF`, four bytes of size, `WEBP`. The best quality is without loss.
    public static var webp: Self {
        let size: [UInt8?] = [nil, nil, nil, nil]
        return Self(
            format: .webp, decoder: WebPDecoder(),
            signatures: [FormatSignature(Array("RIFF".utf8) + size + Array("WEBP".utf8))]
        ) { quality in
            WebPEncoder(compression: quality < 1 ? .lossy(quality: quality * 100) : .lossless)
        }
    }
}
