public import AlcedoRuntime
public import FoundationEssentials

/// The color space of the pixels that a load or a conversion returns.
///
/// ```swift
/// var request = ImageRequest(url: url)
/// request.colorSpace = .displayP3
/// ```
public enum OutputColorSpace: String, Sendable, Hashable, CaseIterable {
    /// sRGB (IEC 61966-2-1), which all programs assume for images without a profile.
    case sRGB = "srgb"
    /// Display P3: the primary colors of DCI-P3 with the white point and the transfer function of sRGB.
    case displayP3 = "display-p3"
    /// The color space of the file. The pixels are not converted, and ``DecodedImage/colorProfile`` describes them.
    case embedded

    /// The ICC profile of color pixels in this space; nil for sRGB, and for the color space of the file.
    public var colorProfile: Data? { self == .displayP3 ? Self.displayP3Profile : nil }

    private static let displayP3Profile = ColorDescription.displayP3.profile(isGray: false)
}

/// An error that prevented the conversion of an image's colors.
public struct ColorConversionError: CodedError {
    /// The kind of failure.
    public enum Code: String, Sendable {
        /// The ICC profile is damaged or incomplete.
        case invalidProfile
        /// The ICC profile describes colors that are not supported, or that the image does not have.
        case unsupportedProfile
        /// The memory could not be allocated.
        case outOfMemory
    }

    /// The kind of failure, for callers to switch on.
    public var code: Code
    /// A one-sentence description for logs.
    package var message: String

    /// Creates an error. Converters outside this package use this initializer too.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
