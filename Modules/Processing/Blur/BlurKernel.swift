import AlcedoCore

import AlcedoLibc

/// How a Gaussian of some sigma is computed.
enum BlurKernel {
    /// An odd number of weights that add up to one.
    case weights([Float])
    /// Three averages of 2 × `radius` + 1 samples of which the two beyond count as `edge` of one.
    case boxes(radius: Int, edge: Float)

    /// Up to this sigma the weights are summed. Measured: there the averages take less time.
    static let maximumSummedSigma = 4.0
    /// Averages that follow one another.
    static let passes = 3

    /// nil when the sigma is too small to change a sample.
    init?(sigma: Double) {
        // A neighbour would weigh less than 16 bits can tell.
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

    /// Samples on either side that a result is made of.
    var reach: Int {
        switch self {
        case .weights(let weights): weights.count / 2
        case .boxes(let radius, _): (radius + 1) * Self.passes
        }
    }

    /// Bytes that the rows in flight take, for pictures that a buffer can have; `Int.max` when they cannot be counted.
    func byteCount(for header: PixelRowHeader) -> Int {
        let floats = SampleLayout(header.format, header.alphaMode).floatsPerRow(header.size.width)
        // Those beyond the window are on their way from one pass to the next, some with the edges repeated.
        let rows = floats.multipliedReportingOverflow(by: (2 * reach + 12) * MemoryLayout<Float>.stride)
        return rows.overflow ? .max : rows.partialValue
    }
}

/// One average along a row: each sample of the result costs the same whatever the radius.
struct RunningAverage {
    let radius: Int
    /// How much the samples beyond the radius count.
    let edge: Float
    let share: Float

    init(radius: Int, edge: Float) {
        self.radius = radius
        self.edge = edge
        share = 1 / (Float(2 * radius + 1) + 2 * edge)
    }

    /// Averages `length` pixels into as many as have all their neighbours, and returns how many.
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
