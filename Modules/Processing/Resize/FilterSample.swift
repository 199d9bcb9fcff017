private import CSampleKernels

/// A type of numbers in which a resampler computes its two passes.
protocol FilterSample: BitwiseCopyable, Sendable {
    /// The layout of the numbers of a row of pixels.
    associatedtype Row: FilterRow where Row.Sample == Self
    /// The number of weights that a kernel reads at once.
    static var step: Int { get }
    /// The number of which the first sample of a sum along a row is a multiple.
    static var alignment: Int { get }
    /// The number of rows that are filtered at once.
    static var rowCount: Int { get }

    /// Divides weights by their sum and converts them.
    static func normalize(
        _ weights: UnsafeBufferPointer<Double>, sum: Double, into out: UnsafeMutablePointer<Self>)

    /// Writes the weighted sums along ``rowCount`` rows.
    static func filter(
        _ rows: UnsafePointer<Self>, _ source: Row, _ table: WeightTable<Self>,
        into out: UnsafePointer<UnsafeMutablePointer<Self>>)

    /// Writes the weighted sum of rows.
    static func sum(
        _ rows: UnsafeBufferPointer<UnsafePointer<Self>>, _ weights: UnsafePointer<Self>, _ row: Row,
        into out: UnsafeMutablePointer<Self>)
}

/// The layout of the numbers of a row of pixels.
protocol FilterRow {
    associatedtype Sample
    init(width: Int, _ plan: ResamplingPlan)
    /// The length of a row, including the numbers after the last pixel that kernels may read.
    var count: Int { get }
    /// The length of the rows that are filtered at once.
    var groupCount: Int { get }
    /// Converts a row of pixels to numbers, with color multiplied by alpha. `place` is that of the row in its group.
    func read(_ row: UnsafeRawPointer, into out: UnsafeMutablePointer<Sample>, at place: Int)
    /// Converts numbers to a row of pixels. May overwrite the numbers.
    func write(_ row: UnsafeMutablePointer<Sample>, to out: UnsafeMutableRawPointer)
}

/// The arithmetic for 8-bit samples: fixed-point numbers, of which a vector has eight. Samples have 7 bits of fraction,
/// weights 14.
///
/// A vector holds the samples of two adjacent pixels in all rows of a group, so that a sum along the rows needs no sum
/// within a vector.
extension Int16: FilterSample {
    static let step = 2
    static let alignment = 2
    static let rowCount = 4
    private static let one = 16_384.0

    /// Rows of pixels with one or four samples each.
    struct Row: FilterRow {
        let width: Int
        let channels: Int
        let isStraight: Bool
        let isOpaque: Bool

        init(width: Int, _ plan: ResamplingPlan) {
            self.width = width
            channels = plan.layout.channels
            isStraight = plan.layout == .straight8
            isOpaque = plan.isOpaque
        }

        var count: Int { (width * channels + 15) / 16 * 16 }
        var groupCount: Int { (width + 3) / 4 * 4 * channels * Int16.rowCount }

        func read(_ row: UnsafeRawPointer, into out: UnsafeMutablePointer<Int16>, at place: Int) {
            let bytes = row.assumingMemoryBound(to: UInt8.self)
            // Of each pair of pixels, the group has the samples of the first row, then of the second, and so on.
            let out = out + place * 2 * channels
            if channels == 1 {
                alcedo_read_gray(bytes, width, out)
            } else if isStraight {
                alcedo_read_straight_pixels(bytes, width, out)
            } else {
                alcedo_read_pixels(bytes, width, out)
            }
        }

        func write(_ row: UnsafeMutablePointer<Int16>, to out: UnsafeMutableRawPointer) {
            let bytes = out.assumingMemoryBound(to: UInt8.self)
            if channels == 1 {
                alcedo_write_gray(row, width, bytes)
            } else if isStraight {
                alcedo_write_straight_pixels(row, width, bytes)
            } else {
                alcedo_write_pixels(row, width, isOpaque ? 1 : 0, bytes)
            }
        }
    }

    static func normalize(
        _ weights: UnsafeBufferPointer<Double>, sum: Double, into out: UnsafeMutablePointer<Int16>
    ) {
        // Rounded weights must add up to exactly 1, or an even area would change. Rounding the running sum leaves each
        // weight within one step, and the errors of adjacent weights cancel each other.
        var (exact, rounded) = (0.0, 0)
        for (index, weight) in weights.enumerated() {
            exact += weight / sum * one
            let next = Int(exact.rounded())
            out[index] = Int16(clamping: next - rounded)
            rounded = next
        }
    }

    static func filter(
        _ rows: UnsafePointer<Int16>, _ source: Row, _ table: WeightTable<Int16>,
        into out: UnsafePointer<UnsafeMutablePointer<Int16>>
    ) {
        table.withUnsafePointers { first, count, weights in
            alcedo_filter_samples(rows, source.channels, first, count, weights, table.stride, table.length, out)
        }
    }

    static func sum(
        _ rows: UnsafeBufferPointer<UnsafePointer<Int16>>, _ weights: UnsafePointer<Int16>, _ row: Row,
        into out: UnsafeMutablePointer<Int16>
    ) {
        guard let first = rows.baseAddress else { return }
        alcedo_sum_samples(first, weights, rows.count, row.count, out)
    }
}

/// The arithmetic for 16-bit samples and linear light.
extension Float: FilterSample {
    static let step = 4
    static let alignment = 1
    static let rowCount = 1

    /// A row of pixels with one or four floats each.
    struct Row: FilterRow {
        let width: Int
        let layout: SampleLayout
        let isLinear: Bool

        init(width: Int, _ plan: ResamplingPlan) {
            self.width = width
            layout = plan.layout
            isLinear = plan.sampling.inLinearLight
        }

        /// The kernels read up to three pixels after the last one.
        var count: Int { layout.floatsPerRow(width) + 16 }
        var groupCount: Int { count }

        func read(_ row: UnsafeRawPointer, into out: UnsafeMutablePointer<Float>, at place: Int) {
            if isLinear {
                LinearRow.read(row, width: width, layout: layout, into: out)
            } else {
                RowReader.read(row, width: width, layout: layout, into: out)
            }
        }

        func write(_ row: UnsafeMutablePointer<Float>, to out: UnsafeMutableRawPointer) {
            if isLinear {
                LinearRow.write(row, width: width, layout: layout, to: out)
            } else {
                RowWriter.write(row, width: width, layout: layout, to: out)
            }
        }
    }

    static func normalize(
        _ weights: UnsafeBufferPointer<Double>, sum: Double, into out: UnsafeMutablePointer<Float>
    ) {
        for (index, weight) in weights.enumerated() { out[index] = Float(weight / sum) }
    }

    static func filter(
        _ row: UnsafePointer<Float>, _ source: Row, _ table: WeightTable<Float>,
        into out: UnsafePointer<UnsafeMutablePointer<Float>>
    ) {
        let (maximum, out) = (source.layout.maximum, out.pointee)
        table.withUnsafePointers { first, count, weights in
            guard source.layout.channels == 4 else {
                for x in 0..<table.length {
                    let sum = graySum(row + first[x], weights + x &* table.stride, count[x])
                    out[x] = max(0, min(maximum, sum))
                }
                return
            }
            alcedo_filter_pixels(row, first, count, weights, table.stride, table.length, maximum, out)
        }
    }

    static func sum(
        _ rows: UnsafeBufferPointer<UnsafePointer<Float>>, _ weights: UnsafePointer<Float>, _ row: Row,
        into out: UnsafeMutablePointer<Float>
    ) {
        guard let first = rows.baseAddress else { return }
        alcedo_sum_rows(first, weights, rows.count, row.count, out)
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
