private import CSampleKernels

/// One running average down the columns of rows that come one after another.
struct ColumnAverage: ~Copyable {
    private let box: RunningAverage
    private let floats: Int
    private let rows: Scratch<Float>
    private let sums: Scratch<Float>
    private var taken = 0

    /// - Parameter floats: Of each row, a multiple of 16.
    init(_ box: RunningAverage, floats: Int) {
        self.box = box
        self.floats = floats
        rows = Scratch(count: (2 * box.radius + 3) * floats)
        sums = Scratch(count: floats)
    }

    /// Takes a row; writes a row of averages to `out` and returns true once there are enough.
    mutating func push(_ row: UnsafePointer<Float>, into out: UnsafeMutablePointer<Float>) -> Bool {
        let window = 2 * box.radius + 2
        let index = taken
        taken += 1
        slot(index).update(from: row, count: floats)
        guard index >= window else {
            // Taken out first, or 6.3.1 with the thread sanitizer makes a module that is broken.
            let sums = sums.base
            // The first row counts as the edge of the first average only.
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
