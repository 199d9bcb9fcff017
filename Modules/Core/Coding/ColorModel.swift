/// How a file stores colour.
public enum ColorModel: String, Sendable, Hashable {
    case gray
    case grayAlpha = "gray-alpha"
    case rgb
    case rgba
    /// Indices into a table of colours.
    case palette
    /// Luminance and two colour differences; with an alpha plane in WebP.
    case yCbCr = "ycbcr"
    case cmyk
    /// CMYK with its first three inks as luminance and colour differences.
    case ycck
}
