/// The name of an encoded image format. Open: an app's own codec adds its own.
public struct ImageFormat: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// Lowercase short name, for example `png`.
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public var description: String { rawValue }

    public static let png = ImageFormat(rawValue: "png")
    public static let jpeg = ImageFormat(rawValue: "jpeg")
    public static let gif = ImageFormat(rawValue: "gif")
    public static let webp = ImageFormat(rawValue: "webp")
}
