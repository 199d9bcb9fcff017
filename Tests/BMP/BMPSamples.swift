import Foundation

/// A color by its position, so that a shifted or mirrored image differs.
func testColor(_ x: Int, _ y: Int) -> [UInt8] {
    [UInt8(40 * x + 10), UInt8(60 * y + 5), UInt8(20 * (x + y)), 255]
}

/// Files of 5 × 3 pixels of every kind, and the RGBA bytes that they must give.
struct BMPSample: Sendable, CustomStringConvertible {
    let description: String
    let file: Data
    let rgba: [UInt8]

    private static let size = (width: 5, height: 3)

    private static func grid(_ pixel: (_ x: Int, _ y: Int) -> [UInt8]) -> [[UInt8]] {
        (0..<size.height).map { y in (0..<size.width).flatMap { pixel($0, y) } }
    }

    private static func writer(bits: Int) -> BMPWriter { BMPWriter(width: size.width, height: size.height, bits: bits) }

    /// A bitmap with a palette in which index *i* is the color (3i, 255 − 3i, i).
    static func indexed(bits: Int, _ change: (inout BMPWriter) -> Void = { _ in }) -> BMPSample {
        let count = 1 << bits
        let index = { (x: Int, y: Int) in UInt8((x * 7 + y * 3 + 1) % min(count, 80)) }
        let color = { (index: UInt8) in [index * 3, 255 - index * 3, index] }
        var writer = writer(bits: bits)
        writer.palette = (0..<min(count, 80)).map { color(UInt8($0)) }
        writer.rows = (0..<size.height).map { y in
            BMPWriter.packed((0..<size.width).map { index($0, y) }, bits: bits)
        }
        change(&writer)
        return BMPSample(
            description: "\(bits) bits, header of \(writer.headerByteCount) bytes", file: writer.file,
            rgba: grid { color(index($0, $1)) + [255] }.flatMap { $0 })
    }

    private static func direct(
        _ description: String, bits: Int, expected: (_ x: Int, _ y: Int) -> [UInt8] = testColor,
        stored: (_ x: Int, _ y: Int) -> [UInt8], _ change: (inout BMPWriter) -> Void = { _ in }
    ) -> BMPSample {
        var writer = writer(bits: bits)
        writer.rows = grid(stored)
        change(&writer)
        return BMPSample(description: description, file: writer.file, rgba: grid(expected).flatMap { $0 })
    }

    private static func bgr(_ x: Int, _ y: Int) -> [UInt8] { testColor(x, y)[..<3].reversed() }

    private static func alpha(_ x: Int, _ y: Int) -> UInt8 { UInt8(50 * x) }

    private static func bgra(_ x: Int, _ y: Int) -> [UInt8] { bgr(x, y) + [alpha(x, y)] }

    private static func withAlpha(_ x: Int, _ y: Int) -> [UInt8] { testColor(x, y)[..<3] + [alpha(x, y)] }

    /// A pixel of 16 bits, in which red, green and blue have values of 0 to 31.
    private static func fiveBits(_ x: Int, _ y: Int) -> [UInt8] {
        BMPWriter.bytes((6 * x) << 10 | (10 * y) << 5 | (x + y), 2)
    }

    private static func scaledFiveBits(_ x: Int, _ y: Int) -> [UInt8] {
        [6 * x, 10 * y, x + y].map { UInt8((Double($0) * 255 / 31).rounded()) } + [255]
    }

    /// The same with six bits of green.
    private static func sixBits(_ x: Int, _ y: Int) -> [UInt8] {
        BMPWriter.bytes((6 * x) << 11 | (20 * y) << 5 | (x + y), 2)
    }

    private static func scaledSixBits(_ x: Int, _ y: Int) -> [UInt8] {
        var pixel = scaledFiveBits(x, y)
        pixel[1] = UInt8((Double(20 * y) * 255 / 63).rounded())
        return pixel
    }

    /// All kinds of uncompressed bitmaps.
    static let all: [BMPSample] = [
        indexed(bits: 1), indexed(bits: 2), indexed(bits: 4), indexed(bits: 8),
        indexed(bits: 8) { $0.headerByteCount = 12 }, indexed(bits: 1) { $0.headerByteCount = 12 },
        indexed(bits: 8) { $0.headerByteCount = 16 }, indexed(bits: 8) { $0.headerByteCount = 20 },
        indexed(bits: 4) { $0.headerByteCount = 36 }, indexed(bits: 8) { $0.headerByteCount = 42 },
        indexed(bits: 1) { $0.headerByteCount = 46 }, indexed(bits: 8) { $0.headerByteCount = 60 },
        indexed(bits: 4) { $0.headerByteCount = 64 }, indexed(bits: 8) { $0.headerByteCount = 108 },
        indexed(bits: 4) { $0.isTopDown = true },
        indexed(bits: 4) { $0.gap = [1, 2, 3, 4, 5] },
        direct("16 bits", bits: 16, expected: scaledFiveBits, stored: fiveBits),
        direct("16 bits, 5-6-5", bits: 16, expected: scaledSixBits, stored: sixBits) {
            ($0.compression, $0.masks) = (3, [0xF800, 0x07E0, 0x001F])
        },
        direct("24 bits", bits: 24, stored: bgr),
        direct("24 bits, header of 12 bytes", bits: 24, stored: bgr) {
            $0.headerByteCount = 12
        },
        direct("24 bits, from the top", bits: 24, stored: bgr) { $0.isTopDown = true },
        direct("24 bits, with a palette", bits: 24, stored: bgr) { $0.palette = [[1, 2, 3], [4, 5, 6]] },
        direct("24 bits, no offset of the pixels", bits: 24, stored: bgr) { $0.pixelOffset = 0 },
        direct("24 bits, with a profile", bits: 24, stored: bgr) {
            ($0.headerByteCount, $0.profile) = (124, [9, 8, 7, 6, 5])
        },
        direct("32 bits, unused bits set", bits: 32, stored: { bgr($0, $1) + [UInt8($0)] }),
        direct("32 bits, masks without alpha", bits: 32, stored: { testColor($0, $1)[..<3] + [77] }) {
            ($0.compression, $0.masks) = (3, [0xFF, 0xFF00, 0xFF_0000])
        },
        direct(
            "32 bits, alpha mask after the header", bits: 32, expected: withAlpha,
            stored: { [alpha($0, $1)] + bgr($0, $1) }
        ) { ($0.compression, $0.masks) = (6, [0xFF00_0000, 0xFF_0000, 0xFF00, 0xFF]) },
        direct("32 bits, header of 52 bytes", bits: 32, stored: { bgr($0, $1) + [0] }) {
            ($0.headerByteCount, $0.compression, $0.masks) = (52, 3, [0xFF_0000, 0xFF00, 0xFF])
        },
        direct("32 bits, header of 56 bytes", bits: 32, expected: withAlpha, stored: bgra) {
            ($0.headerByteCount, $0.compression, $0.masks) = (56, 3, [0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000])
        },
        direct("32 bits, version 4", bits: 32, expected: withAlpha, stored: bgra) {
            ($0.headerByteCount, $0.compression, $0.masks) = (108, 3, [0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000])
        },
        direct("32 bits, version 5, no bit fields", bits: 32, stored: { bgr($0, $1) + [3] }) {
            ($0.headerByteCount, $0.masks) = (124, [0xFF_0000, 0xFF00, 0xFF, 0])
        },
        direct("32 bits, version 5, no bit fields, alpha", bits: 32, expected: withAlpha, stored: bgra) {
            ($0.headerByteCount, $0.masks) = (124, [0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000])
        },
    ]
}
