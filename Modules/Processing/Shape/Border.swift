/// A line along the edge of a shape, inside it.
public struct Border: Sendable, Hashable, CustomStringConvertible {
    /// In pixels; need not be whole.
    public var width: Double
    /// The line's colour.
    public var color: PixelColor

    /// - Parameters:
    ///   - width: From 0; processors throw `invalidParameter` for one below and for what is not finite.
    ///   - color: The line's colour.
    public init(width: Double, color: PixelColor) {
        self.width = width
        self.color = color
    }

    /// Stable: part of cache keys.
    public var description: String { "\(width),\(color)" }
}
