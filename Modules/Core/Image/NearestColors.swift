/// A search for the nearest of at most 256 colors, with alpha multiplied in. The distance is the sum of squares.
///
/// The space of colors is divided into 4,096 cells. The first search in a cell finds the colors that can be nearest to
/// a point in it, usually a few. Source: the color map of the Independent JPEG Group's `jquant2.c`.
struct NearestColors: Sendable {
    private let colors: [SIMD4<Float>]
    /// Whether all colors are opaque, and all points too. The cells then have four bits of red, green and blue, and
    /// otherwise three of each sample.
    private let areOpaque: Bool
    /// The position in `candidates` of the first one of each cell, or -1 for a cell without a search.
    private var starts = [Int32](repeating: -1, count: 4096)
    private var counts = [UInt16](repeating: 0, count: 4096)
    /// The indices of colors, in ascending order in each cell.
    private var candidates: [UInt8] = []

    init(_ colors: [SIMD4<Float>], areOpaque: Bool) { (self.colors, self.areOpaque) = (colors, areOpaque) }

    /// Returns the index of the color nearest to a point, the first one of several. There must be a color.
    ///
    /// - Parameter point: A color, whose samples are from 0 to 255.
    mutating func index(of point: SIMD4<Float>) -> Int {
        let shift = areOpaque ? 4 : 5
        let (red, green, blue) = (Int(point.x) &>> shift, Int(point.y) &>> shift, Int(point.z) &>> shift)
        let cell =
            areOpaque
            ? red &<< 8 | green &<< 4 | blue : red &<< 9 | green &<< 6 | blue &<< 3 | Int(point.w) &>> shift
        if starts[cell] < 0 {
            let side = Float(1 &<< shift)
            let low = SIMD4(Float(red), Float(green), Float(blue), Float(Int(point.w) &>> shift)) * side
            addCandidates(cell, low.x...low.x + side, low.y...low.y + side, low.z...low.z + side, low.w...low.w + side)
        }
        let start = Int(starts[cell])
        return colors.withUnsafeBufferPointer { colors in
            candidates.withUnsafeBufferPointer { candidates in
                var best = (index: 0, distance: Float.infinity)
                for position in start..<start &+ Int(counts[cell]) {
                    let index = Int(candidates[position])
                    let distance = Self.distance(colors[index], point)
                    if distance < best.distance { best = (index, distance) }
                }
                return best.index
            }
        }
    }

    /// Finds the colors whose smallest distance to a point in a cell is at most the largest one of another color.
    private mutating func addCandidates(
        _ cell: Int, _ red: ClosedRange<Float>, _ green: ClosedRange<Float>, _ blue: ClosedRange<Float>,
        _ alpha: ClosedRange<Float>
    ) {
        var smallest = [Float](repeating: 0, count: colors.count)
        var limit = Float.infinity
        for (index, color) in colors.enumerated() {
            let (x, y) = (Self.distances(color.x, red), Self.distances(color.y, green))
            let (z, w) = (Self.distances(color.z, blue), areOpaque ? (0, 0) : Self.distances(color.w, alpha))
            smallest[index] = x.0 + y.0 + z.0 + w.0
            limit = min(limit, x.1 + y.1 + z.1 + w.1)
        }
        starts[cell] = Int32(truncatingIfNeeded: candidates.count)
        for index in colors.indices where smallest[index] <= limit {
            candidates.append(UInt8(truncatingIfNeeded: index))
            counts[cell] += 1
        }
    }

    /// Returns the squares of the smallest and the largest distance from a sample to one in a range.
    private static func distances(_ sample: Float, _ range: ClosedRange<Float>) -> (Float, Float) {
        let (below, above) = (range.lowerBound - sample, sample - range.upperBound)
        let nearest = max(0, max(below, above))
        let farthest = max(-below, -above)
        return (nearest * nearest, farthest * farthest)
    }

    private static func distance(_ color: SIMD4<Float>, _ point: SIMD4<Float>) -> Float {
        let (red, green, blue) = (color.x - point.x, color.y - point.y, color.z - point.z)
        let alpha = color.w - point.w
        return red * red + green * green + (blue * blue + alpha * alpha)
    }

    /// Returns the distance from a color to the nearest other one.
    func distance(toOthersThan index: Int) -> Float {
        var nearest = Float.infinity
        for other in colors.indices where other != index {
            nearest = min(nearest, Self.distance(colors[other], colors[index]))
        }
        return nearest
    }
}
