import AlcedoLibc

/// The method that computes a Gaussian of a given sigma.
enum BlurKernel {
    /// An odd number of weights whose sum is 1.
    case weights([Float])
    /// Three running averages. Each window has 2 × `radius` + 1 samples with weight 1, and one more sample on each side
    /// with weight `edge`.
    case boxes(radius: Int, edge: Float)

    /// The largest sigma whose weights are summed directly. In measurements, running averages are slower up to this
    /// value.
    static let maximumSummedSigma = 4.0
    /// The number of consecutive running averages.
    static let passes = 3

    /// Creates the kernel, or returns `nil` when the sigma is too small to change a sample.
    init?(sigma: Double) {
        // The weight of an adjacent sample is below the precision of 16 bits.
        guard sigma >= 0.15 else { return nil }
        guard sigma <= Self.maximumSummedSigma else {
            // Gwosdek et al., equations 11 to 13, for three passes.
            let variance = sigma * sigma / Double(Self.passes)
            let radius = ((12 * variance + 1).squareRoot() - 1) / 2
            let whole = radius.rounded(.down)
            let share =
                (2 * whole + 1) * (whole * (whole + 1) - 3 * variance) / (6 * (variance - (whole + 1) * (whole + 1)))
            self = .boxes(radius: Int(whole), edge: Float(share))
            return
        }
        let reach = Int((3.5 * sigma).rounded(.up))
        let raw = (-reach...reach).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = raw.reduce(0, +)
        self = .weights(raw.map { Float($0 / sum) })
    }

    /// The number of samples on each side that contribute to a result.
    var reach: Int {
        switch self {
        case .weights(let weights): weights.count / 2
        case .boxes(let radius, _): (radius + 1) * Self.passes
        }
    }

    /// Returns the number of bytes that the rows in flight need, or `Int.max` when the number overflows. The rows must
    /// be those of an image that fits in a buffer.
    func byteCount(width: Int, channels: Int) -> Int {
        let floats = SampleLayout.floatsPerRow(width, channels: channels)
        // The 12 extra rows hold intermediate results of the passes, some with repeated edges.
        let rows = floats.multipliedReportingOverflow(by: (2 * reach + 12) * MemoryLayout<Float>.stride)
        return rows.overflow ? .max : rows.partialValue
    }
}

/// A running average along a row. The cost of each result sample does not depend on the radius.
struct RunningAverage {
    let radius: Int
    /// The weight of the first sample beyond the radius on each side. The samples within the radius have weight 1.
    let edge: Float
    let share: Float

    init(radius: Int, edge: Float) {
        self.radius = radius
        self.edge = edge
        share = 1 / (Float(2 * radius + 1) + 2 * edge)
    }

    /// Writes the average of every window that lies within the row. `length` is the number of pixels in the row.
    /// Returns the number of averages.
    func average(
        _ row: UnsafePointer<Float>, _ length: Int, channels: Int, into out: UnsafeMutablePointer<Float>
    ) -> Int {
        let count = length - 2 * (radius + 1)
        if channels == 4 { color(row, count, out) } else { gray(row, count, out) }
        return count
    }

    private func color(_ row: UnsafePointer<Float>, _ count: Int, _ out: UnsafeMutablePointer<Float>) {
        let (source, target) = (UnsafeRawPointer(row), UnsafeMutableRawPointer(out))
        let load = { (x: Int) in source.load(fromByteOffset: x &* 16, as: SIMD4<Float>.self) }
        let window = 2 * radius + 2
        var sum = SIMD4<Float>(repeating: 0)
        for x in 1..<window { sum += load(x) }
        for x in 0..<count {
            let newest = load(x &+ window)
            let result = (sum + (newest + load(x)) * edge) * share
            target.storeBytes(of: result, toByteOffset: x &* 16, as: SIMD4<Float>.self)
            sum += newest - load(x &+ 1)
        }
    }

    private func gray(_ row: UnsafePointer<Float>, _ count: Int, _ out: UnsafeMutablePointer<Float>) {
        let window = 2 * radius + 2
        var sum: Float = 0
        for x in 1..<window { sum += row[x] }
        for x in 0..<count {
            let newest = row[x &+ window]
            out[x] = (sum + (newest + row[x]) * edge) * share
            sum += newest - row[x &+ 1]
        }
    }
}
