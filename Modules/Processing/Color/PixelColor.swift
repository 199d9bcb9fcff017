public import AlcedoCore
import AlcedoRuntime

/// A color with alpha, not multiplied by it, in the color space of the image it is used on.
///
/// Where nothing can show through, as behind a JPEG or a flattened image, the parameter is an `OpaqueColor` instead, so that
/// a transparent background cannot be passed.
public struct PixelColor: Sendable, Hashable, CustomStringConvertible {
    /// From 0 to 255.
    package var red: UInt8
    /// From 0 to 255.
    package var green: UInt8
    /// From 0 to 255.
    package var blue: UInt8
    /// From 0, which is clear, to 255, which is opaque.
    package var alpha: UInt8

    /// Creates a color of samples from 0 to 255. Default: opaque.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Creates a color with the samples of `color`. Default: opaque.
    public init(_ color: OpaqueColor, alpha: UInt8 = 255) {
        self.init(red: color.red, green: color.green, blue: color.blue, alpha: alpha)
    }

    /// All samples 0.
    public static let clear = PixelColor(red: 0, green: 0, blue: 0, alpha: 0)
    /// Opaque black.
    public static let black = PixelColor(.black)
    /// Opaque white.
    public static let white = PixelColor(.white)

    /// Eight lowercase hexadecimal digits. Stable: part of cache keys.
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
