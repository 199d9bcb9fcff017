/// A line along the edge of a shape, inside it.
public struct Border: Sendable, Hashable, CustomStringConvertible {
    /// In pixels; need not be whole.
    public var width: Double
    public var color: PixelColor

    /// - Parameter width: From 0; processors throw `invalidParameter` for one below and for what is not finite.
    public init(width: Double, color: PixelColor) {
        self.width = width
        self.color = color
    }

    /// Stable: part of cache keys.
    public var description: String { "\(width),\(color)" }
}
