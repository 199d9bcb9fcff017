public import AlcedoCore
import AlcedoRuntime

/// A colour with alpha, not multiplied by it, in the colour space of the image it is used on.
public struct PixelColor: Sendable, Hashable, CustomStringConvertible {
    /// From 0 to 255.
    public var red: UInt8
    /// From 0 to 255.
    public var green: UInt8
    /// From 0 to 255.
    public var blue: UInt8
    /// From 0, which is clear, to 255, which is opaque.
    public var alpha: UInt8

    /// A colour of samples from 0 to 255; by default opaque.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// A colour with alpha; by default opaque.
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
