/// Blurs down the columns of rows that come one after another, the outermost repeated beyond the edges.
enum ColumnBlurrer: ~Copyable {
    case weights(ColumnSum)
    case boxes(ColumnCascade)

    /// - Parameter floats: Of each row, a multiple of 16.
    init(_ kernel: BlurKernel, floats: Int) {
        switch kernel {
        case .weights(let weights): self = .weights(ColumnSum(weights, floats: floats))
        case .boxes(let radius, let edge):
            self = .boxes(ColumnCascade(RunningAverage(radius: radius, edge: edge), floats: floats))
        }
    }

    /// Takes a row; writes a blurred one to `out` and returns true once there are enough.
    mutating func push(_ row: UnsafePointer<Float>, into out: UnsafeMutablePointer<Float>) -> Bool {
        switch consume self {
        case .weights(var sum):
            let isReady = sum.push(row, into: out)
            self = .weights(sum)
            return isReady
        case .boxes(var cascade):
            let isReady = cascade.push(row, into: out)
            self = .boxes(cascade)
            return isReady
        }
    }
}
