import AlcedoRuntime

/// A colour without transparency, in the colour space of the image it is put under.
public struct OpaqueColor: Sendable, Hashable, CustomStringConvertible {
    /// From 0 to 255.
    package var red: UInt8
    /// From 0 to 255.
    package var green: UInt8
    /// From 0 to 255.
    package var blue: UInt8

    /// A colour of three samples from 0 to 255.
    public init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// All samples 255.
    public static let white = OpaqueColor(red: 255, green: 255, blue: 255)
    /// All samples 0.
    public static let black = OpaqueColor(red: 0, green: 0, blue: 0)

    /// Six lowercase hexadecimal digits. Stable: part of cache keys.
    public var description: String {
        [red, green, blue].hexadecimal
    }
}
