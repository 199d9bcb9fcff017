public import AlcedoCore

/// A colour with alpha, not multiplied by it, in the colour space of the image it is used on.
public struct PixelColor: Sendable, Hashable, CustomStringConvertible {
    public var red: UInt8
    public var green: UInt8
    public var blue: UInt8
    public var alpha: UInt8

    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    public init(_ color: OpaqueColor, alpha: UInt8 = 255) {
        self.init(red: color.red, green: color.green, blue: color.blue, alpha: alpha)
    }

    public static let clear = PixelColor(red: 0, green: 0, blue: 0, alpha: 0)
    public static let black = PixelColor(.black)
    public static let white = PixelColor(.white)

    /// Eight lowercase hexadecimal digits. Stable: part of cache keys.
    public var description: String {
        "\(OpaqueColor(red: red, green: green, blue: blue))\(alpha < 16 ? "0" : "")\(String(alpha, radix: 16))"
    }

    /// The samples from 0 to 1.
    var samples: SIMD4<Float> {
        SIMD4(Float(red), Float(green), Float(blue), Float(alpha)) / 255
    }

    var isOpaque: Bool { alpha == 255 }
    var isGray: Bool { red == green && green == blue }
}
