/// The last few rows of a picture, which the vertical filter needs at once.
struct RowBand: ~Copyable {
    private let capacity: Int
    private let floats: Int
    private let rows: Scratch<Float>
    private let pointers: Scratch<UnsafePointer<Float>>

    /// - Parameters:
    ///   - capacity: Rows kept; at least one.
    ///   - floats: Floats of each, a multiple of 16.
    init(capacity: Int, floats: Int) {
        self.capacity = capacity
        self.floats = floats
        rows = Scratch(count: capacity * floats)
        pointers = Scratch(count: capacity)
    }

    /// Where row `index` of the picture is kept, until row `index + capacity` takes its place.
    func slot(_ index: Int) -> UnsafeMutablePointer<Float> { rows.base + index % capacity * floats }

    /// Adds up rows, at most as many as are kept, each times its weight.
    ///
    /// - Parameter start: Index of the first row's weight.
    func sum(
        _ range: Range<Int>, weights: [Float], from start: Int, into out: UnsafeMutablePointer<Float>
    ) {
        for (offset, index) in range.enumerated() { pointers.base[offset] = UnsafePointer(slot(index)) }
        weights.withUnsafeBufferPointer { weights in
            guard let base = weights.baseAddress else { return }
            Convolution.vertical(
                rows: UnsafeBufferPointer(start: pointers.base, count: range.count), weights: base + start,
                floats: floats, into: out)
        }
    }
}
