public import AlcedoRuntime

/// The name of an encoded image format. The set is open: an app can define names for its own codecs.
///
/// ```swift
/// let grayMap = ImageFormat(rawValue: "graymap")
/// print(grayMap.mediaType)  // image/graymap
/// ```
public struct ImageFormat: OpenName, Sendable, Hashable {
    /// The short name in lowercase, for example `png`.
    public var rawValue: String

    /// Creates a format from its short name in lowercase.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The media type of the format: `image/` followed by the name, for example `image/png`. Names that differ from
    /// their registered media type, such as `jpg`, are mapped to it. Source: IANA media type registry.
    public var mediaType: String {
        switch rawValue {
        case "jpg": "image/jpeg"
        case "svg": "image/svg+xml"
        case "ico": "image/vnd.microsoft.icon"
        default: "image/\(rawValue)"
        }
    }

    /// Portable Network Graphics, including animations (APNG).
    public static let png = ImageFormat(rawValue: "png")
    /// JPEG.
    public static let jpeg = ImageFormat(rawValue: "jpeg")
    /// Graphics Interchange Format, versions 87a and 89a.
    public static let gif = ImageFormat(rawValue: "gif")
    /// WebP, lossy and lossless.
    public static let webp = ImageFormat(rawValue: "webp")
}
