#if arch(x86_64)
    private import CSampleKernels
#endif

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
        #if arch(x86_64)
            alcedo_average_rows(row, oldest, leaving, box.edge, box.share, floats, sums.base, out)
        #else
            Self.portableStep(row, oldest, leaving, box, floats, sums.base, out)
        #endif
        return true
    }

    /// One row of averages, on any machine.
    static func portableStep(
        _ newest: UnsafePointer<Float>, _ oldest: UnsafePointer<Float>, _ leaving: UnsafePointer<Float>,
        _ box: RunningAverage, _ floats: Int, _ sums: UnsafeMutablePointer<Float>, _ out: UnsafeMutablePointer<Float>
    ) {
        for index in 0..<floats {
            let sum = sums[index]
            out[index] = (sum + (newest[index] + oldest[index]) * box.edge) * box.share
            sums[index] = sum + newest[index] - leaving[index]
        }
    }

    private func slot(_ index: Int) -> UnsafeMutablePointer<Float> {
        rows.base + index % (2 * box.radius + 3) * floats
    }
}
