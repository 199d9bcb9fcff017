import TestSupport
import AlcedoCore

/// The formulas of the fixtures, as in `Fixtures/make.py`.
enum Samples {
    static let size = PixelSize(width: 13, height: 9)

    /// The bytes of RGBA rows.
    static func rows(_ pixel: (_ x: Int, _ y: Int) -> [Int]) -> [UInt8] {
        (0..<size.height).flatMap { y in (0..<size.width).flatMap { x in pixel(x, y).map { UInt8($0) } } }
    }

    static func rgba(_ x: Int, _ y: Int) -> [Int] {
        [19 * x, 29 * y, 5 * x * y % 256, max(0, 255 - 15 * x - 13 * y)]
    }

    static func rgb(_ x: Int, _ y: Int) -> [Int] { rgba(x, y)[..<3] + [255] }

    static func gray(_ level: Int, alpha: Int = 255) -> [Int] { [level, level, level, alpha] }

    /// Returns the high bytes of four 16-bit samples.
    static func wide(_ x: Int, _ y: Int) -> [Int] {
        [4999 * x + 37 * y, 7001 * y + 113 * x, 500 * x * y + 77, 65535 - 4001 * x - 1999 * y].map { $0 >> 8 }
    }

    static func gray(_ x: Int, _ y: Int, bits: Int) -> [Int] {
        let top = 1 << bits - 1
        return gray((3 * x + 5 * y) % (top + 1) * 255 / top)
    }

    static func palette(_ x: Int, _ y: Int, bits: Int) -> [Int] {
        let count = 1 << bits
        let index = (x + 5 * y) % count
        return [index * 255 / (count - 1), 255 - index, 3 * index % 256, 255]
    }

    static func paletteWithAlpha(_ x: Int, _ y: Int) -> [Int] {
        let index = (x + 5 * y) % 16
        return [17 * index, 255 - index, 3 * index, index < 12 ? 20 * index : 255]
    }

    static func grayWithTransparent(_ x: Int, _ y: Int) -> [Int] {
        let level = (x + y) % 4 * 85
        return gray(level, alpha: level == 85 ? 0 : 255)
    }

    static func rgbWithTransparent(_ x: Int, _ y: Int) -> [Int] {
        let level = (x + y) % 4 * 85
        return [level, 10, 20, level == 170 ? 0 : 255]
    }
}
