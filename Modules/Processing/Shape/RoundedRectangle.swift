import AlcedoCore

/// A rectangle with round corners: how much of each pixel lies in it.
struct RoundedRectangle {
    /// Lines by which a row of pixels is measured. Along each the covered length is exact, so coverage is right to less
    /// than half a level of 8 bits.
    private static let linesPerRow = 32

    private let left: Double
    private let top: Double
    private let right: Double
    private let bottom: Double
    /// From the top left corner clockwise.
    private let radii: SIMD4<Double>

    /// - Parameters:
    ///   - radii: In pixels; no two of a side are longer than it.
    ///   - inset: By how much every edge lies within a picture of `size`.
    init(size: PixelSize, radii: SIMD4<Double>, inset: Double = 0) {
        left = inset
        top = inset
        right = Double(size.width) - inset
        bottom = Double(size.height) - inset
        self.radii = (radii - inset).clamped(lowerBound: SIMD4(repeating: 0), upperBound: radii)
    }

    /// Writes the share of each pixel of row `y` that lies inside to `out`, and returns which pixels are inside wholly.
    func cover(row y: Int, width: Int, into out: UnsafeMutablePointer<Float>) -> Range<Int> {
        out.update(repeating: 0, count: width)
        var spans: [(left: Double, right: Double)] = []
        for line in 0..<Self.linesPerRow {
            let height = Double(y) + (Double(line) + 0.5) / Double(Self.linesPerRow)
            if let span = span(at: height) { spans.append(span) }
        }
        guard let first = spans.first else { return 0..<0 }
        var (outer, inner) = (first, first)
        for span in spans {
            outer = (min(outer.left, span.left), max(outer.right, span.right))
            inner = (max(inner.left, span.left), min(inner.right, span.right))
        }
        let touched = max(0, Int(outer.left))..<min(width, Int(outer.right.rounded(.up)))
        var solid = Int(inner.left.rounded(.up))..<Int(max(inner.left.rounded(.up), inner.right.rounded(.down)))
        if spans.count < Self.linesPerRow { solid = 0..<0 }
        out.advanced(by: solid.lowerBound).update(repeating: 1, count: solid.count)
        for x in touched where !solid.contains(x) {
            var sum = 0.0
            for span in spans { sum += max(0, min(span.right, Double(x + 1)) - max(span.left, Double(x))) }
            out[x] = Float(sum / Double(Self.linesPerRow))
        }
        return solid
    }

    /// Where the line at height `y` enters and leaves; nil when it misses.
    private func span(at y: Double) -> (left: Double, right: Double)? {
        guard y > top, y < bottom else { return nil }
        let start = left + indent(y, above: radii[0], below: radii[3])
        let end = right - indent(y, above: radii[1], below: radii[2])
        return start < end ? (start, end) : nil
    }

    /// How far the corners of one side push the edge in at height `y`.
    private func indent(_ y: Double, above upper: Double, below lower: Double) -> Double {
        let (fromTop, fromBottom) = (y - top, bottom - y)
        if fromTop < upper { return upper - Self.chord(upper, upper - fromTop) }
        if fromBottom < lower { return lower - Self.chord(lower, lower - fromBottom) }
        return 0
    }

    /// Half the chord of a circle at a distance from its centre that is at most the radius.
    private static func chord(_ radius: Double, _ distance: Double) -> Double {
        max(0, (radius - distance) * (radius + distance)).squareRoot()
    }
}
