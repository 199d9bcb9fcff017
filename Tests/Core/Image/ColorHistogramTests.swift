import AlcedoCore
import AlcedoTesting
import TestSupport
import Testing

/// Palettes of images with many colors, and the pixels that are mapped to them.
@Suite struct ColorHistogramTests {
    private let width = 48
    private let height = 32

    private func pixel(_ red: Int, _ green: Int, _ blue: Int, _ alpha: Int = 255) -> UInt32 {
        (UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | UInt32(alpha) << 24).littleEndian
    }

    private func samples(_ pixel: UInt32) -> [Int] { withUnsafeBytes(of: pixel) { $0.map { Int($0) } } }

    /// Returns the colors of an image, reduced to a number.
    private func palette(_ pixels: [UInt32], _ maximumCount: Int) throws -> [UInt32] {
        var histogram = ColorHistogram()
        pixels.withUnsafeBytes { histogram.add($0.bytes) }
        return try histogram.palette(maximumCount: maximumCount, for: .png)
    }

    /// Returns an image whose pixels are mapped to a palette.
    private func mapped(_ pixels: [UInt32], to palette: [UInt32], dithers: Bool) -> [UInt32] {
        var mapper = PaletteMapper(palette, width: width, dithers: dithers)
        var indices: [UInt8] = []
        for start in stride(from: 0, to: pixels.count, by: width) {
            pixels[start..<start + width].withUnsafeBytes { mapper.append($0.bytes, to: &indices) }
        }
        return indices.map { palette[Int($0)] }
    }

    private func image(_ color: (_ x: Int, _ y: Int) -> UInt32) -> [UInt32] {
        (0..<height).flatMap { y in (0..<width).map { x in color(x, y) } }
    }

    private var gradient: [UInt32] { image { x, y in pixel(5 * x, 8 * y, 255 - 2 * x - 3 * y) } }

    /// A gradient of color and alpha with opaque and fully transparent pixels.
    private var translucent: [UInt32] {
        image { x, y in
            if x < 8 { return pixel(9 * y % 256, x, 200) }
            return x < 12 ? pixel(5 * x, y, 3, 0) : pixel(5 * x, 8 * y, 90, 254 - 5 * (x - 12))
        }
    }

    /// Returns the mean squared error of the samples, with alpha multiplied in.
    private func meanError(_ pixels: [UInt32], _ others: [UInt32]) -> Double {
        let sum = zip(pixels, others).reduce(0.0) { sum, pair in
            let (a, b) = (samples(pair.0), samples(pair.1))
            let color = (0..<3).map { Double(a[$0] * a[3] - b[$0] * b[3]) / 255 }
            return sum + color.reduce(Double((a[3] - b[3]) * (a[3] - b[3]))) { $0 + $1 * $1 }
        }
        return sum / Double(4 * pixels.count)
    }

    @Test(arguments: [2, 3, 16, 200, 256]) func `colors that fit are kept exactly`(count: Int) throws {
        let colors = (0..<count).map { index -> UInt32 in
            let alpha = index % 3 == 0 ? 255 : index % 3 == 1 ? 1 + index % 254 : 128
            // Below full opacity, only colors that alpha does not hide are kept.
            return alpha < 255 ? pixel(255, index % 2 * 255, 0, alpha) : pixel(index, 255 - index, index * 7 % 256)
        }
        let distinct = Set(colors)
        let pixels = (0..<width * height).map { colors[$0 % count] }

        let palette = try palette(pixels, max(2, distinct.count))

        #expect(Set(palette) == distinct)
        #expect(mapped(pixels, to: palette, dithers: true) == pixels)
        #expect(mapped(pixels, to: palette, dithers: false) == pixels)
    }

    @Test(arguments: [2, 3, 4, 16, 255, 256]) func `a palette has no more colors than its maximum`(count: Int) throws {
        for pixels in [gradient, translucent] {
            let palette = try palette(pixels, count)
            #expect(palette.count <= count)
            #expect(palette.count > count / 2)
            #expect(Set(palette).count == palette.count)
        }
    }

    @Test(arguments: [(4, 800.0), (16, 200), (64, 50), (256, 11.5)])
    func `more colors leave a smaller error`(count: Int, limit: Double) throws {
        let palette = try palette(gradient, count)
        #expect(meanError(gradient, mapped(gradient, to: palette, dithers: false)) < limit)
    }

    @Test(arguments: [false, true], [3, 8, 256])
    func `opaque pixels stay opaque, and fully transparent ones transparent`(dithers: Bool, count: Int) throws {
        let palette = try palette(translucent, count)
        let result = mapped(translucent, to: palette, dithers: dithers)

        for (before, after) in zip(translucent, result) {
            let alpha = samples(before)[3]
            if alpha == 255 { #expect(samples(after)[3] == 255) }
            if alpha == 0 { #expect(after == 0) }
        }
        #expect(palette.last == 0)
    }

    @Test func `with two colors, one is transparent and one is for all visible pixels`() throws {
        let palette = try palette(translucent, 2)

        #expect(palette.count == 2)
        #expect(palette[1] == 0)
        #expect(samples(palette[0])[3] > 0)
    }

    @Test func `dithering is deterministic and keeps the mean of an area`() throws {
        let gray = image { x, _ in pixel(100 + x, 100 + x, 100 + x) }
        let palette = [pixel(40, 40, 40), pixel(220, 220, 220)]
        let result = mapped(gray, to: palette, dithers: true)

        #expect(result == mapped(gray, to: palette, dithers: true))
        func mean(_ pixels: [UInt32]) -> Double {
            Double(pixels.reduce(0) { $0 + samples($1)[0] }) / Double(pixels.count)
        }
        #expect(abs(mean(result) - mean(gray)) < 2)
        #expect(Set(result).count == 2)
        // Without dithering, every pixel has the nearer level.
        let plain = mapped(gray, to: palette, dithers: false)
        #expect(zip(gray, plain).allSatisfy { (samples($0)[0] <= 130) == (samples($1)[0] == 40) })
    }

    @Test func `transparent pixels pass no errors on`() {
        let palette = [pixel(0, 0, 0), pixel(255, 255, 255), 0]
        let gray = image { _, _ in pixel(120, 120, 120) }
        let holes = image { x, y in x == 20 ? 0 : pixel(120, 120, 120) }
        let (whole, split) = (mapped(gray, to: palette, dithers: true), mapped(holes, to: palette, dithers: true))

        // The first row runs from the left, so its pixels before the hole are the same.
        #expect(whole[..<20] == split[..<20])
        #expect((0..<height).allSatisfy { split[$0 * width + 20] == 0 })
    }

    @Test func `noise has more colors than cells, and the palette covers its range`() throws {
        var random = SeededGenerator(seed: 61)
        let noise = (0..<40_000).map { _ in UInt32.random(in: 0...0xFF_FFFF, using: &random).littleEndian }
            .map { ($0 | UInt32(0xFF00_0000).littleEndian) }

        let palette = try palette(noise, 64)

        #expect(palette.count == 64)
        #expect(palette.allSatisfy { samples($0)[3] == 255 })
        for channel in 0..<3 {
            let values = palette.map { samples($0)[channel] }
            #expect(values.min() ?? 255 < 64)
            #expect(values.max() ?? 0 > 191)
        }
    }

    @Test func `a canceled task ends the computation of a palette`() async throws {
        let pixels = gradient
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try palette(pixels, 256)
        }

        let error = await #expect(throws: ImageEncodingError.self) { try await task.value }
        #expect(error?.code == .failed)
    }
}
