import AlcedoCore

/// The computation of a ThumbHash.
struct ThumbHashEncoder {
    /// The average and the other coefficients of one channel.
    private struct Channel {
        var average = 0.0
        var scale = 0.0
        /// The coefficients divided by `scale`, mapped to the range from 0 to 1, with 0.5 for zero. If the scale is 0,
        /// all are 0.
        var coefficients: [Double] = []
    }

    let bytes: [UInt8]

    init(_ image: ReducedImage) {
        let size = image.size
        let alphaSum = image.pixels.reduce(0) { $0 + $1.w }
        let hasAlpha = alphaSum < Double(size.pixelCount)
        // Transparent pixels get the average color, so that their color does not affect the other pixels.
        let colorSum = image.pixels.reduce(SIMD4<Double>.zero) { $0 + $1 * $1.w }
        let average = alphaSum > 0 ? colorSum / alphaSum : .zero
        let values = image.pixels.map { pixel in
            var opaque = average * (1 - pixel.w) + pixel * pixel.w
            opaque.w = pixel.w
            return LPQA(rgba: opaque).values
        }
        let longest = Double(max(size.width, size.height))
        let count = { (side: Int) in
            max(1, Self.rounded(Double((hasAlpha ? 5 : 7) * side) / longest))
        }
        let (x, y) = (count(size.width), count(size.height))
        let counts = [(max(3, x), max(3, y)), (3, 3), (3, 3)] + (hasAlpha ? [(5, 5)] : [])
        let channels = counts.enumerated().map { index, count in
            Self.channel(index, of: values, size, count: (x: count.0, y: count.1))
        }
        bytes = Self.packed(channels, isLandscape: size.width > size.height, shortCount: min(x, y))
    }

    private static func channel(
        _ index: Int, of values: [SIMD4<Double>], _ size: PixelSize, count: (x: Int, y: Int)
    ) -> Channel {
        let columns = CosineTable(count: count.x, length: size.width, offset: 0.5)
        let rows = CosineTable(count: count.y, length: size.height, offset: 0.5)
        let coefficient = { (frequency: (x: Int, y: Int)) in
            var sum = 0.0
            for y in 0..<size.height {
                for x in 0..<size.width {
                    sum += values[y * size.width + x][index] * columns[frequency.x, x] * rows[frequency.y, y]
                }
            }
            return sum / Double(size.pixelCount)
        }
        var channel = Channel(average: coefficient((0, 0)))
        let coefficients = ThumbHashHeader.indices(count).map(coefficient)
        channel.scale = coefficients.reduce(0) { max($0, abs($1)) }
        channel.coefficients = coefficients.map { channel.scale > 0 ? 0.5 + 0.5 / channel.scale * $0 : $0 }
        return channel
    }

    private static func packed(_ channels: [Channel], isLandscape: Bool, shortCount: Int) -> [UInt8] {
        let (l, p, q) = (channels[0], channels[1], channels[2])
        let alpha = channels.count > 3 ? channels[3] : nil
        let color =
            rounded(63 * l.average) | rounded(31.5 + 31.5 * p.average) << 6 | rounded(31.5 + 31.5 * q.average) << 12
            | rounded(31 * l.scale) << 18 | (alpha == nil ? 0 : 1) << 23
        let shape =
            shortCount | rounded(63 * p.scale) << 3 | rounded(63 * q.scale) << 9 | (isLandscape ? 1 : 0) << 15
        var bytes = [color, color >> 8, color >> 16, shape, shape >> 8].map { UInt8(truncatingIfNeeded: $0) }
        if let alpha {
            bytes.append(UInt8(truncatingIfNeeded: rounded(15 * alpha.average) | rounded(15 * alpha.scale) << 4))
        }
        let nibbles = channels.flatMap(\.coefficients).map { UInt8(truncatingIfNeeded: rounded(15 * $0)) }
        for index in stride(from: 0, to: nibbles.count, by: 2) {
            bytes.append(nibbles[index] | (index + 1 < nibbles.count ? nibbles[index + 1] << 4 : 0))
        }
        return bytes
    }

    /// Returns a number rounded to nearest, and up in the middle.
    private static func rounded(_ value: Double) -> Int { Int((value + 0.5).rounded(.down)) }
}
