import AlcedoRuntime

/// A color without transparency, in the color space of the image that it is used with.
public struct OpaqueColor: Sendable, Hashable, CustomStringConvertible {
    /// The red sample, from 0 to 255.
    package var red: UInt8
    /// The green sample, from 0 to 255.
    package var green: UInt8
    /// The blue sample, from 0 to 255.
    package var blue: UInt8

    /// Creates a color from three samples from 0 to 255.
    public init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// White: all samples are 255.
    public static let white = OpaqueColor(red: 255, green: 255, blue: 255)
    /// Black: all samples are 0.
    public static let black = OpaqueColor(red: 0, green: 0, blue: 0)

    /// The color as six lowercase hexadecimal digits. Stable between releases, because cache keys contain it.
    public var description: String {
        [red, green, blue].hexadecimal
    }
}
