/// A rectangle in whole pixels. The origin is the top left corner and may lie outside the image.
package struct PixelRect: Sendable, Hashable, CustomStringConvertible {
    /// The left edge, in pixels.
    package var x: Int
    /// The top edge, in pixels. Larger values are further down.
    package var y: Int
    /// The width and height in pixels.
    package var size: PixelSize

    /// Creates a rectangle from its top left corner and its size, in pixels.
    package init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        size = PixelSize(width: width, height: height)
    }

    /// The origin and the size. Stable between releases, because cache keys contain it.
    package var description: String { "\(x),\(y),\(size.width)x\(size.height)" }

    /// Returns the part of the rectangle inside an image of size `bounds`, or nil when that part is empty. Accepts any
    /// values; overflow is handled.
    package func clipped(to bounds: PixelSize) -> PixelRect? {
        guard let (left, width) = Self.clip(x, size.width, to: bounds.width),
            let (top, height) = Self.clip(y, size.height, to: bounds.height)
        else { return nil }
        return PixelRect(x: left, y: top, width: width, height: height)
    }

    /// Returns the intersection of both rectangles without parts at negative coordinates, or nil when it is empty. The
    /// right and bottom edges of `other` must not overflow.
    package func clipped(to other: PixelRect) -> PixelRect? {
        let bounds = PixelSize(width: other.x + other.size.width, height: other.y + other.size.height)
        guard let inside = clipped(to: bounds) else { return nil }
        let (left, top) = (max(inside.x, other.x), max(inside.y, other.y))
        let (right, bottom) = (inside.x + inside.size.width, inside.y + inside.size.height)
        guard left < right, top < bottom else { return nil }
        return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
    }

    /// Whether the rectangle contains all pixels of an image of size `bounds`.
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
