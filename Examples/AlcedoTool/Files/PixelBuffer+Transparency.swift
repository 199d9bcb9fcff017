import Alcedo

extension PixelBuffer {
    /// Whether the pixels have alpha samples that count.
    var mayBeTransparent: Bool { alphaMode != .opaque && (format == .rgba8 || format == .rgba16) }

    /// Whether a pixel is not opaque. O(*w* × *h*).
    var hasTransparency: Bool {
        guard mayBeTransparent else { return false }
        let sampleBytes = format.bytesPerPixel / 4
        return (0..<height).contains { y in
            row(y).withUnsafeBytes { row in
                stride(from: 3 * sampleBytes, to: row.count, by: 4 * sampleBytes).contains { alpha in
                    (alpha..<alpha + sampleBytes).contains { row[$0] != 255 }
                }
            }
        }
    }
}
