/// A rectangle of whole pixels. The origin is the top left corner; it may lie outside the image.
package struct PixelRect: Sendable, Hashable, CustomStringConvertible {
    /// The left edge, in pixels.
    package var x: Int
    /// The top edge, in pixels; larger is further down.
    package var y: Int
    /// Width and height in pixels.
    package var size: PixelSize

    /// A rectangle by its left top corner and its size, in pixels.
    package init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        size = PixelSize(width: width, height: height)
    }

    /// Stable: part of cache keys.
    package var description: String { "\(x),\(y),\(size.width)x\(size.height)" }

    /// The part of the rectangle inside an image of `bounds`; nil when there is none. Any values are fit for it.
    package func clipped(to bounds: PixelSize) -> PixelRect? {
        guard let (left, width) = Self.clip(x, size.width, to: bounds.width),
            let (top, height) = Self.clip(y, size.height, to: bounds.height)
        else { return nil }
        return PixelRect(x: left, y: top, width: width, height: height)
    }

    /// The part that both rectangles have in common; nil when there is none. The other must lie within an image.
    package func clipped(to other: PixelRect) -> PixelRect? {
        let bounds = PixelSize(width: other.x + other.size.width, height: other.y + other.size.height)
        guard let inside = clipped(to: bounds) else { return nil }
        let (left, top) = (max(inside.x, other.x), max(inside.y, other.y))
        let (right, bottom) = (inside.x + inside.size.width, inside.y + inside.size.height)
        guard left < right, top < bottom else { return nil }
        return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
    }

    /// Whether no pixel of an image of `bounds` lies outside.
    package func covers(_ bounds: PixelSize) -> Bool {
        clipped(to: bounds) == PixelRect(x: 0, y: 0, width: bounds.width, height: bounds.height)
    }

    private static func clip(_ start: Int, _ length: Int, to limit: Int) -> (start: Int, length: Int)? {
        guard length > 0 else { return nil }
        let (sum, overflow) = start.addingReportingOverflow(length)
        let first = max(0, start)
        let end = min(limit, overflow ? Int.max : sum)
        return first < end ? (first, end - first) : nil
    }
}
