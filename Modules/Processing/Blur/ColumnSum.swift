/// A weighed sum of the last rows.
struct ColumnSum: ~Copyable {
    private let weights: [Float]
    private let floats: Int
    private let rows: Scratch<Float>
    private let pointers: Scratch<UnsafePointer<Float>>
    private var taken = 0

    /// - Parameter floats: Of each row, a multiple of 16.
    init(_ weights: [Float], floats: Int) {
        self.weights = weights
        self.floats = floats
        rows = Scratch(count: weights.count * floats)
        pointers = Scratch(count: weights.count)
    }

    /// Takes a row; writes a sum to `out` and returns true once there are as many rows as weights.
    mutating func push(_ row: UnsafePointer<Float>, into out: UnsafeMutablePointer<Float>) -> Bool {
        slot(taken).update(from: row, count: floats)
        taken += 1
        guard taken >= weights.count else { return false }
        for index in weights.indices {
            pointers.base[index] = UnsafePointer(slot(taken - weights.count + index))
        }
        weights.withUnsafeBufferPointer { weights in
            guard let base = weights.baseAddress else { return }
            Convolution.vertical(
                rows: UnsafeBufferPointer(start: pointers.base, count: weights.count), weights: base, floats: floats,
                into: out)
        }
        return true
    }

    private func slot(_ index: Int) -> UnsafeMutablePointer<Float> { rows.base + index % weights.count * floats }
}
