import AlcedoCore
import AlcedoProcessing
import Testing

import AlcedoLibc

/// Tests of the point operations that work with levels: `.negate`, `.threshold`, `.gamma` and `.normalize`.
@Suite struct ToneTests {
    @Test(arguments: ResizeTests.shapes.indices)
    func `negation subtracts color from white, and alpha from its maximum on request`(shape: Int) throws {
        let (format, mode) = ResizeTests.shapes[shape]
        let image = DecodedImage(pixels: .noise(20, 15, format, mode, seed: 31))

        let result = try ImageProcessors.Negate().process(image).pixels

        let expected = image.pixels.changed(to: mode) { _, _, pixel in
            // Premultiplied white is the alpha.
            let white = mode == .premultiplied ? pixel.w : format.isDeep ? .max : 255
            var negative = SIMD4(repeating: white) &- pixel
            negative.w = pixel.w
            return negative
        }
        #expect(result == expected)
        guard mode != .premultiplied else { return }
        let whole = try ImageProcessors.Negate(includesAlpha: true).process(image).pixels
        let inverse = expected.changed(to: mode) { _, _, pixel in
            var pixel = pixel
            if mode == .straight { pixel.w = (format.isDeep ? .max : 255) - pixel.w }
            return pixel
        }
        #expect(whole == inverse)
    }

    @Test func `negated alpha is the alpha of negated premultiplied color`() throws {
        let pixels = PixelBuffer.make(2, 1, .rgba8, .premultiplied) { x, _ in
            x == 0 ? SIMD4(51, 153, 0, 204) : SIMD4(repeating: 0)
        }

        let result = try ImageProcessors.Negate(includesAlpha: true).process(DecodedImage(pixels: pixels)).pixels

        // The straight color is 0.25, 0.75, 0 with an alpha of 0.8.
        #expect(result.pixel(0, 0) == SIMD4(38, 13, 51, 51))
        #expect(result.pixel(1, 0) == SIMD4(repeating: 255))
    }

    @Test(arguments: ResizeTests.shapes.indices, [(0, false), (1, true), (100, false), (100, true), (255, true)])
    func `a threshold separates levels`(shape: Int, parameters: (level: Int, perChannel: Bool)) throws {
        let (format, mode) = ResizeTests.shapes[shape]
        let pixels = PixelBuffer.noise(20, 15, format, mode, seed: 32)
        let processor = ImageProcessors.Threshold(parameters.level, perChannel: parameters.perChannel)

        let result = try processor.process(DecodedImage(pixels: pixels)).pixels

        let maximum = format.isDeep ? 65_535.0 : 255
        let least = Double(parameters.level) * maximum / 255
        let gray: PixelFormat = format.isDeep ? .gray16 : .gray8
        #expect(result.format == (parameters.perChannel || mode != .opaque ? format : gray))
        #expect(result.alphaMode == mode)
        for (x, y) in result.positions {
            let (pixel, changed) = (pixels.pixel(x, y), result.pixel(x, y))
            let color = Self.straight(pixel, mode, maximum)
            let luminance = color.x * 0.2126 + color.y * 0.7152 + color.z * 0.0722
            for channel in 0..<3 {
                let sample = parameters.perChannel ? color[channel] : luminance
                // Samples are rounded before they are compared. Halves are rounded in either direction.
                guard abs(sample - least + 0.5) > 0.1 else { continue }
                let white = mode == .premultiplied ? pixel.w : UInt16(maximum)
                #expect(changed[channel] == (sample.rounded() >= least ? white : 0))
            }
            #expect(changed.w == pixel.w)
        }
    }

    @Test func `a threshold of the luminance is that of grayscale`() throws {
        for (format, mode) in ResizeTests.shapes where mode != .premultiplied {
            let image = DecodedImage(pixels: .noise(31, 17, format, mode, seed: 33))

            let result = try ImageProcessors.Threshold(120).process(image).pixels

            let gray = try ImageProcessors.Grayscale().process(image)
            #expect(try result == ImageProcessors.Threshold(120, perChannel: true).process(gray).pixels)
        }
    }

    @Test(arguments: ResizeTests.shapes.indices, [0.4, 0.8, 1.3, 2.2])
    func `gamma is a power of every sample`(shape: Int, exponent: Double) throws {
        let (format, mode) = ResizeTests.shapes[shape]
        // The table has steps of a level, and a brightening is steep near black, where divided color is between them.
        guard mode != .premultiplied || exponent < 1 else { return }
        let pixels = PixelBuffer.noise(20, 15, format, mode, seed: 34)

        let result = try ImageProcessors.Gamma(exponent).process(DecodedImage(pixels: pixels)).pixels

        #expect(result.format == format)
        #expect(result.alphaMode == mode)
        let maximum = format.isDeep ? 65_535.0 : 255
        // Half a level of the result, and half a level of divided color times the largest slope.
        let tolerance = mode == .premultiplied ? 0.51 + 0.5 / exponent : 0.51
        for (x, y) in result.positions {
            let (pixel, changed) = (pixels.pixel(x, y), result.pixel(x, y))
            let color = Self.straight(pixel, mode, maximum)
            for channel in 0..<3 {
                let sample = pow(color[channel] / maximum, 1 / exponent)
                let expected = sample * (mode == .premultiplied ? Double(pixel.w) : maximum)
                #expect(abs(Double(changed[channel]) - expected) <= tolerance)
            }
            #expect(changed.w == pixel.w)
        }
    }

    @Test(arguments: [PixelFormat.gray8, .rgbx8, .gray16, .rgba16])
    func `percentiles become black and white`(format: PixelFormat) throws {
        let unit: UInt16 = format.isDeep ? 257 : 1
        let maximum = Double(unit) * 255
        // A hundred levels, in another order.
        let pixels = PixelBuffer.make(10, 10, format, .opaque) { x, y in
            let level = (UInt16(50 + (y * 10 + x) * 37 % 100)) &* unit
            return SIMD4(level, level, level, UInt16(maximum))
        }

        let result = try ImageProcessors.Normalize(lower: 10, upper: 90).process(DecodedImage(pixels: pixels)).pixels

        #expect(result.format == format)
        for (x, y) in result.positions {
            // Ten pixels each are darker than 60 and brighter than 139.
            let stretched = (Double(pixels.pixel(x, y).x) / Double(unit) - 60) / (139 - 60) * maximum
            #expect(abs(Double(result.pixel(x, y).y) - max(0, min(maximum, stretched))) <= 0.51)
        }
    }

    @Test func `the range of colors is that of their luminance`() throws {
        let pixels = PixelBuffer.make(2, 1, .rgbx8, .opaque) { x, _ in
            // Luminances of 100 and 150.
            x == 0 ? SIMD4(100, 100, 100, 255) : SIMD4(150, 150, 155, 255)
        }

        let result = try ImageProcessors.Normalize(lower: 0, upper: 100).process(DecodedImage(pixels: pixels)).pixels

        #expect(result.pixel(0, 0) == SIMD4(0, 0, 0, 255))
        #expect(result.pixel(1, 0) == SIMD4(255, 255, 255, 255))
    }

    @Test(arguments: [AlphaMode.straight, .premultiplied])
    func `transparent pixels do not count for percentiles`(mode: AlphaMode) throws {
        let pixels = PixelBuffer.make(6, 1, .rgba8, .straight) { x, _ in
            switch x {
            case 0, 1: SIMD4(100, 100, 100, 255)
            case 2: SIMD4(150, 150, 150, 255)
            case 3: SIMD4(0, 0, 0, 0)
            default: SIMD4(255, 255, 255, 0)
            }
        }
        let image = DecodedImage(pixels: pixels.converted(to: mode))

        let result = try ImageProcessors.Normalize(lower: 0, upper: 100).process(image).pixels

        #expect(result.pixel(0, 0) == SIMD4(0, 0, 0, 255))
        #expect(result.pixel(2, 0) == SIMD4(255, 255, 255, 255))
        for x in 3..<6 { #expect(result.pixel(x, 0).w == 0) }
    }

    @Test func `an image without a range of luminance does not change`() throws {
        let uniform = PixelBuffer.make(7, 5, .rgba8, .straight) { _, _ in SIMD4(9, 20, 30, 200) }
        let invisible = PixelBuffer.make(7, 5, .rgba16, .straight) { x, _ in SIMD4(UInt16(x), 20, 30, 0) }
        for pixels in [uniform, invisible] {
            #expect(try ImageProcessors.Normalize().process(DecodedImage(pixels: pixels)).pixels == pixels)
        }
    }

    /// Returns the color of a pixel that is not multiplied by alpha, from 0 to `maximum`.
    private static func straight(_ pixel: SIMD4<UInt16>, _ mode: AlphaMode, _ maximum: Double) -> SIMD4<Double> {
        let color = SIMD4(Double(pixel.x), Double(pixel.y), Double(pixel.z), Double(pixel.w))
        guard mode == .premultiplied else { return color }
        return pixel.w == 0 ? SIMD4(repeating: 0) : color * (maximum / Double(pixel.w))
    }
}
