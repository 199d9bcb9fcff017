public import AlcedoCore

extension CodecRegistry.Entry {
    /// WebP, recognised by its RIFF header: `RIFF`, four bytes of size, `WEBP`.
    public static var webp: Self {
        Self(format: .webp, decoder: WebPDecoder()) {
            $0.contains(Array("RIFF".utf8)) && $0.contains(Array("WEBP".utf8), at: 8)
        }
    }
}
