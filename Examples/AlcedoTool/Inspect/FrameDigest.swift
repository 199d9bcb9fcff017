import Alcedo

/// The SHA-256 of one frame's rows.
struct FrameDigest: Sendable, Encodable {
    let sha256: String
    /// With every pixel of alpha 0 taken for four noughts: the colour under it is a decoder's own choice.
    let sha256Alpha0Zeroed: String

    /// - Parameter pixels: Straight or opaque RGBA8.
    init(_ pixels: PixelBuffer) {
        var plain = SHA256()
        var zeroed = SHA256()
        for y in 0..<pixels.height {
            var row = pixels.row(y).withUnsafeBytes { Array($0) }
            plain.update(row)
            for alpha in stride(from: 3, to: row.count, by: 4) where row[alpha] == 0 {
                for channel in alpha - 3..<alpha { row[channel] = 0 }
            }
            zeroed.update(row)
        }
        sha256 = plain.finalizedHexadecimal()
        sha256Alpha0Zeroed = zeroed.finalizedHexadecimal()
    }
}
