public import AlcedoCore
private import CPNGShim
public import FoundationEssentials

/// Encodes images as PNG, by libpng. Lossless for straight alpha; premultiplied samples are divided by alpha.
///
/// RGBA8 and RGBA16 are written with alpha unless they are opaque, gray8 as gray. A colour profile that is damaged or
/// made for other colours than those of the picture is left out. The pixels stay as they lie; their orientation is
/// written as EXIF.
public struct PNGEncoder: ImageEncoding {
    /// How hard zlib tries: 0 (stored) to 9 (smallest). Values outside count as the nearest.
    public var compressionLevel: Int
    /// Whether a picture of at most 256 colours is written as a palette with indices of 1, 2, 4 or 8 bits, when that is
    /// smaller. Not for rows, whose colours are known too late.
    public var usesPaletteWhenLossless: Bool

    /// By default zlib's usual level, and a palette where it loses nothing.
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
            exif: image.orientation == .up ? [] : image.orientation.exif)
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
        PNGRowEncoder(level: compressionLevel, output: output)
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
