import AlcedoCore

/// The header and the logical screen descriptor. Source: GIF89a sections 17 to 19.
struct GIFScreen {
    let size: PixelSize

    /// Reads from the first byte up to the first block, the global palette included.
    init(_ input: inout GIFInput) throws(ImageDecodingError) {
        try Self.checkSignature(input.peek(6))
        try input.skip(6)
        size = PixelSize(width: try input.word(), height: try input.word())
        let flags = try input.byte()
        // The index of the background colour and the shape of a pixel.
        try input.skip(2)
        try input.skip(Self.paletteByteCount(flags: flags))
    }

    /// Bytes of the palette that the flags of a screen or an image announce.
    static func paletteByteCount(flags: UInt8) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1)
    }

    private static func checkSignature(_ found: some Collection<UInt8>) throws(ImageDecodingError) {
        let versions = [Array("GIF87a".utf8), Array("GIF89a".utf8)]
        if versions.contains(where: { $0.elementsEqual(found) }) { return }
        if found.count < 6, versions.contains(where: { $0.starts(with: found) }) {
            throw ImageDecodingError(.truncated, "GIF: the bytes end inside the signature")
        }
        guard found.starts(with: "GIF".utf8) else { throw ImageDecodingError(.corrupt, "the bytes are not a GIF") }
        throw ImageDecodingError(.unsupportedVariant, "GIF: only versions 87a and 89a are known")
    }
}
