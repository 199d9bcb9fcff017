public import AlcedoCore
import AlcedoRuntime

/// A color with straight alpha, in the color space of the image that it is used on.
///
/// Parameters that do not allow transparency, such as the background of a JPEG or a flattened image, have the type
/// `OpaqueColor` instead.
public struct PixelColor: Sendable, Hashable, CustomStringConvertible {
    /// The red sample, from 0 to 255.
    package var red: UInt8
    /// The green sample, from 0 to 255.
    package var green: UInt8
    /// The blue sample, from 0 to 255.
    package var blue: UInt8
    /// The alpha, from 0 (transparent) to 255 (opaque).
    package var alpha: UInt8

    /// Creates a color from samples between 0 and 255. Colors are opaque by default.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Creates a color with the samples of `color`. Colors are opaque by default.
    public init(_ color: OpaqueColor, alpha: UInt8 = 255) {
        self.init(red: color.red, green: color.green, blue: color.blue, alpha: alpha)
    }

    /// Transparent black.
    public static let clear = PixelColor(red: 0, green: 0, blue: 0, alpha: 0)
    /// Opaque black.
    public static let black = PixelColor(.black)
    /// Opaque white.
    public static let white = PixelColor(.white)

    /// Eight lowercase hexadecimal digits. They are part of cache keys and do not change between releases.
    public var description: String {
        [red, green, blue, alpha].hexadecimal
    }

    /// The samples from 0 to 1.
    var samples: SIMD4<Float> {
        SIMD4(Float(red), Float(green), Float(blue), Float(alpha)) / 255
    }

    var isOpaque: Bool { alpha == 255 }
    var isGray: Bool { red == green && green == blue }
}
