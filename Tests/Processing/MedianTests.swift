import AlcedoCore
import AlcedoProcessing
import Testing

@Suite struct MedianTests {
    @Test(arguments: [3, 5, 31], ResizeTests.shapes.indices)
    func `every sample is the median of its neighborhood`(size: Int, shape: Int) throws {
        let (format, mode) = ResizeTests.shapes[shape]
        let pixels = PixelBuffer.noise(13, 10, format, mode, seed: 41)

        let result = try ImageProcessors.Median(size: size).process(DecodedImage(pixels: pixels)).pixels

        #expect(result.format == format)
        #expect(result.alphaMode == mode)
        for (x, y) in result.positions {
            let expected = Self.median(pixels, x, y, size)
            let pixel = result.pixel(x, y)
            #expect(Double(pixel.w) == expected.w)
            for channel in 0..<3 {
                // Products of 16-bit samples are rounded before they are divided by alpha.
                let rounding = format == .rgba16 ? 32_768 / max(1, expected.w) : 0
                let tolerance = mode == .straight ? 0.5 + rounding : 0
                #expect(abs(Double(pixel[channel]) - expected[channel]) <= tolerance)
            }
        }
    }

    @Test func `specks disappear and edges stay`() throws {
        let clean = PixelBuffer.make(40, 30, .gray8, .opaque) { x, _ in SIMD4(repeating: x < 20 ? 30 : 220) }
        let specks = clean.changed(to: .opaque) { x, y, pixel in
            x % 4 == 1 && y % 4 == 2 ? SIMD4(repeating: x % 8 == 1 ? 0 : 255) : pixel
        }

        #expect(try ImageProcessors.Median(size: 3).process(DecodedImage(pixels: specks)).pixels == clean)
    }

    @Test func `transparent pixels add no color`() throws {
        let pixels = PixelBuffer.make(12, 9, .rgba8, .straight) { x, y in
            x < 6 ? SIMD4(200, 90, 10, 255) : SIMD4(3, 250, 80, y % 2 == 0 ? 0 : 3)
        }

        let result = try ImageProcessors.Median(size: 5).process(DecodedImage(pixels: pixels)).pixels

        for y in 0..<9 {
            for x in 0..<6 { #expect(result.pixel(x, y) == SIMD4(200, 90, 10, 255)) }
        }
    }

    @Test func `a median that needs too much memory is an error`() {
        let header = PixelRowHeader(
            size: PixelSize(width: 3_000_000, height: 10), format: .rgba8, alphaMode: .straight)
        let rows = ImageProcessors.Median(size: 99).rows(into: PixelRowCollector())

        #expect(rows.byteCount(for: header) > 1 << 30)
        #expect { try rows.begin(header) } throws: { ($0 as? ImageProcessingError)?.code == .tooLarge }
    }

    /// Returns the medians by sorting, with color multiplied by alpha, in the alpha mode of the image.
    private static func median(_ pixels: PixelBuffer, _ x: Int, _ y: Int, _ size: Int) -> SIMD4<Double> {
        let isStraight = pixels.alphaMode == .straight
        var samples = [[Int]](repeating: [], count: 4)
        for j in y - size / 2...y + size / 2 {
            for i in x - size / 2...x + size / 2 {
                let pixel = pixels.pixel(max(0, min(pixels.width - 1, i)), max(0, min(pixels.height - 1, j)))
                for channel in 0..<4 {
                    let alpha = isStraight && channel < 3 ? Int(pixel.w) : 1
                    samples[channel].append(Int(pixel[channel]) * alpha)
                }
            }
        }
        let medians = samples.map { Double($0.sorted()[size * size / 2]) }
        let alpha = isStraight ? medians[3] : 1
        let color = medians[0..<3].map { alpha > 0 ? $0 / alpha : 0 }
        return SIMD4(color[0], color[1], color[2], medians[3])
    }
}
