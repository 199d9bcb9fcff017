private import CSampleKernels

/// A type of numbers in which a resampler computes its two passes.
protocol FilterSample: BitwiseCopyable, Sendable {
    /// The layout of the numbers of a row of pixels.
    associatedtype Row: FilterRow where Row.Sample == Self
    /// The number of weights that a kernel reads at once.
    static var step: Int { get }

    /// Divides weights by their sum and converts them.
    static func normalize(
        _ weights: UnsafeBufferPointer<Double>, sum: Double, into out: UnsafeMutablePointer<Self>)

    /// Writes the weighted sums along a row.
    static func filter(
        _ row: UnsafePointer<Self>, _ source: Row, _ table: WeightTable<Self>, into out: UnsafeMutablePointer<Self>,
        _ result: Row)

    /// Writes the weighted sum of rows.
    static func sum(
        _ rows: UnsafeBufferPointer<UnsafePointer<Self>>, _ weights: UnsafePointer<Self>, _ row: Row,
        into out: UnsafeMutablePointer<Self>)
}

/// The layout of the numbers of a row of pixels.
protocol FilterRow {
    associatedtype Sample
    init(width: Int, _ plan: ResamplingPlan)
    /// The length of the row, including the numbers after the last pixel that kernels may read.
    var count: Int { get }
    /// Converts a row of pixels to numbers, with color multiplied by alpha.
    func read(_ row: UnsafeRawPointer, into out: UnsafeMutablePointer<Sample>)
    /// Converts numbers to a row of pixels. May overwrite the numbers.
    func write(_ row: UnsafeMutablePointer<Sample>, to out: UnsafeMutableRawPointer)
}

/// The arithmetic for 8-bit samples: fixed-point numbers, of which a vector has eight. Samples have 7 bits of fraction,
/// weights 14.
extension Int16: FilterSample {
    static let step = 8
    private static let one = 16_384.0

    /// A row of planes: gray, or red, green, blue, and alpha unless the image is opaque.
    struct Row: FilterRow {
        let width: Int
        let planeCount: Int
        /// The number of samples of a plane, with those after the last pixel that kernels may read.
        let plane: Int
        let isStraight: Bool

        init(width: Int, _ plan: ResamplingPlan) {
            self.width = width
            planeCount = plan.layout.channels == 1 ? 1 : plan.isOpaque ? 3 : 4
            plane = (width + 23) / 16 * 16
            isStraight = plan.layout == .straight8
        }

        var count: Int { plane * planeCount }

        func read(_ row: UnsafeRawPointer, into out: UnsafeMutablePointer<Int16>) {
            let bytes = row.assumingMemoryBound(to: UInt8.self)
            guard isStraight else { return alcedo_split_pixels(bytes, width, planeCount, plane, out) }
            alcedo_split_straight_pixels(bytes, width, plane, out)
        }

        func write(_ row: UnsafeMutablePointer<Int16>, to out: UnsafeMutableRawPointer) {
            let bytes = out.assumingMemoryBound(to: UInt8.self)
            guard isStraight else { return alcedo_join_pixels(row, width, planeCount, plane, bytes) }
            alcedo_join_straight_pixels(row, width, plane, bytes)
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
        _ row: UnsafePointer<Int16>, _ source: Row, _ table: WeightTable<Int16>, into out: UnsafeMutablePointer<Int16>,
        _ result: Row
    ) {
        table.withUnsafePointers { first, count, weights in
            alcedo_filter_planes(
                row, source.planeCount, source.plane, first, count, weights, table.stride, table.length, out,
                result.plane)
        }
    }

    static func sum(
        _ rows: UnsafeBufferPointer<UnsafePointer<Int16>>, _ weights: UnsafePointer<Int16>, _ row: Row,
        into out: UnsafeMutablePointer<Int16>
    ) {
        guard let first = rows.baseAddress else { return }
        alcedo_sum_planes(first, weights, rows.count, row.count, out)
    }
}

/// The arithmetic for 16-bit samples and linear light.
extension Float: FilterSample {
    static let step = 4

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

        func read(_ row: UnsafeRawPointer, into out: UnsafeMutablePointer<Float>) {
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
        _ row: UnsafePointer<Float>, _ source: Row, _ table: WeightTable<Float>, into out: UnsafeMutablePointer<Float>,
        _ result: Row
    ) {
        let maximum = source.layout.maximum
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
