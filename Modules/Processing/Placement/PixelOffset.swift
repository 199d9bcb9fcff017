/// A way to go, in whole pixels.
public struct PixelOffset: Sendable, Hashable, CustomStringConvertible {
    /// To the right.
    public var x: Int
    /// Down.
    public var y: Int

    /// So many pixels to the right and down; negative ones go the other way.
    public init(x: Int, y: Int) {
        self.x = x
        self.y = y
    }

    /// Stable: part of cache keys.
    public var description: String { "\(x);\(y)" }
}
