public import AlcedoCore
import CPNGShim
public import FoundationEssentials

/// Encodes images as PNG, by libpng. Lossless for straight alpha; premultiplied samples are divided by alpha.
///
/// RGBA8 and RGBA16 are written with alpha unless they are opaque, gray8 as gray. A colour profile that is damaged or
/// made for other colours than those of the picture is left out. The pixels stay as they lie; their orientation is
/// written as EXIF.
public struct PNGEncoder: EXIFEncoding {
    /// How hard zlib tries: 0 (stored) to 9 (smallest). Values outside count as the nearest.
    package var compressionLevel: Int
    /// Whether a picture of at most 256 colours is written as a palette with indices of 1, 2, 4 or 8 bits, when that is
    /// smaller. Not for rows, whose colours are known too late.
    package var usesPaletteWhenLossless: Bool
    /// The EXIF data to write, from the TIFF header on.
    package var exif: Data?

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - compressionLevel: How hard zlib tries, from 0 (stored) to 9 (smallest); values outside count as the nearest.
    ///     Default: 6.
    ///   - usesPaletteWhenLossless: Whether an image of at most 256 colors is written as a palette with indices of 1, 2, 4
    ///     or 8 bits when that is smaller. Has no effect on rows, whose colors are known too late. Default: true.
    public init(compressionLevel: Int = 6, usesPaletteWhenLossless: Bool = true) {
        self.compressionLevel = compressionLevel
        self.usesPaletteWhenLossless = usesPaletteWhenLossless
    }

    public var format: ImageFormat { .png }

    /// Encodes the image; of an animation the first frame.
    ///
    /// - Throws: ``ImageEncodingError``.
    public func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
        let pixels = image.pixels
        var settings = try PNGRowSamples.settings(image.rowHeader, level: compressionLevel)
        let palette = usesPaletteWhenLossless ? PNGPalette(pixels) : nil
        if let palette {
            settings.color_type = 3
            settings.drops_alpha = 0
            settings.bit_depth = Int32(palette.bitDepth)
            settings.transparent_count = palette.transparentCount
        }
        let writer = try PNGWriter(
            settings, palette: palette?.colors ?? [], colorProfile: image.colorProfile,
            exif: image.orientation.written(in: exif))
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

    public func makeRowEncoder(output: @escaping (RawSpan) throws -> Void) -> any PixelRowConsumer {
        PNGRowEncoder(level: compressionLevel, exif: exif, output: output)
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
            // Gray and RGBX have no alpha to divide by, whatever they are called.
            let row = rows.converted(pixels.row(y)) ?? pixels.row(y).withUnsafeBytes { Array($0) }
            try writer.write(row)
        }
    }
}

extension ImageEncoding where Self == PNGEncoder {
    /// PNG.
    ///
    /// - Parameter compressionLevel: How hard zlib tries: 0 (stored) to 9 (smallest). Default: 6.
    public static func png(compressionLevel: Int = 6) -> Self { PNGEncoder(compressionLevel: compressionLevel) }
}

/// Encodes rows as they come. Memory is O(*w*): what is encoded goes to the output at once.
private final class PNGRowEncoder: PixelRowConsumer {
    private let level: Int
    private let exif: Data?
    private let output: (RawSpan) throws -> Void
    private var writer: PNGWriter?
    private var rows: PNGRowSamples?
    private var bytesPerRow = 0

    init(level: Int, exif: Data?, output: @escaping (RawSpan) throws -> Void) {
        self.level = level
        self.exif = exif
        self.output = output
    }

    func begin(_ header: PixelRowHeader) throws {
        let writer = try PNGWriter(
            PNGRowSamples.settings(header, level: level), colorProfile: header.colorProfile,
            exif: header.orientation.written(in: exif))
        try writer.take(output)
        self.writer = writer
        rows = PNGRowSamples(header)
        bytesPerRow = header.bytesPerRow
    }

    func consume(_ row: RawSpan) throws {
        guard let writer else { return }
        // What reads the row reads as many bytes as the header says.
        guard row.byteCount >= bytesPerRow else {
            throw ImageEncodingError(.failed, "PNG: a row has \(row.byteCount) of \(bytesPerRow) bytes")
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

/// A picture of at most 256 colours as PNG stores it: indices of as few bits as will do.
private struct PNGPalette {
    /// Four bytes a colour, those that are not opaque first, because `tRNS` lists alpha from the first colour on.
    let colors: [UInt8]
    let transparentCount: Int
    let bitDepth: Int
    private let palette: ExactPalette
    /// Where the palette's colours are in `colors`.
    private let positions: [UInt8]

    /// nil when the picture has too many colours, or is so small that the palette weighs more than it saves.
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

    /// The indices of one row of the picture, a byte each.
    func indices(_ row: RawSpan, into output: inout [UInt8]) {
        var last: (color: UInt32, index: UInt8)?
        for x in output.indices {
            let color = row.unsafeLoad(fromByteOffset: 4 * x, as: UInt32.self)
            if color != last?.color { last = (color, positions[Int(palette.index(of: color) ?? 0)]) }
            output[x] = last?.index ?? 0
        }
    }
}

/// Turns rows into samples as PNG stores them: straight.
private struct PNGRowSamples {
    private let header: PixelRowHeader
    private var straight: StraightRowConverter

    init(_ header: PixelRowHeader) {
        self.header = header
        straight = StraightRowConverter(header)
    }

    /// How rows of this kind are stored, other than as a palette.
    ///
    /// - Throws: `unsupportedImage` when the format has no such size.
    static func settings(
        _ header: PixelRowHeader, level: Int
    ) throws(ImageEncodingError) -> alcedo_png_settings {
        let maximumSide = 0x7FFF_FFFF
        guard header.size.isPositive, header.size.width <= maximumSide, header.size.height <= maximumSide else {
            throw ImageEncodingError(.unsupportedImage, "PNG: \(header.size) pixels do not fit the format")
        }
        var settings = alcedo_png_settings()
        settings.width = UInt32(header.size.width)
        settings.height = UInt32(header.size.height)
        settings.level = Int32(min(max(level, 0), 9))
        settings.bit_depth = header.format == .rgba16 ? 16 : 8
        let isOpaque = header.alphaMode == .opaque || header.format == .rgbx8
        settings.color_type = header.format == .gray8 ? 0 : isOpaque ? 2 : 6
        settings.drops_alpha = settings.color_type == 2 ? 1 : 0
        return settings
    }

    /// The row with colour divided by alpha; nil when it can be stored as it is.
    mutating func converted(_ row: RawSpan) -> [UInt8]? {
        guard header.alphaMode == .premultiplied else { return nil }
        switch header.format {
        case .gray8, .rgbx8: return nil
        case .rgba8: return straight.convert(row)
        case .rgba16: return row.withUnsafeBytes(Self.straight16)
        }
    }

    /// Rounded to nearest; colour under alpha 0 becomes black.
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
