/// An opaque colour in sRGB.
public struct TerminalColor: Sendable, Hashable {
    public var red: UInt8
    public var green: UInt8
    public var blue: UInt8

    public init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    public static let black = TerminalColor(red: 0, green: 0, blue: 0)
    public static let white = TerminalColor(red: 255, green: 255, blue: 255)

    /// From 0 to 255, weighted as the eye sees. Source: ITU-R BT.709-6, item 3.2.
    var luminance: Int { (Int(red) * 2126 + Int(green) * 7152 + Int(blue) * 722 + 5000) / 10_000 }
}
