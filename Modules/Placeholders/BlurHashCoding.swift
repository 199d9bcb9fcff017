import AlcedoCore
import AlcedoLibc

/// The components of a BlurHash as linear colors, and the conversion between them and pixels.
struct BlurHashCoding {
    private let components: (x: Int, y: Int)
    private let factors: [SIMD3<Double>]
    private let columns: CosineTable
    private let rows: CosineTable

    /// Reads the components of a valid hash.
    init(_ digits: [UInt8], _ components: (x: Int, y: Int), _ size: PixelSize) {
        self.components = components
        columns = CosineTable(count: components.x, length: size.width, offset: 0)
        rows = CosineTable(count: components.y, length: size.height, offset: 0)
        let scale = Double(digits[1] + 1) / 166
        let average = Base83.number(of: digits[2..<6])
        let first = SIMD3(average >> 16, average >> 8 & 255, average & 255)
        var factors = [SIMD3(Self.linear(first.x & 255), Self.linear(first.y), Self.linear(first.z))]
        for start in stride(from: 6, to: digits.count, by: 2) {
            let value = Base83.number(of: digits[start..<start + 2])
            let parts = SIMD3(Double(value / (19 * 19)), Double(value / 19 % 19), Double(value % 19))
            let signed = (parts - 9) / 9
            factors.append(signed * SIMD3(abs(signed.x), abs(signed.y), abs(signed.z)) * scale)
        }
        self.factors = factors
    }

    /// Returns a pixel: red, green, blue and 255.
    func pixel(_ x: Int, _ y: Int) -> SIMD4<UInt8> {
        var color = SIMD3<Double>.zero
        for j in 0..<components.y {
            for i in 0..<components.x {
                color += factors[j * components.x + i] * (columns[i, x] * rows[j, y])
            }
        }
        return SIMD4(Self.encoded(color.x), Self.encoded(color.y), Self.encoded(color.z), 255)
    }

    /// Returns the digits of the hash of an image, drawn on white.
    static func digits(of image: ReducedImage, _ components: (x: Int, y: Int)) -> [UInt8] {
        let size = image.size
        let pixels = image.pixels.map { pixel in
            let drawn = pixel * pixel.w + SIMD4(repeating: 1 - pixel.w)
            return SIMD3(linear(drawn.x), linear(drawn.y), linear(drawn.z))
        }
        let columns = CosineTable(count: components.x, length: size.width, offset: 0)
        let rows = CosineTable(count: components.y, length: size.height, offset: 0)
        var factors: [SIMD3<Double>] = []
        for j in 0..<components.y {
            for i in 0..<components.x {
                var sum = SIMD3<Double>.zero
                for y in 0..<size.height {
                    for x in 0..<size.width { sum += pixels[y * size.width + x] * (columns[i, x] * rows[j, y]) }
                }
                factors.append(sum * ((i == 0 && j == 0 ? 1 : 2) / Double(size.pixelCount)))
            }
        }
        return digits(of: factors, components)
    }

    private static func digits(of factors: [SIMD3<Double>], _ components: (x: Int, y: Int)) -> [UInt8] {
        let average = factors[0]
        let others = factors.dropFirst()
        let largest = others.reduce(0) { max($0, abs($1.x), abs($1.y), abs($1.z)) }
        let quantized = others.isEmpty ? 0 : max(0, min(82, Int(largest * 166 - 0.5)))
        let scale = others.isEmpty ? 1 : Double(quantized + 1) / 166
        let color = Int(encoded(average.x)) << 16 | Int(encoded(average.y)) << 8 | Int(encoded(average.z))
        var digits = Base83.digits(of: components.x - 1 + (components.y - 1) * 9, count: 1)
        digits += Base83.digits(of: quantized, count: 1) + Base83.digits(of: color, count: 4)
        for factor in others {
            let parts = (0..<3).map { part in
                let ratio = factor[part] / scale
                let root = abs(ratio).squareRoot() * (ratio < 0 ? -1 : 1)
                return max(0, min(18, Int((root * 9 + 9.5).rounded(.down))))
            }
            digits += Base83.digits(of: parts[0] * 19 * 19 + parts[1] * 19 + parts[2], count: 2)
        }
        return digits
    }

    private static func linear(_ sample: Int) -> Double { linear(Double(sample) / 255) }

    /// Returns the linear value of an sRGB sample from 0 to 1. Source: IEC 61966-2-1.
    private static func linear(_ sample: Double) -> Double {
        sample <= 0.04045 ? sample / 12.92 : pow((sample + 0.055) / 1.055, 2.4)
    }

    /// Returns the sRGB sample of a linear value, from 0 to 255, rounded to nearest.
    private static func encoded(_ linear: Double) -> UInt8 {
        let value = max(0, min(1, linear))
        let sample = value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
        return UInt8(sample * 255 + 0.5)
    }
}
