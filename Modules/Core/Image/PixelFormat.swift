/// The layout of the samples of a pixel in memory.
public enum PixelFormat: String, Sendable, Hashable, CaseIterable {
    /// Four 8-bit samples: red, green, blue, alpha.
    case rgba8
    /// Four bytes: red, green, blue, and a fourth byte that is always 255. For opaque images.
    case rgbx8
    /// One 8-bit luminance sample. For opaque images.
    case gray8
    /// Four 16-bit samples in native byte order: red, green, blue, alpha.
    case rgba16

    /// The number of bytes per pixel.
    public var bytesPerPixel: Int {
        switch self {
        case .rgba8, .rgbx8: 4
        case .gray8: 1
        case .rgba16: 8
        }
    }
}
