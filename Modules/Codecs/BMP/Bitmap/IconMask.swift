import AlcedoCore

/// The mask that follows the pixels of an icon: one bit for each pixel, in which 1 means transparent.
struct IconMask {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let header: BitmapHeader

    /// Creates a mask from the bytes after the pixels, which may be incomplete.
    init(_ bytes: UnsafeBufferPointer<UInt8>, _ header: BitmapHeader) {
        self.bytes = bytes
        self.header = header
    }

    private var bytesPerRow: Int { (header.size.width + 31) / 32 * 4 }

    /// Whether the bytes have all rows.
    var isComplete: Bool { bytes.count / bytesPerRow >= header.size.height }

    /// Whether the bytes do not have a single row.
    var isMissing: Bool { bytes.count < bytesPerRow }

    /// Makes the masked pixels of row `y`, counted from the top, transparent black. A missing row masks nothing.
    func clear(_ y: Int, _ row: UnsafeMutableRawPointer, _ format: PixelFormat) {
        let start = (header.isTopDown ? y : header.size.height - 1 - y) * bytesPerRow
        guard start <= bytes.count - bytesPerRow else { return }
        let pixel = format.bytesPerPixel
        for x in 0..<header.size.width where bytes[start + x / 8] & 0x80 >> UInt8(x % 8) != 0 {
            (row + x * pixel).initializeMemory(as: UInt8.self, repeating: 0, count: pixel)
        }
    }
}

extension Bitmap {
    /// Creates the bitmap of an icon: a bitmap without a file header, followed by its mask.
    ///
    /// Pixels of 32 bits have alpha in their highest bits, which replaces the mask, unless it is zero in all of them.
    ///
    /// - Throws: `truncated`, `corrupt`, `unsupportedVariant`, `exceedsLimit`.
    init(icon bytes: UnsafeBufferPointer<UInt8>, options: DecodingOptions) throws(ImageDecodingError) {
        var header = try BitmapHeader(ByteReader(bytes: bytes, format: "ICO"), at: 0, isIcon: true)
        try options.limits.check(header.size, format: Bitmap.format(of: header, options))
        let start = header.byteCount + header.maskByteCount
        let entry = header.paletteEntryByteCount
        let colorCount = header.bitsPerPixel > 8 ? 0 : min(header.storedColorCount, 1 << header.bitsPerPixel)
        let pixelStart = start + entry * header.storedColorCount
        let pixelEnd = pixelStart + header.size.height * header.bytesPerRow
        let hasAlphaBits = header.bitsPerPixel == 32 && header.compression == .none
        if hasAlphaBits { header.fields = .eightBitsWithAlpha }
        // The check covers the available pixels, so that a partial image has alpha as well.
        if !header.hasAlpha(bytes, pixelStart: pixelStart) { header.fields?.alpha = nil }
        self.init(
            bytes, header, paletteRange: start..<start + entry * colorCount, pixelStart: pixelStart, options: options,
            name: "ICO")
        let mask = IconMask(UnsafeBufferPointer(rebasing: bytes[min(pixelEnd, bytes.count)...]), header)
        if header.fields?.alpha == nil { self.mask = mask }
        // Some writers of 32-bit icons omit the mask, which alpha replaces.
        if !mask.isComplete {
            damage = ImageDamage.worst(
                damage,
                ImageDamage(
                    mask.isMissing || hasAlphaBits ? .harmless : .wrongPixels,
                    ImageDecodingError(.truncated, "ICO: the data ends within the mask")))
        }
    }
}
