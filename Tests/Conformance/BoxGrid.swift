import AlcedoCore

/// Means of red, green, blue and alpha of cells that divide an image evenly, rounded half up.
struct BoxGrid {
    let means: [UInt8]

    /// - Parameters:
    ///   - pixels: Straight or opaque RGBA8.
    ///   - columns: The number of cells in a row.
    ///   - rows: The number of rows of cells.
    ///   - isPremultiplied: Whether color is multiplied by alpha first. Default: false.
    init(_ pixels: PixelBuffer, columns: Int, rows: Int, isPremultiplied: Bool = false) {
        var means: [UInt8] = []
        for row in 0..<rows {
            for column in 0..<columns {
                let top = row * pixels.height / rows
                let bottom = (row + 1) * pixels.height / rows
                let left = column * pixels.width / columns
                let right = (column + 1) * pixels.width / columns
                for channel in 0..<4 {
                    let isWeighted = isPremultiplied && channel < 3
                    let count = (bottom - top) * (right - left) * (isWeighted ? 255 : 1)
                    var sum = 0
                    for y in top..<bottom {
                        let line = pixels.row(y)
                        for x in left..<right {
                            let sample = Int(line.unsafeLoad(fromByteOffset: 4 * x + channel, as: UInt8.self))
                            let alpha = isWeighted ? line.unsafeLoad(fromByteOffset: 4 * x + 3, as: UInt8.self) : 1
                            sum += sample * Int(alpha)
                        }
                    }
                    means.append(UInt8((2 * sum + count) / (2 * count)))
                }
            }
        }
        self.means = means
    }

    /// Whether every pixel has a color, within the rounding of straight color from premultiplied color.
    static func isFlat(_ pixels: PixelBuffer, _ color: [UInt8]) -> Bool {
        (0..<pixels.height).allSatisfy { y in
            let line = pixels.row(y)
            return (0..<4 * pixels.width).allSatisfy {
                abs(Int(line.unsafeLoad(fromByteOffset: $0, as: UInt8.self)) - Int(color[$0 % 4])) <= 2
            }
        }
    }

    /// Returns whether the means are within the tolerance of the reference.
    func isNear(_ reference: some Collection<UInt8>, _ tolerance: Manifest.BoxReference.Tolerance) -> Bool {
        guard reference.count == means.count else { return false }
        let differences = zip(means, reference).map { abs(Int($0) - Int($1)) }
        let mean = Double(differences.reduce(0, +)) / Double(max(1, differences.count))
        return mean <= tolerance.mean && (differences.max() ?? 0) <= tolerance.max
    }
}
