import AlcedoCore

/// A picture in at most 256 colours.
struct SixelPicture {
    /// A fixed palette with finer steps where the eye sees finer: 6 levels of red, 7 of green, 6 of blue.
    private static let levels = SIMD3<Int>(6, 7, 6)

    /// Where a step of rounding begins, in 64ths: an ordered dither, because one that spreads errors flickers when the
    /// pictures move. Source: B. E. Bayer, "An optimum method for two-level rendition of continuous-tone pictures", 1973.
    private static let thresholds: [Int] = (0..<64).map { place in
        let (x, y) = (place % 8, place / 8)
        return (0..<3).reduce(0) { sum, bit in
            let (a, b) = (x >> bit & 1, y >> bit & 1)
            return sum + ((a ^ b) * 2 + b) << (2 * (2 - bit))
        }
    }

    let size: PixelSize
    /// Red, green, blue.
    let palette: [SIMD3<UInt8>]
    /// One for each pixel, row after row.
    let indices: [UInt8]

    /// The exact colours, when there are few; else the nearest mixtures of fixed ones. O(*w* × *h*).
    ///
    /// - Parameter pixels: Four bytes a pixel, opaque.
    init(_ pixels: PixelBuffer) {
        size = pixels.size
        var indices: [UInt8] = []
        indices.reserveCapacity(size.pixelCount)
        let exact = ExactPalette(pixels)
        for y in 0..<pixels.height {
            let row = pixels.row(y)
            for x in 0..<pixels.width {
                if let exact {
                    indices.append(exact.index(of: row.unsafeLoad(fromByteOffset: 4 * x, as: UInt32.self)) ?? 0)
                } else {
                    let pixel = row.unsafeLoad(fromByteOffset: 4 * x, as: SIMD4<UInt8>.self)
                    indices.append(Self.mixture(of: pixel, x: x, y: y))
                }
            }
        }
        self.indices = indices
        palette = exact.map { $0.colors.map(Self.color) } ?? Self.fixed
    }

    private static let fixed: [SIMD3<UInt8>] = (0..<levels.x * levels.y * levels.z).map { index in
        let steps = SIMD3(index / (levels.y * levels.z), index / levels.z % levels.y, index % levels.z)
        return SIMD3(truncatingIfNeeded: steps &* 255 / (levels &- 1))
    }

    private static func color(_ pixel: UInt32) -> SIMD3<UInt8> {
        let bytes = withUnsafeBytes(of: pixel) { Array($0) }
        return SIMD3(bytes[0], bytes[1], bytes[2])
    }

    private static func mixture(of pixel: SIMD4<UInt8>, x: Int, y: Int) -> UInt8 {
        let threshold = thresholds[y % 8 * 8 + x % 8] * 255 / 64
        let samples = SIMD3<Int>(Int(pixel.x), Int(pixel.y), Int(pixel.z))
        let steps = (samples &* (levels &- 1) &+ threshold) / 255
        return UInt8(truncatingIfNeeded: (steps.x * levels.y + steps.y) * levels.z + steps.z)
    }
}
