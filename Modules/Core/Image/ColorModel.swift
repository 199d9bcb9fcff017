/// The color model of a file.
public enum ColorModel: String, Sendable, Hashable {
    /// One gray sample per pixel.
    case gray
    /// Gray and alpha.
    case grayAlpha = "gray-alpha"
    /// Red, green and blue.
    case rgb
    /// Red, green, blue and alpha.
    case rgba
    /// Indices into a color table.
    case palette
    /// Luminance and two color differences, in WebP also with an alpha plane.
    case yCbCr = "ycbcr"
    /// Cyan, magenta, yellow and black inks.
    case cmyk
    /// CMYK with the first three inks stored as luminance and color differences.
    case ycck

    /// Whether the model has no color, with or without alpha.
    package var isGray: Bool { self == .gray || self == .grayAlpha }
}
