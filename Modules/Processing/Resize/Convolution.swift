private import CSampleKernels

/// The two passes of a separable filter over rows of floats.
enum Convolution {
    /// The number of floats after the last samples that the horizontal passes may read with a weight of zero.
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

    /// Adds four rows, multiplied by their weights, to each of the sums with the indices in `range`. The sum with index
    /// `i` is the row `i % capacity` of `sums`.
    ///
    /// Rows and sums are `floats` apart, a multiple of 16. `weights` has four weights for each sum.
    static func addFourRows(
        _ rows: UnsafePointer<Float>, weights: UnsafePointer<Float>, to range: Range<Int>, of capacity: Int,
        floats: Int, sums: UnsafeMutablePointer<Float>
    ) {
        alcedo_add_four_rows(rows, weights, range.lowerBound, range.count, capacity, floats, sums)
    }

    /// Computes four rows, with four floats per pixel, from the samples and weights in `table`. The rows of `out` are
    /// `floats` apart.
    ///
    /// The samples are stored as ``verticalByFour(rows:weights:floats:into:)`` stores them. Reads up to ``slack``
    /// floats after the last samples, which must be finite.
    static func horizontalByFour(
        samples: UnsafePointer<Float>, table: WeightTable, floats: Int, into out: UnsafeMutablePointer<Float>
    ) {
        table.withUnsafePointers { first, count, weights in
            alcedo_filter_four_rows(samples, first, count, weights, table.stride, table.length, out, floats)
        }
    }

    /// Computes each pixel of `out` from the samples and weights in `table`.
    ///
    /// Reads the samples in the table and up to ``slack`` floats after the row, which must be finite. Writes
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

/// The source samples and weights of each result pixel along one axis.
struct WeightTable {
    /// The number of source samples for each result pixel.
    let scale: Double
    /// The maximum number of weights of a result pixel.
    let taps: Int
    /// The number of stored weights for each result pixel, a multiple of four. Unused weights are zero.
    let stride: Int
    /// The first source sample of each result pixel. The values never decrease.
    private(set) var first: [Int] = []
    /// The number of weights of each result pixel, at least one.
    private(set) var count: [Int] = []
    /// The weights, ``stride`` for each result pixel. The weights of each pixel add up to 1.
    private(set) var weights: [Float]

    /// Creates the table in O(*length* × *taps*).
    ///
    /// - Parameters:
    ///   - samples: The number of source samples, at least one.
    ///   - start: The position of the result's edge in the source, in samples. Default: 0.
    ///   - extent: The length of the result in the source, in samples.
    ///   - length: The number of result pixels, at least one.
    ///   - filter: The filter that computes the weights.
    init(samples: Int, start: Double = 0, extent: Double, length: Int, filter: ResizeFilter) {
        scale = extent / Double(length)
        let stretch = max(scale, 1)
        // At scale 1, every filter is 1 at its center and 0 at the other samples.
        let reach = scale == 1 && start == start.rounded() ? 0.5 : filter.radius * stretch
        taps = Self.taps(samples, reach)
        stride = (taps + 3) / 4 * 4
        weights = [Float](repeating: 0, count: stride * length)
        first.reserveCapacity(length)
        count.reserveCapacity(length)
        var row = [Double](repeating: 0, count: taps)
        for index in 0..<length {
            let center = start + (Double(index) + 0.5) * scale
            let low = min(samples - 1, max(0, Int(center - reach + 0.5)))
            let high = min(samples, low + taps, max(low + 1, Int(center + reach + 0.5)))
            var sum = 0.0
            for sample in low..<high {
                row[sample - low] = filter.weight(at: (Double(sample) + 0.5 - center) / stretch)
                sum += row[sample - low]
            }
            for offset in 0..<high - low { weights[index * stride + offset] = Float(row[offset] / sum) }
            first.append(low)
            count.append(high - low)
        }
    }

    private static func taps(_ samples: Int, _ reach: Double) -> Int {
        min(samples, Int(min(reach.rounded(.up), 1e9)) * 2 + 1)
    }

    /// Returns the number of weights that a table stores. Saturates at `Int.max`.
    static func weightCount(samples: Int, extent: Double, length: Int, filter: ResizeFilter) -> Int {
        let (count, overflow) = (taps(samples, filter.radius * max(extent / Double(length), 1)) + 3)
            .multipliedReportingOverflow(by: length)
        return overflow ? .max : count
    }

    /// The number of result pixels.
    var length: Int { first.count }

    /// Returns the range of the samples with a weight in any of the result pixels in `range`, which must not be empty.
    func samples(of range: Range<Int>) -> Range<Int> {
        first[range.lowerBound]..<first[range.upperBound - 1] + count[range.upperBound - 1]
    }

    /// Returns the maximum number of samples with a weight in any of `count` consecutive result pixels, of which the
    /// first is a multiple of `count`.
    func sampleCount(of count: Int) -> Int {
        Swift.stride(from: 0, to: length, by: count)
            .lazy.map { samples(of: $0..<min($0 + count, length)).count }.max() ?? 1
    }

    /// Returns the maximum number of result pixels that have begun and are not complete while samples are taken in
    /// groups of `count`.
    func overlap(of count: Int) -> Int {
        var (maximum, next) = (1, 0)
        for index in 0..<length {
            // The pixels that are complete before the group in which this one begins.
            let group = first[index] - first[index] % count
            while next < index, samples(of: next..<next + 1).upperBound <= group { next += 1 }
            maximum = max(maximum, index - next + 1)
        }
        return maximum
    }

    /// Writes the weights of up to four result pixels: for each of their samples the weight in each result pixel, or
    /// zero. Writes four floats for each sample in `samples(of: range)`.
    func writeWeights(of range: Range<Int>, into out: UnsafeMutablePointer<Float>) {
        let samples = samples(of: range)
        out.update(repeating: 0, count: samples.count * 4)
        for (place, index) in range.enumerated() {
            for offset in 0..<count[index] {
                out[(first[index] - samples.lowerBound + offset) * 4 + place] = weights[index * stride + offset]
            }
        }
    }

    /// Writes the weights of up to `width` samples: for each result pixel in `range` the weight of each sample, or
    /// zero.
    func writeWeights(
        of range: Range<Int>, samples: Range<Int>, by width: Int, into out: UnsafeMutablePointer<Float>
    ) {
        out.update(repeating: 0, count: range.count * width)
        for (place, index) in range.enumerated() {
            let used = samples.clamped(to: first[index]..<first[index] + count[index])
            for sample in used {
                out[place * width + sample - samples.lowerBound] = weights[index * stride + sample - first[index]]
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
