/// A width and a height in pixels.
public struct PixelSize: Sendable, Hashable, CustomStringConvertible {
    /// In pixels.
    public var width: Int
    /// In pixels.
    public var height: Int

    /// A size in pixels. What uses it refuses sizes that make no sense.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    public var description: String { "\(width) x \(height)" }

    /// Whether both sides are at least one pixel.
    package var isPositive: Bool { width > 0 && height > 0 }

    /// Number of pixels; `Int.max` when the product does not fit, nought when a side is negative.
    public var pixelCount: Int {
        guard isPositive else { return 0 }
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? Int.max : product
    }

    /// The size with its sides exchanged, as a quarter turn leaves it.
    package var transposed: PixelSize { PixelSize(width: height, height: width) }

    /// The size of this picture scaled to `target` with its proportions kept, each side at least one pixel.
    ///
    /// `fit` makes the whole picture visible inside `target`, `fill` covers `target`. A size that is not positive,
    /// here or in `target`, gives this size back. Never enlarges unless `enlarging` is true.
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

extension TargetSize {
    /// How a picture meets a target of other proportions.
    public enum ContentMode: String, Sendable, Hashable {
        /// The whole picture inside the target.
        case fit
        /// The whole target covered by the picture.
        case fill
    }
}

/// The size a picture will be shown at, and how it meets that size.
public struct TargetSize: Sendable, Hashable, CustomStringConvertible {
    /// In device pixels.
    public var size: PixelSize
    /// How the picture meets the size.
    public var mode: ContentMode

    /// A size in device pixels; by default the whole picture fits into it.
    public init(_ size: PixelSize, mode: ContentMode = .fit) {
        self.size = size
        self.mode = mode
    }

    /// A size of two sides in device pixels; by default the whole picture fits into it.
    public init(width: Int, height: Int, mode: ContentMode = .fit) {
        self.init(PixelSize(width: width, height: height), mode: mode)
    }

    /// Stable: part of cache keys.
    public var description: String { "\(size.width)x\(size.height),\(mode.rawValue)" }
}
