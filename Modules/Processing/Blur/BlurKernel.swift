import AlcedoCore

import AlcedoLibc

/// How a Gaussian of some sigma is computed.
enum BlurKernel {
    /// An odd number of weights that add up to one.
    case weights([Float])
    /// Three averages of 2 × `radius` + 1 samples of which the two beyond count as `edge` of one.
    case boxes(radius: Int, edge: Float)

    /// Up to this sigma the weights are summed. Measured: there the averages take less time.
    static let mostSummed = 4.0
    /// Averages that follow one another.
    static let passes = 3

    /// nil when the sigma is too small to change a sample.
    init?(sigma: Double) {
        // A neighbour would weigh less than 16 bits can tell.
        guard sigma >= 0.15 else { return nil }
        guard sigma <= Self.mostSummed else {
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
