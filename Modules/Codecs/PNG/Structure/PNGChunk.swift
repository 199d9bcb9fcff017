import AlcedoCore
private import CPNGShim

/// Where one chunk of a file lies, and what it is. Source: W3C PNG specification, third edition, section 5.3.
struct PNGChunk {
    /// Names as numbers, so that a file of a million chunks is walked through quickly.
    enum Name {
        static let actl: UInt32 = 0x6163_544C
        static let exif: UInt32 = 0x6558_4966
        static let fctl: UInt32 = 0x6663_544C
        static let fdat: UInt32 = 0x6664_4154
        static let idat: UInt32 = 0x4944_4154
        static let iend: UInt32 = 0x4945_4E44
        static let ihdr: UInt32 = 0x4948_4452
        static let itxt: UInt32 = 0x6954_5874
        static let plte: UInt32 = 0x504C_5445
        static let text: UInt32 = 0x7445_5874
        static let trns: UInt32 = 0x7452_4E53
        static let ztxt: UInt32 = 0x7A54_5874
    }

    /// The longest that a chunk may say it is.
    static let longest = 0x7FFF_FFFF
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// Bytes of length and name.
    static let headerByteCount = 8

    /// Throws `corrupt` unless the bytes, as far as they reach, begin as a PNG does.
    static func checkSignature(_ bytes: some Collection<UInt8>) throws(ImageDecodingError) {
        guard bytes.prefix(signature.count).elementsEqual(signature.prefix(bytes.count)) else {
            throw ImageDecodingError(.corrupt, "PNG: the bytes begin as no PNG does")
        }
    }

    let name: UInt32
    /// All of it, length and checksum included, as it claims; may reach over the end of the file.
    let range: Range<Int>

    var body: Range<Int> { range.lowerBound + Self.headerByteCount..<range.upperBound - 4 }

    func isWhole(in bytes: PNGBytes) -> Bool { range.upperBound <= bytes.count }

    /// Whether the checksum, of a whole chunk, is that of its name and body.
    func isIntact(in bytes: PNGBytes) -> Bool {
        let checked = bytes.part(range.lowerBound + 4..<body.upperBound)
        return Int(alcedo_png_crc(checked.baseAddress, checked.count)) == bytes.bigEndian(at: body.upperBound)
    }

    /// Whether decoders may pass the chunk over: bit 5 of the first letter. Section 5.4.
    var isAncillary: Bool { name & 0x2000_0000 != 0 }
}
