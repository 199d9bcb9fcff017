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
