import AlcedoCore
import AlcedoLibc

/// The values of the cosine functions in one direction.
struct CosineTable {
    private let values: [Double]
    private let length: Int

    /// Creates a table of `cos(π · k · (x + offset) / length)` for `count` frequencies *k* and all positions *x*.
    init(count: Int, length: Int, offset: Double) {
        self.length = length
        values = (0..<count).flatMap { frequency in
            (0..<length).map { cos(Double.pi / Double(length) * (Double($0) + offset) * Double(frequency)) }
        }
    }

    subscript(frequency: Int, position: Int) -> Double { values[frequency * length + position] }
}

/// The pixels of a ThumbHash.
struct ThumbHashDecoder {
    private struct Coefficient {
        let x: Int
        let y: Int
        var value: Double
    }

    private let average: SIMD4<Double>
    private let channels: [[Coefficient]]
    private let columns: CosineTable
    private let rows: CosineTable

    /// Reads the coefficients. The hash must have all bytes that the header requires.
    init(_ bytes: [UInt8], _ header: ThumbHashHeader, _ size: PixelSize) {
        average = header.average
        columns = CosineTable(count: 7, length: size.width, offset: 0.5)
        rows = CosineTable(count: 7, length: size.height, offset: 0.5)
        var nibble = 0
        channels = header.counts.enumerated().map { channel, count in
            // The color differences are enlarged, because quantization makes them smaller.
            let scale = header.scales[channel] * (channel == 1 || channel == 2 ? 1.25 : 1)
            return ThumbHashHeader.indices(count).map { x, y in
                let value = bytes[header.coefficientStart + nibble / 2] >> UInt8(nibble % 2 * 4) & 15
                nibble += 1
                return Coefficient(x: x, y: y, value: (Double(value) / 7.5 - 1) * scale)
            }
        }
    }

    /// Returns a pixel: red, green, blue, alpha. Samples are rounded down, as in the defining implementation.
    func pixel(_ x: Int, _ y: Int) -> SIMD4<UInt8> {
        var values = average
        for (channel, coefficients) in channels.enumerated() {
            for coefficient in coefficients {
                values[channel] += coefficient.value * columns[coefficient.x, x] * (rows[coefficient.y, y] * 2)
            }
        }
        let scaled = LPQA(values).rgba.clamped(lowerBound: .zero, upperBound: .one) * 255
        return SIMD4<UInt8>(scaled, rounding: .towardZero)
    }
}
