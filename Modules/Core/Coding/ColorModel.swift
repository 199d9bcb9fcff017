/// How a file stores colour.
public enum ColorModel: String, Sendable, Hashable {
    /// One sample a pixel.
    case gray
    /// Gray and alpha.
    case grayAlpha = "gray-alpha"
    /// Red, green and blue.
    case rgb
    /// Red, green, blue and alpha.
    case rgba
    /// Indices into a table of colours.
    case palette
    /// Luminance and two colour differences; with an alpha plane in WebP.
    case yCbCr = "ycbcr"
    /// Four inks.
    case cmyk
    /// CMYK with its first three inks as luminance and colour differences.
    case ycck
}
