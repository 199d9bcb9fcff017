public import AlcedoCore
import CPNGShim
package import FoundationEssentials

/// The encoder of `ImageEncoder.png`, whose comment describes the behavior.
package struct PNGEncoder: MetadataEncoding {
    package var compressionLevel: Int
    package var usesPaletteWhenLossless: Bool
    package var maximumColorCount: Int?
    package var dithers: Bool
    package var isInterlaced: Bool
    package var keepsShortDelays: Bool
    /// The metadata to write. Without EXIF, only an orientation other than upright is written as EXIF.
    package var metadata = ImageMetadata()

    /// The maximum number of bytes of filtered rows that are kept until the end to be compressed with libdeflate, for a
    /// whole image and for a row encoder. zlib compresses the rows of larger images as they arrive.
    private static let packLimits = (image: 128 << 20, rows: 4 << 20)

    /// Returns the memory of libdeflate that is not in the estimate of tables. Its levels from 10 look for the best of
    /// all matches.
    fileprivate static func compressorByteCount(level: Int) -> Int { level > 9 ? 9 << 20 : 0 }

    package init(
        compressionLevel: Int = 6, usesPaletteWhenLossless: Bool = true, maximumColorCount: Int? = nil,
        dithers: Bool = true, isInterlaced: Bool = false, keepsShortDelays: Bool = false
    ) {
        self.compressionLevel = compressionLevel
        self.usesPaletteWhenLossless = usesPaletteWhenLossless
        self.maximumColorCount = maximumColorCount
        self.dithers = dithers
        self.isInterlaced = isInterlaced
        self.keepsShortDelays = keepsShortDelays
    }

    package var format: ImageFormat { .png }

    /// Returns true, because the format supports animations and transparency.
    package func canEncode(_ image: DecodedImage) -> Bool { true }

    /// Encodes the image with all frames of an animation, which are requested one at a time.
    ///
    /// - Throws: ``/AlcedoCore/ImageEncodingError``.
    package func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
        try encode(image, maximumByteCount: .max)
    }

    /// Encodes the image as ``encode(_:)`` does. Throws `exceedsLimit` when the bytes exceed the limit, for an
    /// animation after the frame that does.
    package func encode(_ image: DecodedImage, maximumByteCount: Int) throws(ImageEncodingError) -> Data {
        var frames = try FrameSequence(image, format: "PNG")
        let file =
            frames.isAnimated
            ? try encode(image, &frames, maximumByteCount: maximumByteCount) : try encodeStill(image)
        guard file.count <= maximumByteCount else { throw .exceeds(maximumByteCount, .png) }
        return file
    }

    private func encodeStill(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
        let pixels = image.pixels
        var header = image.rowHeader
        let isGray = image.isGrayWithAlpha
        if header.storedModel?.isGray == true, !isGray { header.storedModel = nil }
        let writer: PNGWriter
        if let (palette, source) = try palette(of: pixels, header) {
            writer = try palette.writer(settings(header, Self.packLimits.image), header, metadata)
            try writer.write(palette.indices(of: source, in: .whole(pixels.size)), width: pixels.width)
        } else {
            if isGray { header.storedModel = .grayAlpha }
            writer = try PNGWriter(
                settings(header, Self.packLimits.image), colorProfile: image.colorProfile, metadata: metadata,
                orientation: image.orientation)
            try write(pixels, header, by: writer)
        }
        try writer.finish()
        return writer.data()
    }

    /// Returns the settings for rows of this kind without a palette.
    func settings(_ header: PixelRowHeader, _ packLimit: Int) throws(ImageEncodingError) -> alcedo_png_settings {
        try PNGRowSamples.settings(
            header, level: compressionLevel, packLimit: packLimit, isInterlaced: isInterlaced)
    }

    /// Returns the palette of an image that is to have one, and the pixels that it is for.
    private func palette(
        of pixels: PixelBuffer, _ header: PixelRowHeader
    ) throws(ImageEncodingError) -> (PNGPalette, PixelBuffer)? {
        let canStore = PNGPalette.canStore(header)
        guard maximumColorCount != nil || usesPaletteWhenLossless && canStore else { return nil }
        var colors = PNGColorCounter(maximumCount: maximumColorCount)
        let source = canStore ? pixels : pixels.straightRGBA(rowCount: pixels.height)
        guard let source else {
            throw ImageEncodingError(.outOfMemory, "PNG: cannot convert the pixels: out of memory")
        }
        guard try colors.add(source) else { return nil }
        let palette = try colors.palette(dithers: dithers)
        let isWritten =
            maximumColorCount != nil || header.storedModel == .palette || palette.isSmaller(than: header)
        return isWritten ? (palette, source) : nil
    }

    /// Returns the size of the encoded file if nothing can be compressed, and of the rows that libdeflate compresses at
    /// once. With a palette, returns the memory of the straight pixels, the colors, the indices and the file.
    package func encodingByteCount(of size: PixelSize, format: PixelFormat) -> Int {
        let compressor = Self.compressorByteCount(level: compressionLevel)
        if maximumColorCount != nil {
            return size.encodingByteCount(perPixel: 7) + ColorHistogram.maximumByteCount + compressor
        }
        let rows = size.encodingByteCount(perPixel: format.bytesPerPixel)
        return rows > Self.packLimits.image ? rows : 2 * rows + compressor
    }

    /// Returns the memory for a still image, and for an animation that for the frames that are compared, and for the
    /// file.
    package func encodingByteCount(of size: PixelSize, format: PixelFormat, frameCount: Int) -> Int {
        // All frames of an animation are compressed at once.
        let rows = frameCount > 1 ? size.encodingByteCount(perPixel: 2 * format.bytesPerPixel) : 0
        let perPixel = maximumColorCount == nil ? format.bytesPerPixel : 2
        return max(rows, encodingByteCount(of: size, format: format))
            .addingClamped(size.framesByteCount(format: format, frameCount: frameCount, perPixel: perPixel))
    }

    /// Returns a row consumer that encodes rows. It keeps the rows of an image of at most 4 MiB until the end. Memory
    /// for a larger image is O(*w*). The indices of an image from a palette of at most 16 million pixels are kept, at
    /// one byte per pixel. With a maximum number of colors or interlacing, it collects the whole image.
    package func makeRowEncoder(output: @escaping (RawSpan) throws -> Void) -> any PixelRowConsumer {
        guard maximumColorCount == nil, !isInterlaced else { return makeBufferingRowEncoder(output: output) }
        return PNGRowEncoder(
            level: compressionLevel, packLimit: Self.packLimits.rows, keepsPalette: usesPaletteWhenLossless,
            metadata: metadata, output: output)
    }

    private func write(
        _ pixels: PixelBuffer, _ header: PixelRowHeader, by writer: PNGWriter
    ) throws(ImageEncodingError) {
        guard pixels.alphaMode == .premultiplied || header.isGrayWithAlpha else {
            return try writer.write(pixels, in: .whole(pixels.size))
        }
        var rows = PNGRowSamples(header)
        for _ in 0..<writer.passCount {
            for y in 0..<pixels.height {
                try ImageEncodingError.checkCancellation(.png)
                // Gray and RGBX samples have no alpha, even when the buffer's alpha mode is premultiplied.
                let row = rows.converted(pixels.row(y)) ?? pixels.row(y).withUnsafeBytes { Array($0) }
                try writer.write(row)
            }
        }
    }
}

extension ImageEncoding where Self == ImageEncoder {
    /// Returns an encoder of still and animated PNG (APNG) that uses libpng.
    ///
    /// ```swift
    /// let data = try ImageEncoder.png(compressionLevel: 9).encode(image)
    /// let small = try ImageEncoder.png(maximumColorCount: 256).encode(image)
    /// ```
    ///
    /// Encoding is lossless, except that premultiplied color is divided by alpha, and that `maximumColorCount` reduces
    /// colors. The page of the module has the rules for color types, animations, profiles and metadata.
    ///
    /// Samples of at most 128 MiB are compressed at once with libdeflate, for which they are copied. Those of larger
    /// images are compressed row by row with zlib, which takes about three times as long. For a row encoder, the limit
    /// is 4 MiB, and above it memory is O(*w*).
    ///
    /// A frame of another size than the first one, and a frame with alpha after an opaque first one, are errors with
    /// the code `unsupportedImage`.
    ///
    /// - Parameters:
    ///   - compressionLevel: The compression level of libdeflate, from 0 (no compression) to 12 (smallest file). Levels
    ///     from 10 take two to three times as long as 9, and save up to a tenth. The levels of zlib end at 9. Values
    ///     outside this range are clamped. Default: 6.
    ///   - usesPaletteWhenLossless: Whether an image with at most 256 colors may be written as a palette with indices
    ///     of 1, 2, 4 or 8 bits. It is when this is smaller before compression, or when the image comes from a palette.
    ///     Applies to RGBA8 that is opaque or straight, and to an animation whose frames have at most 256 colors
    ///     together. A row encoder writes a palette only for an image from a palette. Default: true.
    ///   - maximumColorCount: The maximum number of colors of the palette of every image, from 2 to 256; other values
    ///     are clamped. An image or an animation with more colors is reduced to those that fit it best, and 16-bit
    ///     samples lose their low byte. Opaque pixels stay opaque, and fully transparent ones transparent, without
    ///     their hidden color. A row encoder then collects the whole image. nil keeps all colors. Default: nil.
    ///   - dithers: Whether the error of colors that are not in the palette is diffused to adjacent pixels. Has no
    ///     effect without `maximumColorCount`. Default: true.
    ///   - isInterlaced: Whether rows are stored in seven passes of increasing resolution (Adam7), so that a viewer can
    ///     show a coarse image early. Files are larger, and a row encoder collects the whole image. Default: false.
    ///   - keepsShortDelays: Whether delays of at most 10 ms in animations from GIF or APNG are written unchanged.
    ///     Otherwise they become 100 ms, as browsers show them. Default: false.
    public static func png(
        compressionLevel: Int = 6, usesPaletteWhenLossless: Bool = true, maximumColorCount: Int? = nil,
        dithers: Bool = true, isInterlaced: Bool = false, keepsShortDelays: Bool = false
    ) -> Self {
        ImageEncoder(
            PNGEncoder(
                compressionLevel: compressionLevel, usesPaletteWhenLossless: usesPaletteWhenLossless,
                maximumColorCount: maximumColorCount, dithers: dithers, isInterlaced: isInterlaced,
                keepsShortDelays: keepsShortDelays))
    }
}

/// An encoder that takes rows as they arrive. It passes encoded bytes to the output after each row, and those of an
/// image within the limit at the end.
private final class PNGRowEncoder: PixelRowConsumer {
    private let level: Int
    private let packLimit: Int
    private let keepsPalette: Bool
    private let metadata: ImageMetadata
    private let output: (RawSpan) throws -> Void
    private var writer: PNGWriter?
    private var rows: PNGRowSamples?
    private var header: PixelRowHeader?
    /// The indices of the rows so far, and their colors, as long as they fit into a palette; otherwise nil.
    private var indexed: (palette: ExactPalette, indices: [UInt8])?

    /// The maximum number of pixels whose indices are kept.
    private static let maximumIndexCount = 16 << 20

    init(
        level: Int, packLimit: Int, keepsPalette: Bool, metadata: ImageMetadata,
        output: @escaping (RawSpan) throws -> Void
    ) {
        self.level = level
        self.packLimit = packLimit
        self.keepsPalette = keepsPalette
        self.metadata = metadata
        self.output = output
    }

    /// Returns the bytes of the rows that are kept, twice if they are packed at the end, or else of a few rows; and of
    /// the indices if the colors may fit into a palette.
    func byteCount(for header: PixelRowHeader) -> Int {
        let rows = header.size.encodingByteCount(perPixel: header.format.bytesPerPixel)
        let indices = keepsPalette ? min(header.size.encodingByteCount(perPixel: 1), Self.maximumIndexCount) : 0
        guard rows <= packLimit + 1 << 20 else { return min(rows, 16 * header.bytesPerRow + 1 << 20) + indices }
        return 2 * rows + PNGEncoder.compressorByteCount(level: level) + indices
    }

    func begin(_ header: PixelRowHeader) throws {
        self.header = header
        rows = PNGRowSamples(header)
        let isIndexed =
            keepsPalette && header.storedModel == .palette && PNGPalette.canStore(header)
            && header.size.pixelCount <= Self.maximumIndexCount
        if isIndexed { indexed = (ExactPalette(), []) } else { try beginSamples(header) }
    }

    /// Begins to write samples.
    private func beginSamples(_ header: PixelRowHeader) throws {
        writer = try PNGWriter(
            PNGRowSamples.settings(header, level: level, packLimit: packLimit), colorProfile: header.colorProfile,
            metadata: metadata, orientation: header.orientation)
        try writer?.take(output)
    }

    func consume(_ row: RawSpan) throws {
        guard let header else { return }
        // libpng reads as many bytes as the header declares.
        guard row.byteCount >= header.bytesPerRow else {
            throw ImageEncodingError(
                .failed, "PNG: a row has \(row.byteCount) bytes instead of \(header.bytesPerRow)")
        }
        if indexed != nil {
            guard !addIndices(of: row, header.size.width) else { return }
            try writeIndexedRows(header)
        }
        try write(row)
    }

    private func write(_ row: RawSpan) throws {
        guard let writer else { return }
        let stride = row.byteCount
        if let converted = rows?.converted(row) {
            try writer.write(converted)
        } else {
            try row.withUnsafeBytes { try writer.write($0, stride: stride, rows: 1) }
        }
        try writer.take(output)
    }

    /// Adds the indices of a row. Returns whether its colors fit into the palette.
    private func addIndices(of row: RawSpan, _ width: Int) -> Bool {
        guard var (palette, indices) = indexed else { return false }
        // A second reference would copy the arrays.
        indexed = nil
        let start = indices.count
        var last: (color: UInt32, index: UInt8)?
        for x in 0..<width {
            let color = row.unsafeLoadUnaligned(fromByteOffset: 4 * x, as: UInt32.self)
            if color != last?.color { last = palette.insert(color).map { (color, $0) } }
            guard let last else { break }
            indices.append(last.index)
        }
        let fits = indices.count == start + width
        if !fits { indices.removeSubrange(start...) }
        indexed = (palette, indices)
        return fits
    }

    /// Writes the rows so far as samples, because the next one has too many colors for a palette.
    private func writeIndexedRows(_ header: PixelRowHeader) throws {
        guard let (palette, indices) = indexed else { return }
        indexed = nil
        try beginSamples(header)
        for start in stride(from: 0, to: indices.count, by: header.size.width) {
            let row = indices[start..<start + header.size.width].map { palette.colors[Int($0)] }
            try row.withUnsafeBytes { try write(RawSpan(_unsafeBytes: $0)) }
        }
    }

    func finish() throws {
        if let header, let (colors, indices) = indexed {
            let palette = PNGPalette(colors)
            let settings = try PNGRowSamples.settings(header, level: level, packLimit: packLimit)
            let writer = try palette.writer(settings, header, metadata)
            for start in stride(from: 0, to: indices.count, by: header.size.width) {
                try writer.write(indices[start..<start + header.size.width].map(palette.position))
                try writer.take(output)
            }
            self.writer = writer
            indexed = nil
        }
        try writer?.finish()
        try writer?.take(output)
        writer = nil
    }
}

extension PixelRowHeader {
    /// Whether the rows are stored as gray with alpha: those of such a file, in which red, green and blue are equal.
    var isGrayWithAlpha: Bool {
        storedModel?.isGray == true && format.hasAlpha && alphaMode != .opaque
            && (colorProfile == nil || ICCProfile.describes(gray: true, colorProfile ?? Data()))
    }
}

/// A converter of rows to the straight samples that PNG stores.
struct PNGRowSamples {
    private let header: PixelRowHeader
    private var straight: StraightRowConverter

    init(_ header: PixelRowHeader) {
        self.header = header
        straight = StraightRowConverter(header)
    }

    /// Returns the settings for rows of this kind without a palette.
    ///
    /// - Throws: `unsupportedImage` when a side is less than 1 or greater than 2³¹ − 1, the limit of the format.
    static func settings(
        _ header: PixelRowHeader, level: Int, packLimit: Int, isInterlaced: Bool = false
    ) throws(ImageEncodingError) -> alcedo_png_settings {
        let maximumSide = 0x7FFF_FFFF
        guard header.size.isPositive, header.size.width <= maximumSide, header.size.height <= maximumSide else {
            throw ImageEncodingError(.unsupportedImage, "PNG: the format cannot store \(header.size) pixels")
        }
        var settings = alcedo_png_settings()
        settings.width = UInt32(header.size.width)
        settings.height = UInt32(header.size.height)
        settings.level = Int32(min(max(level, 0), 12))
        settings.pack_limit = packLimit
        settings.is_interlaced = isInterlaced ? 1 : 0
        settings.bit_depth = header.format.isDeep ? 16 : 8
        let isOpaque = header.alphaMode == .opaque || header.format == .rgbx8
        settings.color_type = header.format.isGray ? 0 : isOpaque ? 2 : header.isGrayWithAlpha ? 4 : 6
        settings.drops_alpha = settings.color_type == 2 ? 1 : 0
        return settings
    }

    /// Returns the row with color divided by alpha, or nil when the row can be written unchanged. Gray with alpha has
    /// two samples per pixel.
    mutating func converted(_ row: RawSpan) -> [UInt8]? {
        guard header.isGrayWithAlpha else { return divided(row) }
        let samples = divided(row) ?? row.withUnsafeBytes { Array($0.prefix(header.bytesPerRow)) }
        let size = header.format.isDeep ? 2 : 1
        var result: [UInt8] = []
        result.reserveCapacity(samples.count / 2)
        for pixel in stride(from: 0, to: samples.count, by: 4 * size) {
            result += samples[pixel..<pixel + size]
            result += samples[pixel + 3 * size..<pixel + 4 * size]
        }
        return result
    }

    private mutating func divided(_ row: RawSpan) -> [UInt8]? {
        guard header.alphaMode == .premultiplied else { return nil }
        switch header.format {
        case .gray8, .gray16, .rgbx8: return nil
        case .rgba8: return straight.convert(row)
        case .rgba16: return row.withUnsafeBytes(Self.straight16)
        }
    }

    /// Returns 16-bit samples with color divided by alpha, rounded to nearest. Color with alpha 0 becomes black.
    private static func straight16(_ row: UnsafeRawBufferPointer) -> [UInt8] {
        var result = [UInt8](row)
        result.withUnsafeMutableBytes { memory in
            for pixel in Swift.stride(from: 0, to: memory.count - 7, by: 8) {
                let alpha = UInt32(memory.loadUnaligned(fromByteOffset: pixel + 6, as: UInt16.self))
                for sample in Swift.stride(from: pixel, to: pixel + 6, by: 2) {
                    let color = UInt32(memory.loadUnaligned(fromByteOffset: sample, as: UInt16.self))
                    let value = alpha == 0 ? 0 : min(65_535, (color * 65_535 + alpha / 2) / alpha)
                    memory.storeBytes(of: UInt16(value), toByteOffset: sample, as: UInt16.self)
                }
            }
        }
        return result
    }
}
