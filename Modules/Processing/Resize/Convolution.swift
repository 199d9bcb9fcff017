private import CSampleKernels

/// The two passes of a separable filter over rows of floats.
enum Convolution {
    /// The number of floats after the last cells that the horizontal passes may read with a weight of zero.
    static let slack = 16

    /// Writes the weighted sum of `weights.count` rows to `out`.
    ///
    /// Reads and writes `floats` floats of every row, rounded up to a multiple of 16. Rows need no alignment.
    static func vertical(
        rows: UnsafeBufferPointer<UnsafePointer<Float>>, weights: UnsafePointer<Float>, floats: Int,
        into out: UnsafeMutablePointer<Float>
    ) {
        guard let first = rows.baseAddress else { return }
        alcedo_sum_rows(first, weights, rows.count, floats, out)
    }

    /// Writes four weighted sums of the same rows, with four floats per pixel, to `out`: the first pixel of each sum,
    /// then the second pixel of each sum, and so on. Loading the rows once for four sums is faster.
    ///
    /// Reads `floats` floats of every row, rounded up to a multiple of 16, and writes four times as many. Rows need no
    /// alignment. `weights` has four weights for each row.
    static func verticalByFour(
        rows: UnsafeBufferPointer<UnsafePointer<Float>>, weights: UnsafePointer<Float>, floats: Int,
        into out: UnsafeMutablePointer<Float>
    ) {
        guard let first = rows.baseAddress else { return }
        alcedo_sum_rows_by_four(first, weights, rows.count, floats, out)
    }

    /// Computes four rows, with four floats per pixel, from the cells and weights in `table`. The rows of `out` are
    /// `floats` apart.
    ///
    /// The cells are stored as ``verticalByFour(rows:weights:floats:into:)`` stores them. Reads up to ``slack`` floats
    /// after the last cells, which must be finite.
    static func horizontalByFour(
        cells: UnsafePointer<Float>, table: WeightTable, floats: Int, into out: UnsafeMutablePointer<Float>
    ) {
        table.withUnsafePointers { first, count, weights in
            alcedo_filter_four_rows(cells, first, count, weights, table.stride, table.length, out, floats)
        }
    }

    /// Computes each pixel of `out` from the cells and weights in `table`.
    ///
    /// Reads the cells in the table and up to ``slack`` floats after the row, which must be finite. Writes
    /// `table.length` pixels of `channels` floats.
    static func horizontal(
        row: UnsafePointer<Float>, table: WeightTable, channels: Int, into out: UnsafeMutablePointer<Float>
    ) {
        table.withUnsafePointers { first, count, weights in
            guard channels == 4 else {
                for x in 0..<table.length {
                    out[x] = graySum(row + first[x], weights + x &* table.stride, count[x])
                }
                return
            }
            alcedo_filter_pixels(row, first, count, weights, table.stride, table.length, out)
        }
    }

    @inline(__always)
    private static func graySum(
        _ samples: UnsafePointer<Float>, _ weights: UnsafePointer<Float>, _ count: Int
    ) -> Float {
        var even: Float = 0
        var odd: Float = 0
        var index = 0
        while index &+ 1 < count {
            even += samples[index] * weights[index]
            odd += samples[index &+ 1] * weights[index &+ 1]
            index &+= 2
        }
        return index < count ? even + odd + samples[index] * weights[index] : even + odd
    }
}

/// The source cells and weights of each result pixel along one axis.
struct WeightTable {
    /// The maximum number of weights of a result pixel.
    let taps: Int
    /// The number of stored weights for each result pixel, a multiple of four. Unused weights are zero.
    let stride: Int
    /// The first source cell of each result pixel. The values never decrease.
    private(set) var first: [Int] = []
    /// The number of weights of each result pixel, at least one.
    private(set) var count: [Int] = []
    /// The weights, ``stride`` for each result pixel. The weights of each pixel add up to 1.
    private(set) var weights: [Float]

    /// Creates the table in O(*length* × *taps*).
    ///
    /// - Parameters:
    ///   - cells: The number of source cells, at least one.
    ///   - extent: The length of the source in cells. It is below `cells` when the last cell is only partly filled.
    ///   - length: The number of result pixels, at least one.
    ///   - filter: The filter that computes the weights.
    init(cells: Int, extent: Double, length: Int, filter: ResizeFilter) {
        let scale = extent / Double(length)
        let stretch = max(scale, 1)
        // At scale 1, every filter is 1 at its center and 0 at the other pixels.
        let reach = scale == 1 ? 0.5 : filter.radius * stretch
        taps = min(cells, Int(reach.rounded(.up)) * 2 + 1)
        stride = (taps + 3) / 4 * 4
        weights = [Float](repeating: 0, count: stride * length)
        first.reserveCapacity(length)
        count.reserveCapacity(length)
        var row = [Double](repeating: 0, count: taps)
        for index in 0..<length {
            let center = (Double(index) + 0.5) * scale
            let low = min(cells - 1, max(0, Int(center - reach + 0.5)))
            let high = min(cells, low + taps, max(low + 1, Int(center + reach + 0.5)))
            var sum = 0.0
            for cell in low..<high {
                row[cell - low] = filter.weight(at: (Double(cell) + 0.5 - center) / stretch)
                sum += row[cell - low]
            }
            for offset in 0..<high - low { weights[index * stride + offset] = Float(row[offset] / sum) }
            first.append(low)
            count.append(high - low)
        }
    }

    /// The number of result pixels.
    var length: Int { first.count }

    /// Returns the range of the cells with a weight in any of the result pixels in `range`, which must not be empty.
    func cells(of range: Range<Int>) -> Range<Int> {
        first[range.lowerBound]..<first[range.upperBound - 1] + count[range.upperBound - 1]
    }

    /// Writes the weights of up to four result pixels: for each of their cells the weight in each result pixel, or
    /// zero. Writes four floats for each cell in `cells(of: range)`.
    func writeWeights(of range: Range<Int>, into out: UnsafeMutablePointer<Float>) {
        let cells = cells(of: range)
        out.update(repeating: 0, count: cells.count * 4)
        for (place, index) in range.enumerated() {
            for offset in 0..<count[index] {
                out[(first[index] - cells.lowerBound + offset) * 4 + place] = weights[index * stride + offset]
            }
        }
    }

    func withUnsafePointers(
        _ body: (_ first: UnsafePointer<Int>, _ count: UnsafePointer<Int>, _ weights: UnsafePointer<Float>) -> Void
    ) {
        first.withUnsafeBufferPointer { first in
            count.withUnsafeBufferPointer { count in
                weights.withUnsafeBufferPointer { weights in
                    guard let first = first.baseAddress, let count = count.baseAddress,
                        let weights = weights.baseAddress
                    else { return }
                    body(first, count, weights)
                }
            }
        }
    }
}
