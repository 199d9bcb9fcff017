/// A color as luminance (L), yellow-blue difference (P), red-green difference (Q) and alpha (A).
struct LPQA {
    var values: SIMD4<Double>

    init(_ values: SIMD4<Double>) { self.values = values }

    /// Converts red, green, blue and alpha, from 0 to 1.
    init(rgba: SIMD4<Double>) {
        values = SIMD4(
            (rgba.x + rgba.y + rgba.z) / 3, (rgba.x + rgba.y) / 2 - rgba.z, rgba.x - rgba.y, rgba.w)
    }

    /// Red, green, blue and alpha. They can be outside 0 to 1.
    var rgba: SIMD4<Double> {
        let blue = values.x - 2.0 / 3.0 * values.y
        let red = (3 * values.x - blue + values.z) / 2
        return SIMD4(red, red - values.z, blue, values.w)
    }
}

/// The header of a ThumbHash, and the numbers of coefficients that follow it.
struct ThumbHashHeader {
    let average: SIMD4<Double>
    /// The largest magnitudes of the coefficients of each channel.
    let scales: SIMD4<Double>
    let hasAlpha: Bool
    let isLandscape: Bool
    /// The number of luminance coefficients in the shorter direction, from 1 to 7, or 0 in an invalid hash.
    let shortCount: Int

    /// Reads a header. Missing bytes count as zero.
    init(_ bytes: [UInt8]) {
        let byte = { (index: Int) in index < bytes.count ? Int(bytes[index]) : 0 }
        let color = byte(0) | byte(1) << 8 | byte(2) << 16
        let shape = byte(3) | byte(4) << 8
        hasAlpha = color >> 23 != 0
        isLandscape = shape >> 15 != 0
        shortCount = shape & 7
        average = SIMD4(
            Double(color & 63) / 63, Double(color >> 6 & 63) / 31.5 - 1, Double(color >> 12 & 63) / 31.5 - 1,
            hasAlpha ? Double(byte(5) & 15) / 15 : 1)
        scales = SIMD4(
            Double(color >> 18 & 31) / 31, Double(shape >> 3 & 63) / 63, Double(shape >> 9 & 63) / 63,
            hasAlpha ? Double(byte(5) >> 4) / 15 : 0)
    }

    /// The number of luminance coefficients in the longer direction.
    private var longCount: Int { hasAlpha ? 5 : 7 }

    /// The numbers of coefficients of each channel in each direction.
    var counts: [(x: Int, y: Int)] {
        let (long, short) = (max(3, longCount), max(3, shortCount))
        let luminance = isLandscape ? (x: long, y: short) : (x: short, y: long)
        return [luminance, (3, 3), (3, 3)] + (hasAlpha ? [(5, 5)] : [])
    }

    /// The width of the image divided by its height. A number of 0 coefficients counts as 1.
    var aspectRatio: Double {
        let ratio = Double(longCount) / Double(max(1, shortCount))
        return isLandscape ? ratio : 1 / ratio
    }

    /// The number of bytes before the coefficients.
    var coefficientStart: Int { hasAlpha ? 6 : 5 }

    /// The number of bytes of the hash. Coefficients have four bits.
    var byteCount: Int {
        let count = counts.reduce(0) { $0 + Self.indices($1).count }
        return coefficientStart + (count + 1) / 2
    }

    /// Returns the coefficients of a channel in their order, without the average: those in one triangle.
    static func indices(_ count: (x: Int, y: Int)) -> [(x: Int, y: Int)] {
        var indices: [(x: Int, y: Int)] = []
        for y in 0..<count.y {
            for x in 0..<count.x where (x > 0 || y > 0) && x * count.y < count.x * (count.y - y) {
                indices.append((x, y))
            }
        }
        return indices
    }
}
