import AlcedoCore
import AlcedoProcessing
import Testing

/// Comparison with the definition in floating point, which shares no code with the module.
@Suite struct ResizeReferenceTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let format: PixelFormat
        let alphaMode: AlphaMode
        var testDescription: String { "\(format) \(alphaMode)" }
        /// One level of 8 bits. A float has 24 bits, so 16-bit samples may differ by a few.
        var tolerance: Double { format.isDeep ? 3 : 1 }
    }

    static let cases = [
        Case(format: .gray8, alphaMode: .opaque), Case(format: .gray16, alphaMode: .opaque),
        Case(format: .rgbx8, alphaMode: .opaque),
        Case(format: .rgba8, alphaMode: .opaque), Case(format: .rgba8, alphaMode: .premultiplied),
        Case(format: .rgba8, alphaMode: .straight), Case(format: .rgba16, alphaMode: .straight),
        Case(format: .rgba16, alphaMode: .premultiplied),
    ]

    /// Source and target sizes. The last rows shrink enough for sums, with and without a remainder.
    static let sizes: [(PixelSize, PixelSize)] = [
        (13, 11, 7, 5), (5, 7, 13, 9), (17, 4, 9, 4), (4, 19, 11, 5), (2, 2, 5, 3), (1, 9, 4, 4),
        (33, 29, 8, 7), (40, 24, 5, 6), (41, 3, 4, 6), (3, 47, 2, 1),
    ].map { (PixelSize(width: $0.0, height: $0.1), PixelSize(width: $0.2, height: $0.3)) }

    @Test(arguments: ResizeFilter.allCases, cases)
    func `every size is within one level of the definition`(filter: ResizeFilter, format: Case) throws {
        for (index, (source, target)) in Self.sizes.enumerated() {
            let pixels = PixelBuffer.noise(
                source.width, source.height, format.format, format.alphaMode, seed: UInt64(index + 1))

            let result = try resize(pixels, to: target, filter)

            #expect(result.size == target)
            #expect(result.alphaMode == format.alphaMode)
            let expected = ReferenceResize(filter: filter).premultiplied(pixels, to: target)
            for (x, y) in result.positions {
                let error = Self.error(result, x, y, expected[y][x])
                #expect(error <= format.tolerance, "\(source) to \(target) at \(x), \(y)")
            }
        }
    }

    @Test(arguments: cases)
    func `linear light is within one level of the definition`(format: Case) throws {
        let sampling = ResizeSampling(.bilinear, inLinearLight: true)
        let reference = ReferenceResize(filter: .bilinear, inLinearLight: true)
        let maximum = format.format.isDeep ? 65_535.0 : 255
        for (index, (source, target)) in Self.sizes.enumerated() {
            let pixels = PixelBuffer.noise(
                source.width, source.height, format.format, format.alphaMode, seed: UInt64(index + 1))

            let result = try resize(pixels, to: target, sampling)

            let light = reference.premultiplied(pixels, to: target)
            for (x, y) in result.positions {
                let alpha = format.alphaMode == .opaque ? maximum : light[y][x].w
                var expected = light[y][x]
                for channel in 0..<3 {
                    expected[channel] = alpha == 0 ? 0 : alpha * ReferenceResize.sample(expected[channel] / alpha)
                }
                #expect(Self.error(result, x, y, expected) <= format.tolerance, "\(source) to \(target)")
            }
        }
    }

    @Test func `a checkerboard keeps its brightness in linear light only`() throws {
        let board = PixelBuffer.make(64, 64, .gray8, .opaque) { x, y in SIMD4(repeating: UInt16((x + y) % 2 * 255)) }
        let target = PixelSize(width: 8, height: 8)

        #expect(try resize(board, to: target, ResizeSampling(.box)).pixel(3, 3).x == 128)
        #expect(try resize(board, to: target, ResizeSampling(.box, inLinearLight: true)).pixel(3, 3).x == 188)
    }

    @Test func `a large reduction of white stays white`() throws {
        for format in [PixelFormat.gray8, .rgbx8, .rgba8] {
            let mode: AlphaMode = format == .rgba8 ? .straight : .opaque
            let pixels = PixelBuffer.make(641, 641, format, mode) { _, _ in SIMD4(repeating: 255) }

            let result = try resize(pixels, to: PixelSize(width: 1, height: 1), .lanczos3)

            #expect(result.pixel(0, 0) == SIMD4(repeating: 255))
        }
    }

    @Test func `a very large reduction is within one level of the definition`() throws {
        let pixels = PixelBuffer.noise(3001, 1, .gray8, .opaque, seed: 5)
        let target = PixelSize(width: 2, height: 1)

        let result = try resize(pixels, to: target, .lanczos3)

        let expected = ReferenceResize(filter: .lanczos3).premultiplied(pixels, to: target)
        for x in 0..<2 { #expect(Self.error(result, x, 0, expected[0][x]) <= 1) }
    }

    private func resize(
        _ pixels: PixelBuffer, to target: PixelSize, _ filter: ResizeFilter
    ) throws -> PixelBuffer {
        try resize(pixels, to: target, ResizeSampling(filter))
    }

    private func resize(
        _ pixels: PixelBuffer, to target: PixelSize, _ sampling: ResizeSampling
    ) throws -> PixelBuffer {
        let processor = ImageProcessors.Resize(to: target, mode: .exact, enlarges: true, sampling: sampling)
        return try processor.process(DecodedImage(pixels: pixels)).pixels
    }

    /// Returns the largest difference of a channel. Straight color is weighted by its alpha.
    private static func error(_ result: PixelBuffer, _ x: Int, _ y: Int, _ expected: SIMD4<Double>) -> Double {
        let maximum = result.format.isDeep ? 65_535.0 : 255
        let samples = result.pixel(x, y)
        let alpha = Double(samples.w)
        var clamped = expected
        clamped.w = min(max(clamped.w, 0), maximum)
        let ceiling = result.alphaMode == .opaque ? maximum : clamped.w
        var largest = result.format.isGray ? 0 : abs(alpha - clamped.w)
        for channel in 0..<3 {
            var value = Double(samples[channel])
            if result.alphaMode == .straight { value = value * alpha / maximum }
            largest = max(largest, abs(value - min(max(clamped[channel], 0), ceiling)))
        }
        return largest
    }
}
