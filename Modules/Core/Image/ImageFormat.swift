public import AlcedoRuntime

/// The name of an encoded image format. Open: an app's own codec adds its own.
public struct ImageFormat: OpenName, Sendable, Hashable {
    /// Lowercase short name, for example `png`.
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The media type of the format, for example `image/png`: `image/` and the name, except for names that are not
    /// registered as such. Source: IANA registry of media types.
    public var mediaType: String {
        switch rawValue {
        case "jpg": "image/jpeg"
        case "svg": "image/svg+xml"
        case "ico": "image/vnd.microsoft.icon"
        default: "image/\(rawValue)"
        }
    }

    /// Portable Network Graphics, animated ones (APNG) included.
    public static let png = ImageFormat(rawValue: "png")
    /// JPEG.
    public static let jpeg = ImageFormat(rawValue: "jpeg")
    /// Graphics Interchange Format, of both versions.
    public static let gif = ImageFormat(rawValue: "gif")
    /// WebP, lossy and lossless.
    public static let webp = ImageFormat(rawValue: "webp")
}
