public import AlcedoCore

extension CodecRegistry.Entry {
    /// WebP, recognised by its RIFF header: `RIFF`, four bytes of size, `WEBP`.
    public static var webp: Self {
        let size: [UInt8?] = [nil, nil, nil, nil]
        return Self(
            format: .webp, decoder: WebPDecoder(),
            signatures: [FormatSignature(Array("RIFF".utf8) + size + Array("WEBP".utf8))])
    }
}
