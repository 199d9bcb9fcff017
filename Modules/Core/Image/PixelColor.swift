import AlcedoRuntime

/// A color with straight alpha, in the color space of the image that it is used with.
///
/// ```swift
/// let request = ImageRequest(url: url, processors: [.flatten(onto: PixelColor(red: 240, green: 240, blue: 240))])
/// ```
///
/// The backgrounds of JPEG encoding, of the processor `.flatten` and of terminal output are opaque and ignore the
/// alpha.
public struct PixelColor: Sendable, Hashable, CustomStringConvertible {
    /// The red sample, from 0 to 255.
    public var red: UInt8
    /// The green sample, from 0 to 255.
    public var green: UInt8
    /// The blue sample, from 0 to 255.
    public var blue: UInt8
    /// The alpha, from 0 (transparent) to 255 (opaque).
    public var alpha: UInt8

    /// Creates a color from samples from 0 to 255. Colors are opaque by default.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Transparent black.
    public static let clear = PixelColor(red: 0, green: 0, blue: 0, alpha: 0)
    /// Opaque black.
    public static let black = PixelColor(red: 0, green: 0, blue: 0)
    /// Opaque white.
    public static let white = PixelColor(red: 255, green: 255, blue: 255)

    /// The color as eight lowercase hexadecimal digits. Stable between releases, because cache keys contain it.
    public var description: String { [red, green, blue, alpha].hexadecimal }

    /// The color without its alpha, as six lowercase hexadecimal digits. Stable between releases, because cache keys
    /// contain it.
    package var opaqueDescription: String { [red, green, blue].hexadecimal }
}
