/// The source samples and weights of each result pixel along one axis.
struct WeightTable<Weight: FilterSample> {
    /// The number of stored weights for each result pixel, a multiple of `Weight.step`. Unused weights are zero.
    let stride: Int
    /// The first source sample of each result pixel. The values never decrease.
    private(set) var first: [Int] = []
    /// The number of weights of each result pixel, at least one.
    private(set) var count: [Int] = []
    /// The weights, ``stride`` for each result pixel. The weights of each pixel add up to 1.
    private(set) var weights: [Weight]

    /// Creates the table in O(*length* × *taps*).
    ///
    /// - Parameters:
    ///   - samples: The number of source samples, at least one.
    ///   - start: The position of the result's edge in the source, in samples. Default: 0.
    ///   - extent: The length of the result in the source, in samples.
    ///   - length: The number of result pixels, at least one.
    ///   - filter: The filter that computes the weights.
    ///   - covered: The part of the source, in samples, that belongs to the image. A sample at its edge counts by the
    ///     share of it inside. Default: nil, all samples.
    ///   - alignment: The number of which the first sample of each result pixel is a multiple. Default: 1.
    init(
        samples: Int, start: Double = 0, extent: Double, length: Int, filter: ResizeFilter,
        covered: ClosedRange<Double>? = nil, alignment: Int = 1
    ) {
        let scale = extent / Double(length)
        let stretch = max(scale, 1)
        // At scale 1, every filter is 1 at its center and 0 at the other samples.
        let reach = scale == 1 && start == start.rounded() ? 0.5 : filter.radius * stretch
        let taps = Self.taps(samples, reach, alignment)
        stride = Self.roundedUp(taps)
        weights = Array(unsafeUninitializedCapacity: stride * length) { memory, count in
            count = memory.count
            UnsafeMutableRawBufferPointer(memory).initializeMemory(as: UInt8.self, repeating: 0)
        }
        first.reserveCapacity(length)
        count.reserveCapacity(length)
        var row = [Double](repeating: 0, count: taps)
        for index in 0..<length {
            let center = start + (Double(index) + 0.5) * scale
            let nearest = min(samples - 1, max(0, Int(center - reach + 0.5)))
            let low = nearest - nearest % alignment
            let high = min(samples, low + taps, max(nearest + 1, Int(center + reach + 0.5)))
            var sum = 0.0
            for sample in low..<high {
                var weight = filter.weight(at: (Double(sample) + 0.5 - center) / stretch)
                if let covered { weight *= Self.share(of: sample, in: covered) }
                row[sample - low] = weight
                sum += weight
            }
            // At an edge, rounding can leave no sample with a weight. The nearest one then stands for all.
            if sum == 0 { (row[nearest - low], sum) = (1, 1) }
            weights.withUnsafeMutableBufferPointer { weights in
                row.withUnsafeBufferPointer { row in
                    guard let out = weights.baseAddress else { return }
                    Weight.normalize(.init(rebasing: row[..<(high - low)]), sum: sum, into: out + index * stride)
                }
            }
            first.append(low)
            count.append(high - low)
        }
    }

    /// Returns the share of a sample, from 0 to 1, that lies in a part of the source.
    private static func share(of sample: Int, in part: ClosedRange<Double>) -> Double {
        max(0, min(Double(sample + 1), part.upperBound) - max(Double(sample), part.lowerBound))
    }

    /// Makes the first sample with a weight the sample 0 of the table. Returns the range of the samples with a weight.
    mutating func removeUnusedSamples() -> Range<Int> {
        let lower = first.first ?? 0
        let upper = zip(first, count).reduce(lower) { max($0, $1.0 + $1.1) }
        for index in first.indices { first[index] -= lower }
        return lower..<upper
    }

    private static func taps(_ samples: Int, _ reach: Double, _ alignment: Int) -> Int {
        min(samples, Int(min(reach.rounded(.up), 1e9)) * 2 + alignment)
    }

    private static func roundedUp(_ taps: Int) -> Int { (taps + Weight.step - 1) / Weight.step * Weight.step }

    /// Returns the maximum number of weights of a result pixel, and the approximate number of bytes that a table holds
    /// at most, also while it is created. The parameters are those of the initializer.
    static func requirements(
        samples: Int, extent: Double, length: Int, filter: ResizeFilter, alignment: Int = 1
    ) -> (taps: Int, byteCount: Double) {
        let taps = taps(samples, filter.radius * max(extent / Double(length), 1), alignment)
        let pixel = roundedUp(taps) * MemoryLayout<Weight>.stride + 2 * MemoryLayout<Int>.stride
        return (taps, Double(length) * Double(pixel) + Double(taps * MemoryLayout<Double>.stride))
    }

    /// The number of result pixels.
    var length: Int { first.count }

    func withUnsafePointers(
        _ body: (_ first: UnsafePointer<Int>, _ count: UnsafePointer<Int>, _ weights: UnsafePointer<Weight>) -> Void
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
