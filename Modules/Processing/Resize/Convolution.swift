private import CSampleKernels

/// The two passes of a separable filter over rows of floats.
enum Convolution {
    /// Floats behind the last cell of a row that the pass along rows may read, times a weight of nought.
    static let slack = 16

    /// Adds up `weights.count` rows, each times its weight.
    ///
    /// Reads and writes `floats` floats of every row, rounded up to a multiple of 16. Rows need no alignment.
    static func vertical(
        rows: UnsafeBufferPointer<UnsafePointer<Float>>, weights: UnsafePointer<Float>, floats: Int,
        into out: UnsafeMutablePointer<Float>
    ) {
        guard let first = rows.baseAddress else { return }
        alcedo_sum_rows(first, weights, rows.count, floats, out)
    }

    /// Makes each pixel of `out` from a stretch of `row`, as `table` says.
    ///
    /// Reads the cells the table names, and up to ``slack`` finite floats behind the row; writes `table.first.count`
    /// pixels of `channels` floats.
    static func horizontal(
        row: UnsafePointer<Float>, table: WeightTable, channels: Int, into out: UnsafeMutablePointer<Float>
    ) {
        table.first.withUnsafeBufferPointer { first in
            table.count.withUnsafeBufferPointer { count in
                table.weights.withUnsafeBufferPointer { weights in
                    guard let first = first.baseAddress, let count = count.baseAddress,
                        let weights = weights.baseAddress
                    else { return }
                    let length = table.first.count
                    guard channels == 4 else {
                        for x in 0..<length {
                            out[x] = graySum(row + first[x], weights + x &* table.stride, count[x])
                        }
                        return
                    }
                    alcedo_filter_pixels(row, first, count, weights, table.stride, length, out)
                }
            }
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

/// Which source cells each result pixel of one axis is made of, and with what weights.
struct WeightTable {
    /// The most weights that a result pixel has.
    let taps: Int
    /// Weights kept for each result pixel, a multiple of four; the unused ones of a pixel are nought.
    let stride: Int
    /// First source cell of each result pixel; never decreases.
    private(set) var first: [Int] = []
    /// Number of weights of each result pixel; at least one.
    private(set) var count: [Int] = []
    /// ``stride`` weights for each result pixel; they add up to one.
    private(set) var weights: [Float]

    /// Makes the table in O(*length* × *taps*).
    ///
    /// - Parameters:
    ///   - cells: Source cells; at least one.
    ///   - extent: Length of the source in cells; below `cells` when the last is only partly filled.
    ///   - length: Result pixels; at least one.
    init(cells: Int, extent: Double, length: Int, filter: ResizeFilter) {
        let scale = extent / Double(length)
        let stretch = max(scale, 1)
        // At scale 1 every filter is 1 at its centre and 0 at the other pixels.
        let reach = scale == 1 ? 0.5 : filter.radius * stretch
        taps = min(cells, Int(reach.rounded(.up)) * 2 + 1)
        stride = (taps + 3) / 4 * 4
        weights = [Float](repeating: 0, count: stride * length)
        first.reserveCapacity(length)
        count.reserveCapacity(length)
        var row = [Double](repeating: 0, count: taps)
        for index in 0..<length {
            let centre = (Double(index) + 0.5) * scale
            let low = min(cells - 1, max(0, Int(centre - reach + 0.5)))
            let high = min(cells, low + taps, max(low + 1, Int(centre + reach + 0.5)))
            var sum = 0.0
            for cell in low..<high {
                row[cell - low] = filter.weight(at: (Double(cell) + 0.5 - centre) / stretch)
                sum += row[cell - low]
            }
            for offset in 0..<high - low { weights[index * stride + offset] = Float(row[offset] / sum) }
            first.append(low)
            count.append(high - low)
        }
    }
}
