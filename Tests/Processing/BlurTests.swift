import AlcedoCore
import AlcedoProcessing
import Testing

import AlcedoLibc

@Suite struct BlurTests {
    @Test(arguments: [0.3, 0.8, 1.5, 3.2, 4], ResizeTests.shapes.indices)
    func `a small sigma is within one level of the Gaussian`(sigma: Double, shape: Int) throws {
        let (format, mode) = ResizeTests.shapes[shape]
        let pixels = PixelBuffer.noise(13, 11, format, mode, seed: 17)

        let result = try ImageProcessors.GaussianBlur(sigma: sigma).process(DecodedImage(pixels: pixels)).pixels

        #expect(result.format == format)
        #expect(result.alphaMode == mode)
        let expected = Self.gaussian(pixels.converted(to: .premultiplied), sigma)
        // Premultiplying rounds, and the part beyond 3.5 sigma weighs a two-thousandth.
        let tolerance = format.isDeep ? 64.0 : mode == .straight ? 1.6 : 1
        #expect(Self.largestError(result.converted(to: .premultiplied), expected) <= tolerance)
    }

    @Test(arguments: [4.1, 5, 7.7, 12, 25])
    func `a large sigma is close to the Gaussian`(sigma: Double) throws {
        // An edge, which is the worst case, and noise.
        let edge = PixelBuffer.make(120, 9, .gray8, .opaque) { x, _ in SIMD4(repeating: x < 60 ? 0 : 255) }
        let noise = PixelBuffer.noise(40, 50, .rgbx8, .opaque, seed: 2)
        for pixels in [edge, noise] {
            let result = try ImageProcessors.GaussianBlur(sigma: sigma).process(DecodedImage(pixels: pixels)).pixels

            #expect(Self.largestError(result, Self.gaussian(pixels, sigma)) <= 5)
        }
    }

    @Test(arguments: [0.9, 4, 9, 60])
    func `a blur keeps the sum of light`(sigma: Double) throws {
        let pixels = PixelBuffer.make(301, 301, .rgba16, .opaque) { x, y in
            SIMD4(x == 150 && y == 150 ? .max : 10_000, 10_000, 10_000, .max)
        }

        let result = try ImageProcessors.GaussianBlur(sigma: sigma).process(DecodedImage(pixels: pixels)).pixels

        let sum = result.positions.reduce(0) { $0 + Int(result.pixel($1.x, $1.y).x) - 10_000 }
        // Every sample may be rounded by a half.
        #expect(sigma > 10 || abs(sum - 55_535) < 2000)
        #expect(result.pixel(10, 10).y == 10_000)
        #expect(result.pixel(0, 150) == result.pixel(300, 150))
    }

    @Test func `transparent pixels add no color`() throws {
        let pixels = PixelBuffer.make(30, 5, .rgba8, .straight) { x, _ in
            x < 15 ? SIMD4(200, 0, 0, 255) : SIMD4(0, 255, 0, 0)
        }
        for sigma in [1.0, 6] {
            let result = try ImageProcessors.GaussianBlur(sigma: sigma).process(DecodedImage(pixels: pixels)).pixels

            for (x, y) in result.positions {
                let pixel = result.pixel(x, y)
                let expected: SIMD4<UInt16> = pixel.w == 0 ? SIMD4(repeating: 0) : SIMD4(200, 0, 0, pixel.w)
                #expect(pixel == expected)
            }
            #expect(abs(Int(result.pixel(14, 2).w) + Int(result.pixel(15, 2).w) - 255) <= 1)
        }
    }

    @Test func `a blur that needs too much memory is an error`() {
        let header = PixelRowHeader(
            size: PixelSize(width: 100_000, height: 10), format: .rgba8, alphaMode: .opaque)

        #expect {
            try ImageProcessors.GaussianBlur(sigma: 2000).rows(into: PixelRowCollector()).begin(header)
        } throws: {
            ($0 as? ImageProcessingError)?.code == .tooLarge
        }
    }

    /// The definition in floating point, with the outermost pixels repeated without end.
    private static func gaussian(_ pixels: PixelBuffer, _ sigma: Double) -> [SIMD4<Double>] {
        let rows = kernel(pixels.height, sigma)
        let columns = kernel(pixels.width, sigma)
        var across: [SIMD4<Double>] = []
        for (x, y) in pixels.positions {
            var sum = SIMD4<Double>(repeating: 0)
            for i in 0..<pixels.width {
                let pixel = pixels.pixel(i, y)
                sum += SIMD4(Double(pixel.x), Double(pixel.y), Double(pixel.z), Double(pixel.w)) * columns[x][i]
            }
            across.append(sum)
        }
        return pixels.positions.map { x, y in
            var sum = SIMD4<Double>(repeating: 0)
            for j in 0..<pixels.height { sum += across[j * pixels.width + x] * rows[y][j] }
            return sum
        }
    }

    /// Returns the weights for each of `length` positions.
    private static func kernel(_ length: Int, _ sigma: Double) -> [[Double]] {
        let reach = Int(sigma * 8) + 1
        let raw = (-reach...reach).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = raw.reduce(0, +)
        return (0..<length).map { place in
            var row = [Double](repeating: 0, count: length)
            for (index, weight) in raw.enumerated() {
                row[min(length - 1, max(0, place + index - reach))] += weight / sum
            }
            return row
        }
    }

    private static func largestError(_ pixels: PixelBuffer, _ expected: [SIMD4<Double>]) -> Double {
        zip(pixels.positions, expected).reduce(0) { largest, entry in
            let pixel = pixels.pixel(entry.0.x, entry.0.y)
            return (0..<4).reduce(largest) { max($0, abs(Double(pixel[$1]) - entry.1[$1])) }
        }
    }
}
