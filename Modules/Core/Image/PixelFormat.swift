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
    /// One 16-bit luminance sample in native byte order. For opaque images.
    case gray16

    /// The number of bytes per pixel: the number of samples times their bytes. Rows are padded to
    /// ``PixelBuffer/bytesPerRow``.
    public var bytesPerPixel: Int {
        switch self {
        case .rgba8, .rgbx8: 4
        case .gray8: 1
        case .gray16: 2
        case .rgba16: 8
        }
    }
}

extension PixelFormat {
    /// Whether a pixel has only a luminance sample.
    public var isGray: Bool { self == .gray8 || self == .gray16 }

    /// Whether samples have 16 bits.
    public var isDeep: Bool { self == .rgba16 || self == .gray16 }

    /// Whether a pixel has an alpha sample that can be less than its maximum.
    public var hasAlpha: Bool { self == .rgba8 || self == .rgba16 }

    /// The format of the same samples in 8 bits.
    package var shallow: PixelFormat {
        switch self {
        case .rgba8, .rgbx8, .gray8: self
        case .rgba16: .rgba8
        case .gray16: .gray8
        }
    }

    /// The format with color and alpha whose samples have as many bits.
    package var colored: PixelFormat { isDeep ? .rgba16 : .rgba8 }

    /// The format with color for opaque images whose samples have as many bits.
    package var opaqueColored: PixelFormat { isDeep ? .rgba16 : .rgbx8 }

    /// Returns the format in which a decoder produces the rows of a file when this format is requested.
    ///
    /// - Parameters:
    ///   - isGray: Whether the file has only luminance samples.
    ///   - isDeep: Whether its samples have more than 8 bits.
    package func available(isGray: Bool, isDeep: Bool) -> PixelFormat {
        switch self {
        case .rgba8, .rgbx8: .rgba8
        case .gray8: isGray ? .gray8 : .rgba8
        case .rgba16: isDeep ? .rgba16 : .rgba8
        case .gray16: isGray ? (isDeep ? .gray16 : .gray8) : isDeep ? .rgba16 : .rgba8
        }
    }
}
