import AlcedoCore
import AlcedoProcessing
import FoundationEssentials

import AlcedoLibc

/// Resizing by its definition in floating point: each result pixel is a sum over the whole source, with the sums of
/// rows clamped to the range of samples.
struct ReferenceResize {
    let filter: ResizeFilter
    /// Whether samples are converted to linear light first. ``premultiplied(_:to:)`` then returns linear light.
    var inLinearLight = false

    /// Returns the premultiplied samples of the result pixel at (x, y) before rounding.
    func premultiplied(_ source: PixelBuffer, to size: PixelSize) -> [[SIMD4<Double>]] {
        let columns = axis(source.width, size.width)
        let rows = axis(source.height, size.height)
        let maximum = source.format.isDeep ? 65_535.0 : 255
        let pixels = (0..<source.height).map { y in
            (0..<source.width).map { x in
                let samples = source.pixel(x, y)
                var pixel = SIMD4<Double>(Double(samples.x), Double(samples.y), Double(samples.z), Double(samples.w))
                if inLinearLight {
                    let alpha = source.alphaMode == .premultiplied ? pixel.w : maximum
                    for channel in 0..<3 {
                        pixel[channel] = alpha == 0 ? 0 : alpha * Self.light(pixel[channel] / alpha)
                    }
                }
                if source.alphaMode == .straight {
                    let alpha = pixel.w
                    pixel = pixel * alpha / maximum
                    pixel.w = alpha
                }
                return pixel
            }
        }
        return rows.map { down in
            columns.map { across in
                var sum = SIMD4<Double>(repeating: 0)
                for (y, weight) in down {
                    var row = SIMD4<Double>(repeating: 0)
                    for (x, share) in across { row += pixels[y][x] * share }
                    row.clamp(lowerBound: SIMD4(repeating: 0), upperBound: SIMD4(repeating: maximum))
                    sum += row * weight
                }
                return sum
            }
        }
    }

    /// IEC 61966-2-1.
    static func light(_ sample: Double) -> Double {
        sample <= 0.04045 ? sample / 12.92 : pow((sample + 0.055) / 1.055, 2.4)
    }

    /// The inverse of ``light(_:)``.
    static func sample(_ light: Double) -> Double {
        light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }

    /// Returns the contributing source pixels and their weights for each result pixel of one axis.
    private func axis(_ source: Int, _ target: Int) -> [[(index: Int, weight: Double)]] {
        let ratio = Double(source) / Double(target)
        let stretch = max(1, ratio)
        return (0..<target).map { index in
            let center = (Double(index) + 0.5) * ratio
            let weights = (0..<source).map { weight((Double($0) + 0.5 - center) / stretch) }
            let sum = weights.reduce(0, +)
            return weights.enumerated().filter { $0.element != 0 }
                .map { (index: $0.offset, weight: $0.element / sum) }
        }
    }

    private func weight(_ x: Double) -> Double {
        let t = abs(x)
        switch filter {
        case .box: return x > -0.5 && x <= 0.5 ? 1 : 0
        case .bilinear: return t < 1 ? 1 - t : 0
        case .catmullRom:
            if t <= 1 { return 1.5 * t * t * t - 2.5 * t * t + 1 }
            return t < 2 ? -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2 : 0
        case .lanczos3:
            if t < 1e-12 { return 1 }
            return t < 3 ? 3 * sin(.pi * t) * sin(.pi * t / 3) / (.pi * .pi * t * t) : 0
        }
    }
}
