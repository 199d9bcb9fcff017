import AlcedoCore

/// Means of red, green, blue and alpha of cells that divide an image evenly, rounded half up.
struct BoxGrid {
    let means: [UInt8]

    /// - Parameter pixels: Straight or opaque RGBA8.
    init(_ pixels: PixelBuffer, columns: Int, rows: Int) {
        var means: [UInt8] = []
        for row in 0..<rows {
            for column in 0..<columns {
                let top = row * pixels.height / rows
                let bottom = (row + 1) * pixels.height / rows
                let left = column * pixels.width / columns
                let right = (column + 1) * pixels.width / columns
                let count = (bottom - top) * (right - left)
                for channel in 0..<4 {
                    var sum = 0
                    for y in top..<bottom {
                        let line = pixels.row(y)
                        for x in left..<right {
                            sum += Int(line.unsafeLoad(fromByteOffset: 4 * x + channel, as: UInt8.self))
                        }
                    }
                    means.append(UInt8((2 * sum + count) / (2 * count)))
                }
            }
        }
        self.means = means
    }

    /// Returns whether the means are within the tolerance of the reference.
    func isNear(_ reference: some Collection<UInt8>, _ tolerance: Manifest.BoxReference.Tolerance) -> Bool {
        guard reference.count == means.count else { return false }
        let differences = zip(means, reference).map { abs(Int($0) - Int($1)) }
        let mean = Double(differences.reduce(0, +)) / Double(max(1, differences.count))
        return mean <= tolerance.mean && (differences.max() ?? 0) <= tolerance.max
    }
}
