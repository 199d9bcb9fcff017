private import CSampleKernels

/// A blurrer along the columns of consecutive rows. The caller repeats the outermost rows beyond the edges.
enum ColumnBlurrer: ~Copyable {
    case weights(ColumnSum)
    case boxes(ColumnCascade)

    /// Creates a blurrer. `floats` is the number of floats in a row, a multiple of 16.
    init(_ kernel: BlurKernel, floats: Int) {
        switch kernel {
        case .weights(let weights): self = .weights(ColumnSum(weights, floats: floats))
        case .boxes(let radius, let edge):
            self = .boxes(ColumnCascade(RunningAverage(radius: radius, edge: edge), floats: floats))
        }
    }

    /// Adds a row. Once there are enough rows, writes a blurred row to `out` and returns `true`.
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

/// A weighted sum of the most recent rows.
struct ColumnSum: ~Copyable {
    private let weights: [Float]
    private let floats: Int
    private let rows: Scratch<Float>
    private let pointers: Scratch<UnsafePointer<Float>>
    private var taken = 0

    /// Creates a sum. `floats` is the number of floats in a row, a multiple of 16.
    init(_ weights: [Float], floats: Int) {
        self.weights = weights
        self.floats = floats
        rows = Scratch(count: weights.count * floats)
        pointers = Scratch(count: weights.count)
    }

    /// Adds a row. Once there are as many rows as weights, writes a sum to `out` and returns `true`.
    mutating func push(_ row: UnsafePointer<Float>, into out: UnsafeMutablePointer<Float>) -> Bool {
        slot(taken).update(from: row, count: floats)
        taken += 1
        guard taken >= weights.count else { return false }
        for index in weights.indices {
            pointers.base[index] = UnsafePointer(slot(taken - weights.count + index))
        }
        weights.withUnsafeBufferPointer { weights in
            guard let base = weights.baseAddress else { return }
            alcedo_sum_rows(pointers.base, base, weights.count, floats, out)
        }
        return true
    }

    private func slot(_ index: Int) -> UnsafeMutablePointer<Float> { rows.base + index % weights.count * floats }
}

/// Three consecutive running averages.
struct ColumnCascade: ~Copyable {
    private var first: ColumnAverage
    private var second: ColumnAverage
    private var third: ColumnAverage
    private let row: Scratch<Float>
    private let other: Scratch<Float>

    /// Creates a cascade. `floats` is the number of floats in a row, a multiple of 16.
    init(_ box: RunningAverage, floats: Int) {
        first = ColumnAverage(box, floats: floats)
        second = ColumnAverage(box, floats: floats)
        third = ColumnAverage(box, floats: floats)
        row = Scratch(count: floats)
        other = Scratch(count: floats)
    }

    /// Adds a row. Once there are enough rows, writes the result of the third average to `out` and returns `true`.
    mutating func push(_ line: UnsafePointer<Float>, into out: UnsafeMutablePointer<Float>) -> Bool {
        first.push(line, into: row.base) && second.push(row.base, into: other.base) && third.push(other.base, into: out)
    }
}

/// One running average along the columns of consecutive rows.
struct ColumnAverage: ~Copyable {
    private let box: RunningAverage
    private let floats: Int
    private let rows: Scratch<Float>
    private let sums: Scratch<Float>
    private var taken = 0

    /// Creates an average. `floats` is the number of floats in a row, a multiple of 16.
    init(_ box: RunningAverage, floats: Int) {
        self.box = box
        self.floats = floats
        rows = Scratch(count: (2 * box.radius + 3) * floats)
        sums = Scratch(count: floats)
    }

    /// Adds a row. Once there are enough rows, writes a row of averages to `out` and returns `true`.
    mutating func push(_ row: UnsafePointer<Float>, into out: UnsafeMutablePointer<Float>) -> Bool {
        let window = 2 * box.radius + 2
        let index = taken
        taken += 1
        slot(index).update(from: row, count: floats)
        guard index >= window else {
            // The pointer is read before the loop, because otherwise Swift 6.3.1 emits an invalid module with the
            // thread sanitizer.
            let sums = sums.base
            // The first average uses the first row only as its edge sample.
            if index > 0 {
                for offset in 0..<floats { sums[offset] += row[offset] }
            }
            return false
        }
        let (oldest, leaving) = (slot(index - window), slot(index - window + 1))
        alcedo_average_rows(row, oldest, leaving, box.edge, box.share, floats, sums.base, out)
        return true
    }

    private func slot(_ index: Int) -> UnsafeMutablePointer<Float> {
        rows.base + index % (2 * box.radius + 3) * floats
    }
}
