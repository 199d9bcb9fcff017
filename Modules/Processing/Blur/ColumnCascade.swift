/// Three running averages, one after another.
struct ColumnCascade: ~Copyable {
    private var first: ColumnAverage
    private var second: ColumnAverage
    private var third: ColumnAverage
    private let row: Scratch<Float>
    private let other: Scratch<Float>

    /// - Parameter floats: Of each row, a multiple of 16.
    init(_ box: RunningAverage, floats: Int) {
        first = ColumnAverage(box, floats: floats)
        second = ColumnAverage(box, floats: floats)
        third = ColumnAverage(box, floats: floats)
        row = Scratch(count: floats)
        other = Scratch(count: floats)
    }

    /// Takes a row; writes an average of averages of averages to `out` and returns true once there are enough.
    mutating func push(_ line: UnsafePointer<Float>, into out: UnsafeMutablePointer<Float>) -> Bool {
        first.push(line, into: row.base) && second.push(row.base, into: other.base) && third.push(other.base, into: out)
    }
}
