public import AlcedoCore
import CPNGShim
package import FoundationEssentials

/// The encoder of `ImageEncoder.png(compressionLevel:usesPaletteWhenLossless:)`, whose comment describes the behavior.
package struct PNGEncoder: MetadataEncoding {
    /// The compression level of libdeflate and zlib, from 0 (no compression) to 9 (smallest file). Values outside this
    /// range are clamped.
    package var compressionLevel: Int
    /// Whether an image with at most 256 colors is written as a palette with indices of 1, 2, 4 or 8 bits when this is
    /// smaller before compression. Applies to RGBA8 that is opaque or straight. Has no effect on a row encoder, because
    /// the colors are known too late.
    package var usesPaletteWhenLossless: Bool
    /// The metadata to write. Without EXIF, only an orientation other than upright is written as EXIF.
    package var metadata = ImageMetadata()

    /// The maximum number of bytes of filtered rows that are kept until the end to be compressed with libdeflate, for a
    /// whole image and for a row encoder. zlib compresses the rows of larger images as they arrive.
    private static let packLimits = (image: 128 << 20, rows: 4 << 20)

    package init(compressionLevel: Int = 6, usesPaletteWhenLossless: Bool = true) {
        self.compressionLevel = compressionLevel
        self.usesPaletteWhenLossless = usesPaletteWhenLossless
    }

    package var format: ImageFormat { .png }

    /// Encodes the image. For an animation, encodes the first frame.
    ///
    /// - Throws: ``/AlcedoCore/ImageEncodingError``.
    package func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
        let pixels = image.pixels
        var settings = try PNGRowSamples.settings(
            image.rowHeader, level: compressionLevel, packLimit: Self.packLimits.image)
        let palette = usesPaletteWhenLossless ? PNGPalette(pixels) : nil
        if let palette {
            settings.color_type = 3
            settings.drops_alpha = 0
            settings.bit_depth = Int32(palette.bitDepth)
            settings.transparent_count = palette.transparentCount
        }
        let writer = try PNGWriter(
            settings, palette: palette?.colors ?? [], colorProfile: image.colorProfile,
            metadata: metadata, orientation: image.orientation)
        if let palette {
            var indices = [UInt8](repeating: 0, count: pixels.width)
            for y in 0..<pixels.height {
                palette.indices(pixels.row(y), into: &indices)
                try writer.write(indices)
            }
        } else {
            try write(image, by: writer)
        }
        try writer.finish()
        return writer.data()
    }

    /// Returns a row consumer that encodes rows without a palette. It keeps the rows of an image of at most 4 MiB until
    /// the end. Memory for a larger image is O(*w*).
    package func makeRowEncoder(output: @escaping (RawSpan) throws -> Void) -> any PixelRowConsumer {
        PNGRowEncoder(level: compressionLevel, packLimit: Self.packLimits.rows, metadata: metadata, output: output)
    }

    private func write(_ image: DecodedImage, by writer: PNGWriter) throws(ImageEncodingError) {
        let pixels = image.pixels
        guard pixels.alphaMode == .premultiplied else {
            return try pixels.withUnsafeBytes { memory throws(ImageEncodingError) in
                try writer.write(memory, stride: pixels.bytesPerRow, rows: pixels.height)
            }
        }
        var rows = PNGRowSamples(image.rowHeader)
        for y in 0..<pixels.height {
            // Gray and RGBX samples have no alpha, even when the buffer's alpha mode is premultiplied.
            let row = rows.converted(pixels.row(y)) ?? pixels.row(y).withUnsafeBytes { Array($0) }
            try writer.write(row)
        }
    }
}

extension ImageEncoding where Self == ImageEncoder {
    /// Returns an encoder of PNG that uses libpng.
    ///
    /// ```swift
    /// let data = try ImageEncoder.png(compressionLevel: 9).encode(image)
    /// ```
    ///
    /// Encoding is lossless, except that premultiplied color is divided by alpha. Without a palette, RGBA8 and RGBA16
    /// are written with alpha unless they are marked as opaque, RGBX8 without alpha, and gray8 as gray. A gray profile
    /// of an image that is not in gray8 becomes an RGB profile with the same curve. A color profile is left out when
    /// libpng rejects it or its color space differs from the image's. The pixels are not rotated; an orientation other
    /// than upright is written as EXIF. IPTC is written as a text in the form of ImageMagick. Animations are written as
    /// their first frame.
    ///
    /// Samples of at most 128 MiB are compressed at once with libdeflate, for which they are copied. Those of larger
    /// images are compressed row by row with zlib, which takes about three times as long. For a row encoder, the limit
    /// is 4 MiB, and above it memory is O(*w*).
    ///
    /// - Parameters:
    ///   - compressionLevel: The compression level of libdeflate and zlib, from 0 (no compression) to 9 (smallest
    ///     file). Values outside this range are clamped. Default: 6.
    ///   - usesPaletteWhenLossless: Whether an image with at most 256 colors is written as a palette with indices of 1,
    ///     2, 4 or 8 bits when this is smaller before compression. Applies to RGBA8 that is opaque or straight. Has no
    ///     effect on a row encoder, because the colors are known too late. Default: true.
    public static func png(compressionLevel: Int = 6, usesPaletteWhenLossless: Bool = true) -> Self {
        ImageEncoder(
            PNGEncoder(compressionLevel: compressionLevel, usesPaletteWhenLossless: usesPaletteWhenLossless))
    }
}

/// An encoder that takes rows as they arrive. It passes encoded bytes to the output after each row, and those of an
/// image within the limit at the end.
private final class PNGRowEncoder: PixelRowConsumer {
    private let level: Int
    private let packLimit: Int
    private let metadata: ImageMetadata
    private let output: (RawSpan) throws -> Void
    private var writer: PNGWriter?
    private var rows: PNGRowSamples?
    private var bytesPerRow = 0

    init(level: Int, packLimit: Int, metadata: ImageMetadata, output: @escaping (RawSpan) throws -> Void) {
        self.level = level
        self.packLimit = packLimit
        self.metadata = metadata
        self.output = output
    }

    func begin(_ header: PixelRowHeader) throws {
        let writer = try PNGWriter(
            PNGRowSamples.settings(header, level: level, packLimit: packLimit), colorProfile: header.colorProfile,
            metadata: metadata, orientation: header.orientation)
        try writer.take(output)
        self.writer = writer
        rows = PNGRowSamples(header)
        bytesPerRow = header.bytesPerRow
    }

    func consume(_ row: RawSpan) throws {
        guard let writer else { return }
        // libpng reads as many bytes as the header declares.
        guard row.byteCount >= bytesPerRow else {
            throw ImageEncodingError(.failed, "PNG: a row has \(row.byteCount) bytes instead of \(bytesPerRow)")
        }
        let stride = row.byteCount
        if let converted = rows?.converted(row) {
            try writer.write(converted)
        } else {
            try row.withUnsafeBytes { try writer.write($0, stride: stride, rows: 1) }
        }
        try writer.take(output)
    }

    func finish() throws {
        try writer?.finish()
        try writer?.take(output)
        writer = nil
    }
}

/// The palette of an image with at most 256 colors. Its indices have the smallest possible number of bits.
private struct PNGPalette {
    /// Four bytes per color. Colors that are not opaque come first, because `tRNS` lists alpha values from the first
    /// color on.
    let colors: [UInt8]
    let transparentCount: Int
    let bitDepth: Int
    private let palette: ExactPalette
    /// The position in `colors` of each color of the palette.
    private let positions: [UInt8]

    /// Creates the palette. Returns nil when the pixels are not straight or opaque `rgba8`, when they have more than
    /// 256 colors, and when a palette saves no bytes before compression.
    init?(_ pixels: PixelBuffer) {
        guard pixels.format == .rgba8, pixels.alphaMode != .premultiplied, let palette = ExactPalette(pixels) else {
            return nil
        }
        let alphas = palette.colors.map { UInt8(truncatingIfNeeded: UInt32(littleEndian: $0) >> 24) }
        let order = alphas.indices.filter { alphas[$0] < 255 } + alphas.indices.filter { alphas[$0] == 255 }
        var positions = [UInt8](repeating: 0, count: order.count)
        for (position, index) in order.enumerated() { positions[index] = UInt8(position) }
        let count = palette.colors.count
        self.palette = palette
        self.positions = positions
        colors = order.flatMap { index in withUnsafeBytes(of: palette.colors[index]) { Array($0) } }
        transparentCount = alphas.count { $0 < 255 }
        bitDepth = count <= 2 ? 1 : count <= 4 ? 2 : count <= 16 ? 4 : 8
        let chunks = 12 + 3 * count + (transparentCount > 0 ? 12 + transparentCount : 0)
        let channels = pixels.alphaMode == .opaque ? 3 : 4
        guard chunks + pixels.size.pixelCount * bitDepth / 8 < pixels.size.pixelCount * channels else { return nil }
    }

    /// Writes the indices of one row, one byte each, to `output`.
    func indices(_ row: RawSpan, into output: inout [UInt8]) {
        var last: (color: UInt32, index: UInt8)?
        for x in output.indices {
            let color = row.unsafeLoad(fromByteOffset: 4 * x, as: UInt32.self)
            if color != last?.color { last = (color, positions[Int(palette.index(of: color) ?? 0)]) }
            output[x] = last?.index ?? 0
        }
    }
}

/// A converter of rows to the straight samples that PNG stores.
private struct PNGRowSamples {
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
        _ header: PixelRowHeader, level: Int, packLimit: Int
    ) throws(ImageEncodingError) -> alcedo_png_settings {
        let maximumSide = 0x7FFF_FFFF
        guard header.size.isPositive, header.size.width <= maximumSide, header.size.height <= maximumSide else {
            throw ImageEncodingError(.unsupportedImage, "PNG: the format cannot store \(header.size) pixels")
        }
        var settings = alcedo_png_settings()
        settings.width = UInt32(header.size.width)
        settings.height = UInt32(header.size.height)
        settings.level = Int32(min(max(level, 0), 9))
        settings.pack_limit = packLimit
        settings.bit_depth = header.format == .rgba16 ? 16 : 8
        let isOpaque = header.alphaMode == .opaque || header.format == .rgbx8
        settings.color_type = header.format == .gray8 ? 0 : isOpaque ? 2 : 6
        settings.drops_alpha = settings.color_type == 2 ? 1 : 0
        return settings
    }

    /// Returns the row with color divided by alpha, or nil when the row can be written unchanged.
    mutating func converted(_ row: RawSpan) -> [UInt8]? {
        guard header.alphaMode == .premultiplied else { return nil }
        switch header.format {
        case .gray8, .rgbx8: return nil
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
