import AlcedoCore
import CPNGShim

/// Turns rows into samples as PNG stores them: straight.
struct PNGRowSamples {
    private let header: PixelRowHeader
    private var straight: StraightRow

    init(_ header: PixelRowHeader) {
        self.header = header
        straight = StraightRow(header)
    }

    /// How rows of this kind are stored, other than as a palette.
    ///
    /// - Throws: `unsupportedImage` when the format has no such size.
    static func settings(
        _ header: PixelRowHeader, level: Int
    ) throws(ImageEncodingError) -> alcedo_png_settings {
        let longest = 0x7FFF_FFFF
        guard header.size.isPositive, header.size.width <= longest, header.size.height <= longest else {
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
