/// How the samples of a pixel lie in memory.
public enum PixelFormat: String, Sendable, Hashable, CaseIterable {
    /// Four bytes: red, green, blue, alpha.
    case rgba8
    /// Four bytes: red, green, blue, and one that is always 255. An opaque image.
    case rgbx8
    /// One byte of luminance. An opaque image.
    case gray8
    /// Four 16-bit samples in the machine's byte order: red, green, blue, alpha.
    case rgba16

    /// Bytes that one pixel occupies.
    public var bytesPerPixel: Int {
        switch self {
        case .rgba8, .rgbx8: 4
        case .gray8: 1
        case .rgba16: 8
        }
    }
}
