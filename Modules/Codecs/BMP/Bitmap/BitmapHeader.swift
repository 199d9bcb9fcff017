import AlcedoCore

/// The header of a device-independent bitmap, without its palette.
///
/// Source: Microsoft, "BITMAPCOREHEADER", "BITMAPINFOHEADER", "BITMAPV4HEADER" and "BITMAPV5HEADER" (wingdi.h), and
/// [MS-WMF] 2.2.2.9. The headers of 52 and 56 bytes have the first masks of version 4. The other headers of up to 64
/// bytes are those of OS/2 2.x, which may omit their last fields, as in the files `pal8os2v2.bmp` and
/// `pal8os2v2-16.bmp` of Jason Summers's BMP Suite.
struct BitmapHeader {
    enum Compression {
        case none
        /// Runs of 4-bit or 8-bit indices, or of 24-bit colors.
        case runLengths
        case bitFields
    }

    let byteCount: Int
    /// The size. In an icon, the height is half of the stored height, which also counts the rows of the mask.
    private(set) var size: PixelSize
    /// Whether the first stored row is the top row.
    let isTopDown: Bool
    /// The number of bits in each stored pixel: 1, 2, 4, 8, 16, 24 or 32.
    let bitsPerPixel: Int
    private(set) var compression = Compression.none
    /// The declared number of colors in the palette; zero for the maximum of the bit count.
    private(set) var declaredColorCount = 0
    /// The resolution for print; nil when it is not declared.
    private(set) var resolution: ImageResolution?
    /// The positions of the samples in pixels of 16 or 32 bits; nil for other pixels.
    var fields: BitFields?
    /// The number of bytes of the masks that follow the header.
    private(set) var maskByteCount = 0

    /// Reads a header at `offset`.
    ///
    /// - Throws: `truncated`, `corrupt` for contradictions, and `unsupportedVariant` for embedded JPEG and PNG, for the
    ///   Huffman compression of OS/2, and for other header sizes and bit counts.
    init(_ reader: ByteReader, at offset: Int, isIcon: Bool) throws(ImageDecodingError) {
        let start = offset
        byteCount = try reader.number(at: start, byteCount: 4)
        let isOS2Size = 16...64 ~= byteCount && byteCount % 4 == 0 || [42, 46].contains(byteCount)
        // Shortened headers are known in files only. In an icon, they are damage.
        guard isOS2Size && !isIcon || [12, 16, 40, 52, 56, 64, 108, 124].contains(byteCount) else {
            throw ImageDecodingError(.unsupportedVariant, "\(reader.format): a header of \(byteCount) bytes")
        }
        if byteCount == 12 {
            size = PixelSize(
                width: try reader.number(at: start + 4, byteCount: 2),
                height: try reader.number(at: start + 6, byteCount: 2))
            isTopDown = false
            bitsPerPixel = try reader.number(at: start + 10, byteCount: 2)
        } else {
            let height = try reader.signedNumber(at: start + 8)
            size = PixelSize(width: try reader.signedNumber(at: start + 4), height: height.magnitude.asInt)
            isTopDown = height < 0
            bitsPerPixel = try reader.number(at: start + 14, byteCount: 2)
        }
        if isIcon { size.height /= 2 }
        var code = 0
        if byteCount >= 20 { code = try reader.number(at: start + 16, byteCount: 4) }
        if byteCount >= 36 { declaredColorCount = try reader.number(at: start + 32, byteCount: 4) }
        if byteCount >= 32 {
            let perMeter = try [24, 28].map { (position) throws(ImageDecodingError) in
                Double(try reader.signedNumber(at: start + position))
            }
            let resolution = ImageResolution(
                horizontal: perMeter[0] / ImageResolution.inchesPerMeter,
                vertical: perMeter[1] / ImageResolution.inchesPerMeter)
            if resolution.isValid { self.resolution = resolution }
        }
        try readCompression(code, reader)
        guard [1, 2, 4, 8, 16, 24, 32].contains(bitsPerPixel) else {
            throw ImageDecodingError(.unsupportedVariant, "\(reader.format): \(bitsPerPixel) bits per pixel")
        }
        // The last byte of the header must be present, although its value may not be used.
        _ = try reader.number(at: start + byteCount - 1, byteCount: 1)
        try readFields(reader, start, hasAlphaMask: code == 6)
    }

    /// Whether the header is one of OS/2 2.x.
    private var isOS2: Bool { byteCount <= 64 && ![12, 40, 52, 56].contains(byteCount) }

    private mutating func readCompression(_ code: Int, _ reader: ByteReader) throws(ImageDecodingError) {
        switch code {
        case 0: compression = .none
        case 1 where bitsPerPixel == 8, 2 where bitsPerPixel == 4, 4 where isOS2 && bitsPerPixel == 24:
            // "Note that a top-down DIB cannot be compressed" (Microsoft, "BITMAPINFOHEADER").
            guard !isTopDown else {
                throw ImageDecodingError(.corrupt, "\(reader.format): a run-length bitmap with rows from the top")
            }
            compression = .runLengths
        case 3 where !isOS2 && [16, 32].contains(bitsPerPixel), 6 where !isOS2 && [16, 32].contains(bitsPerPixel):
            compression = .bitFields
        case 3 where isOS2: throw ImageDecodingError(.unsupportedVariant, "\(reader.format): Huffman compression")
        case 4 where !isOS2: throw ImageDecodingError(.unsupportedVariant, "\(reader.format): an embedded JPEG")
        case 5: throw ImageDecodingError(.unsupportedVariant, "\(reader.format): an embedded PNG")
        case 1, 2, 3, 4, 6:
            throw ImageDecodingError(
                .corrupt, "\(reader.format): compression \(code) does not allow \(bitsPerPixel) bits per pixel")
        default: throw ImageDecodingError(.unsupportedVariant, "\(reader.format): compression \(code)")
        }
    }

    private mutating func readFields(
        _ reader: ByteReader, _ start: Int, hasAlphaMask: Bool
    ) throws(ImageDecodingError) {
        guard compression == .bitFields else {
            if bitsPerPixel == 16 { fields = .fiveBits } else if bitsPerPixel == 32 { fields = .eightBits }
            // Without bit fields, the masks of colors are not valid. Writers use the mask of alpha nevertheless.
            if byteCount >= 56, !isOS2, let fields {
                let alpha = UInt32(truncatingIfNeeded: try reader.number(at: start + 52, byteCount: 4))
                let masks = [fields.red.mask, fields.green.mask, fields.blue.mask, alpha]
                self.fields = BitFields(masks, bitsPerPixel: bitsPerPixel) ?? fields
            }
            return
        }
        var hasAlpha = byteCount >= 56
        if byteCount == 40 {
            hasAlpha = hasAlphaMask
            maskByteCount = hasAlpha ? 16 : 12
        }
        var masks: [UInt32] = []
        for index in 0..<(hasAlpha ? 4 : 3) {
            masks.append(UInt32(truncatingIfNeeded: try reader.number(at: start + 40 + 4 * index, byteCount: 4)))
        }
        guard let fields = BitFields(masks, bitsPerPixel: bitsPerPixel) else {
            throw ImageDecodingError(.corrupt, "\(reader.format): invalid masks of the samples")
        }
        self.fields = fields
    }
}

extension BitmapHeader {
    /// The number of bytes in a stored row, which is padded to four bytes.
    var bytesPerRow: Int { (size.width * bitsPerPixel + 31) / 32 * 4 }

    /// The number of bytes in a stored row that hold pixels.
    var usedBytesPerRow: Int { (size.width * bitsPerPixel + 7) / 8 }

    /// The number of bytes of all rows, without the padding of the last one. The size must be within the limits.
    var minimumPixelByteCount: Int { (size.height - 1) * bytesPerRow + usedBytesPerRow }

    var paletteEntryByteCount: Int { byteCount == 12 ? 3 : 4 }

    /// The number of colors that the palette has according to the header. Bitmaps without a palette may store one for
    /// displays with few colors; it is skipped.
    var storedColorCount: Int {
        bitsPerPixel > 8 || declaredColorCount > 0 ? declaredColorCount : 1 << bitsPerPixel
    }

    /// The maximum number of bits in a sample.
    var bitDepth: Int {
        fields?.bitDepth ?? (bitsPerPixel == 24 ? 8 : bitsPerPixel)
    }
}

private extension UInt {
    /// The value of a magnitude of 32 bits.
    var asInt: Int { Int(truncatingIfNeeded: self) }
}
