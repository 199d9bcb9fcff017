import AlcedoCore
import FoundationEssentials

/// The headers of a BMP file and the ranges of its parts.
struct BMPFile {
    private static let name = "BMP"
    /// The beginning of a bitmap without a file header, as in memory and in some files with the extension `dib`: a
    /// header of 40 bytes, and one plane after the size.
    static let signatureWithoutFileHeader: [UInt8?] = [40, 0, 0, 0] + Array(repeating: nil, count: 8) + [1, 0]

    let header: BitmapHeader
    /// The range of an embedded color profile that is within the bytes and the limits.
    private(set) var profile: Range<Int>?
    /// The damage of the headers and of the color profile, which changes no pixel; nil when none was found.
    private var damage: ImageDamage?

    private let fileHeaderByteCount: Int
    private let bytes: UnsafeBufferPointer<UInt8>
    private let palette: Range<Int>
    private let pixelStart: Int

    /// Reads the headers. The size is not checked.
    ///
    /// - Throws: `truncated`, `corrupt`, `unsupportedVariant`.
    init(_ bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits) throws(ImageDecodingError) {
        let isWithoutFileHeader = zip(bytes, Self.signatureWithoutFileHeader).allSatisfy { $1 == nil || $0 == $1 }
        guard isWithoutFileHeader || bytes.first == 0x42 && (bytes.count < 2 || bytes[1] == 0x4D) else {
            throw ImageDecodingError(.corrupt, "BMP: the signature is missing")
        }
        let reader = ByteReader(bytes: bytes, format: Self.name)
        fileHeaderByteCount = isWithoutFileHeader ? 0 : 14
        let offset = try isWithoutFileHeader ? 0 : reader.number(at: 10, byteCount: 4)
        header = try BitmapHeader(reader, at: fileHeaderByteCount, isIcon: false)
        self.bytes = bytes
        let start = fileHeaderByteCount + header.byteCount + header.maskByteCount
        let entry = header.paletteEntryByteCount
        // Files without an offset, and those of writers that do not count the palette or the masks, store the pixels
        // after them.
        let hasNoOffset = offset < start || offset == start && header.bitsPerPixel <= 8
        pixelStart = hasNoOffset ? start + entry * header.storedColorCount : offset
        if hasNoOffset, offset > 0 {
            damage = ImageDamage(.harmless, ImageDecodingError(.corrupt, "BMP: the pixels begin in the header"))
        }
        // The declared number of colors may be larger than the palette, and a palette larger than the bit count needs.
        let colorCount = header.bitsPerPixel > 8 ? 0 : min(header.storedColorCount, 1 << header.bitsPerPixel)
        palette = start..<start + entry * min(colorCount, (pixelStart - start) / entry)
        guard palette.upperBound <= bytes.count else {
            throw ImageDecodingError(.truncated, "BMP: the data ends within the palette")
        }
        try findProfile(reader, limits)
    }

    /// Finds the profile of a header of version 5.
    private mutating func findProfile(_ reader: ByteReader, _ limits: DecodingLimits) throws(ImageDecodingError) {
        let start = fileHeaderByteCount
        // PROFILE_EMBEDDED, "MBED".
        guard header.byteCount == 124, try reader.number(at: start + 56, byteCount: 4) == 0x4D42_4544 else { return }
        let offset = try reader.number(at: start + 112, byteCount: 4)
        let count = try reader.number(at: start + 116, byteCount: 4)
        guard count > 0, offset >= header.byteCount else { return }
        let range = start + offset..<start + offset + count
        if range.upperBound > bytes.count {
            let error = ImageDecodingError(.truncated, "BMP: the data ends within the color profile")
            damage = ImageDamage.worst(damage, ImageDamage(.harmless, error))
        } else if count <= min(limits.maximumMetadataByteCount, limits.maximumChunkByteCount) {
            profile = range
        }
    }

    /// Returns the bitmap, whose pixels may be incomplete.
    ///
    /// - Throws: `exceedsLimit`; `corrupt` for an empty image.
    func bitmap(_ options: DecodingOptions) throws(ImageDecodingError) -> Bitmap {
        try options.limits.check(header.size, format: Bitmap.format(of: header, options))
        var header = header
        if !header.hasAlpha(bytes, pixelStart: pixelStart) { header.fields?.alpha = nil }
        var bitmap = Bitmap(
            bytes, header, paletteRange: palette, pixelStart: pixelStart, options: options, name: Self.name)
        bitmap.colorProfile = ICCProfile.ofSamples(profile.map { Data(bytes[$0]) }, isGray: false)
        let info = header.info(format: .bmp, colorProfile: profile.map { Data(bytes[$0]) })
        bitmap.damage = .worst(.worst(bitmap.damage, damage), info.metadataDamage)
        return bitmap
    }
}

extension BitmapHeader {
    /// Returns whether a pixel of the available rows has a bit of alpha. A bitmap in which all of them are zero is
    /// opaque, because its writer did not use them. O(*w* × *h*), but usually O(1).
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the bitmap, which may be incomplete.
    ///   - pixelStart: The offset of the first stored row. Padding and bytes after the last row are not pixels.
    func hasAlpha(_ bytes: UnsafeBufferPointer<UInt8>, pixelStart: Int) -> Bool {
        guard let mask = fields?.alpha?.mask else { return false }
        let step = bitsPerPixel / 8
        return (0..<size.height).contains { row in
            let start = pixelStart + row * bytesPerRow
            guard start <= bytes.count - usedBytesPerRow else { return false }
            return stride(from: start, to: start + usedBytesPerRow, by: step).contains { pixel in
                (0..<step).contains { bytes[pixel + $0] & UInt8(truncatingIfNeeded: mask >> UInt32(8 * $0)) != 0 }
            }
        }
    }

    /// Returns the properties of the image.
    func info(format: ImageFormat, colorProfile: Data? = nil) -> ImageInfo {
        let hasAlpha = fields?.alpha != nil
        return ImageInfo(
            format: format, size: size, hasAlpha: hasAlpha, bitDepth: bitDepth,
            colorModel: bitsPerPixel <= 8 ? .palette : hasAlpha ? .rgba : .rgb,
            metadata: ImageMetadata(colorProfile: colorProfile, resolution: resolution))
    }
}
