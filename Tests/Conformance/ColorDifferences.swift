import AlcedoCore
import AlcedoLibc

/// The perceived differences (ΔE2000) between colors in sRGB and their references.
///
/// Source: Sharma, Wu and Dalal, "The CIEDE2000 Color-Difference Formula", Color Research & Application 30 (2005).
struct ColorDifferences {
    private var values: [Double] = []

    /// Adds the differences of cells of red, green, blue and alpha. Cells that are transparent in the reference are
    /// left out.
    mutating func add(_ means: [UInt8], _ reference: [UInt8]) {
        for cell in stride(from: 0, to: min(means.count, reference.count) - 3, by: 4) where reference[cell + 3] > 0 {
            values.append(LabColor(means[cell..<cell + 3]).difference(from: LabColor(reference[cell..<cell + 3])))
        }
    }

    /// Whether the differences are below 1 at the median and below 2 at the 99th percentile.
    var areSmall: Bool { percentile(50) < 1 && percentile(99) < 2 }

    /// The median and the 99th percentile; empty without cells.
    var text: String {
        guard !values.isEmpty else { return "" }
        let (median, high) = (Self.rounded(percentile(50)), Self.rounded(percentile(99)))
        return "colors in sRGB: ΔE2000 \(median) at the median, \(high) at the 99th percentile\n"
    }

    private func percentile(_ percent: Int) -> Double {
        values.isEmpty ? 0 : values.sorted()[(values.count - 1) * percent / 100]
    }

    private static func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}

/// A color in CIELAB with the white point D65.
private struct LabColor {
    private let l: Double
    private let a: Double
    private let b: Double

    /// Creates a color from sRGB samples.
    init(_ samples: ArraySlice<UInt8>) {
        let light = samples.map { TransferFunction.sRGB.light(Double($0) / 255) }
        // X, Y and Z, each divided by that of white.
        let rows = [
            [0.4339499, 0.3762098, 0.1898403], [0.2126729, 0.7151522, 0.0721749], [0.0177566, 0.1094679, 0.8727755],
        ]
        let values = rows.map { row -> Double in
            let t = row[0] * light[0] + row[1] * light[1] + row[2] * light[2]
            return t > 0.008856452 ? cbrt(t) : (903.2963 * t + 16) / 116
        }
        l = 116 * values[1] - 16
        a = 500 * (values[0] - values[1])
        b = 200 * (values[1] - values[2])
    }

    func difference(from other: LabColor) -> Double {
        let g = (1 - Self.saturation((hypot(a, b) + hypot(other.a, other.b)) / 2)) / 2
        let (a1, a2) = (a * (1 + g), other.a * (1 + g))
        let (c1, c2) = (hypot(a1, b), hypot(a2, other.b))
        let (h1, h2) = (Self.hue(a1, b), Self.hue(a2, other.b))
        var turn = 0.0
        var hue = h1 + h2
        if c1 * c2 > 0 {
            turn = h2 - h1
            hue = (h1 + h2) / 2
            if abs(h2 - h1) > Double.pi {
                turn += h2 > h1 ? -2 * Double.pi : 2 * Double.pi
                hue += h1 + h2 < 2 * Double.pi ? Double.pi : -Double.pi
            }
        }
        let chroma = (c1 + c2) / 2
        let distance = (l + other.l) / 2 - 50
        let square = distance * distance
        var t = 1 - 0.17 * cos(hue - Double.pi / 6)
        t += 0.24 * cos(2 * hue)
        t += 0.32 * cos(3 * hue + Double.pi / 30)
        t -= 0.20 * cos(4 * hue - 0.35 * Double.pi)
        let root = (20 + square).squareRoot()
        let dl = (other.l - l) / (1 + 0.015 * square / root)
        let dc = (c2 - c1) / (1 + 0.045 * chroma)
        let product = (c1 * c2).squareRoot()
        let dh = 2 * product * sin(turn / 2) / (1 + 0.015 * chroma * t)
        let bend = (hue * 180 / Double.pi - 275) / 25
        let rotation = -2 * Self.saturation(chroma) * sin(Double.pi / 3 * exp(-bend * bend))
        let sum = dl * dl + dc * dc + dh * dh + rotation * dc * dh
        return max(0, sum).squareRoot()
    }

    private static func saturation(_ chroma: Double) -> Double {
        let power = pow(chroma, 7)
        return (power / (power + 6_103_515_625)).squareRoot()
    }

    /// Returns the angle from 0 to two times pi.
    private static func hue(_ a: Double, _ b: Double) -> Double {
        let angle = atan2(b, a)
        return angle < 0 ? angle + 2 * Double.pi : angle
    }
}
