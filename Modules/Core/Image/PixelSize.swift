/// A width and a height in pixels.
public struct PixelSize: Sendable, Hashable, CustomStringConvertible {
    /// The width in pixels.
    public var width: Int
    /// The height in pixels.
    public var height: Int

    /// Creates a size in pixels. Any values are accepted; functions that take a size reject invalid ones.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The width and the height, for messages.
    public var description: String { "\(width) x \(height)" }

    /// Whether both sides are at least one pixel.
    package var isPositive: Bool { width > 0 && height > 0 }

    /// The number of pixels. `Int.max` when the product overflows, zero when a side is not positive.
    public var pixelCount: Int {
        guard isPositive else { return 0 }
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? Int.max : product
    }

    /// The size with width and height exchanged, as after a rotation by 90 degrees.
    package var transposed: PixelSize { PixelSize(width: height, height: width) }

    /// Returns this size scaled to `target` with its aspect ratio preserved, each side at least one pixel.
    ///
    /// With `.fit`, the result lies inside `target`; with `.fill`, it covers `target`. Returns this size unchanged when
    /// either size is not positive. Enlarges only if `enlarging` is true.
    package func scaled(to target: PixelSize, mode: TargetSize.ContentMode, enlarging: Bool = false) -> PixelSize {
        guard isPositive, target.isPositive else { return self }
        let horizontal = Double(target.width) / Double(width)
        let vertical = Double(target.height) / Double(height)
        var factor = mode == .fit ? min(horizontal, vertical) : max(horizontal, vertical)
        if !enlarging { factor = min(factor, 1) }
        guard factor != 1 else { return self }
        let side = { (length: Int) in max(1, Int(min((Double(length) * factor).rounded(), 1e15))) }
        return PixelSize(width: side(width), height: side(height))
    }
}
