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
