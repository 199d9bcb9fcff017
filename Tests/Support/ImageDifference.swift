package import AlcedoCore
import Foundation

/// The difference between the colors of two images of the same size and format. Alpha is left out, because it would
/// lower the differences of opaque images.
package struct ImageDifference: CustomStringConvertible {
    /// The mean difference, of 255.
    package let mean: Double
    /// The fraction of samples that differ by at most 24 of 255.
    package let shareWithinLimit: Double
    /// The peak signal-to-noise ratio in dB, infinite for equal images.
    package let ratio: Double

    package var description: String { "mean \(mean), within 24: \(shareWithinLimit), \(ratio) dB" }

    package init(_ a: PixelBuffer, _ b: PixelBuffer) {
        var (sum, count, within, squares) = (0.0, 0.0, 0.0, 0.0)
        for (first, second) in zip(a.colors, b.colors) {
            let distance = abs(first - second)
            sum += distance
            squares += distance * distance
            count += 1
            within += distance <= 24 ? 1 : 0
        }
        mean = sum / max(1, count)
        shareWithinLimit = within / max(1, count)
        ratio = squares == 0 ? .infinity : 10 * log10(255 * 255 * count / squares)
    }
}

extension PixelBuffer {
    /// The samples of all pixels without alpha, from 0 to 255.
    package var colors: [Double] {
        let channels = format.isGray ? 1 : 4
        let bytes = tightBytes
        return (0..<width * height * channels).compactMap { index in
            guard channels == 1 || index % 4 != 3 else { return nil }
            guard format.isDeep else { return Double(bytes[index]) }
            return bytes.withUnsafeBytes { Double($0.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self)) } / 257
        }
    }

    /// The standard deviation of the samples of all colors, from 0 to 255.
    package var standardDeviation: Double {
        let colors = colors
        let mean = colors.reduce(0, +) / Double(colors.count)
        return (colors.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(colors.count)).squareRoot()
    }
}
