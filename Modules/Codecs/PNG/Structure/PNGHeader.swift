import AlcedoCore

/// What libpng finds before the pixels.
struct PNGHeader: Sendable {
    var size: PixelSize
    var bitDepth: Int
    /// As in the file. Source: W3C PNG specification, third edition, table 9.
    var colorType: Int
    var hasAlpha: Bool
    var isInterlaced: Bool

    var colorModel: ColorModel {
        switch colorType {
        case 0: .gray
        case 3: .palette
        case 4: .grayAlpha
        case 6: .rgba
        default: .rgb
        }
    }

    /// Bytes of a row as it is compressed, with the byte that names the filter. Not of an interlaced picture.
    var storedBytesPerRow: Int {
        let samples =
            switch colorModel {
            case .grayAlpha: 2
            case .rgb: 3
            case .rgba: 4
            default: 1
            }
        return (size.width * samples * bitDepth + 7) / 8 + 1
    }

    /// The samples that are given to somebody who wants `format`.
    func format(for format: PixelFormat) -> PixelFormat {
        switch format {
        case .gray8: colorType == 0 && !hasAlpha ? .gray8 : .rgba8
        case .rgba16: bitDepth == 16 ? .rgba16 : .rgba8
        case .rgba8, .rgbx8: .rgba8
        }
    }
}
