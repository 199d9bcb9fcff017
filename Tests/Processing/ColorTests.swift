import AlcedoCore
import AlcedoProcessing
import Testing

@Suite struct ColorTests {
    @Test(arguments: [(1.3, 1.0, 1.0), (1, 0.4, 1), (1, 1, 2.5), (0.7, 1.8, 0.3), (0, 1, 1), (1, 0, 1), (1, 1, 0)])
    func `factors match the CSS filters`(brightness: Double, contrast: Double, saturation: Double) throws {
        let pixels = PixelBuffer.noise(40, 30, .rgba16, .straight, seed: 12)
        let adjustment = ImageProcessors.ColorAdjustment(
            brightness: brightness, contrast: contrast, saturation: saturation)

        let result = try adjustment.process(DecodedImage(pixels: pixels)).pixels

        for (x, y) in result.positions {
            let pixel = pixels.pixel(x, y)
            let color = (0..<3).map { (Double(pixel[$0]) / 65_535 * brightness - 0.5) * contrast + 0.5 }
            let gray = 0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2]
            for channel in 0..<3 {
                let expected = min(1, max(0, gray + (color[channel] - gray) * saturation)) * 65_535
                #expect(abs(Double(result.pixel(x, y)[channel]) - expected) <= 1)
            }
            #expect(result.pixel(x, y).w == pixel.w)
        }
    }

    @Test func `black and white is the luminance, and opaque 8-bit images become gray`() throws {
        for (format, mode) in ResizeTests.shapes {
            let pixels = PixelBuffer.noise(12, 9, format, mode, seed: 3)

            let result = try ImageProcessors.Grayscale().process(DecodedImage(pixels: pixels)).pixels

            #expect(result.format == (mode == .opaque ? (format.isDeep ? .gray16 : .gray8) : format))
            for (x, y) in result.positions {
                let (pixel, gray) = (pixels.pixel(x, y), result.pixel(x, y))
                let light = Double(pixel.x) * 0.2126 + Double(pixel.y) * 0.7152 + Double(pixel.z) * 0.0722
                #expect(gray.x == gray.y)
                #expect(gray.y == gray.z)
                #expect(abs(Double(gray.x) - light) <= 0.51)
                if !result.format.isGray { #expect(gray.w == pixel.w) }
            }
        }
    }

    @Test func `a pixel closure receives every pixel from 0 to 1 with unpremultiplied color`() throws {
        let pixels = PixelBuffer.make(1, 1, .rgba8, .premultiplied) { _, _ in SIMD4(51, 102, 0, 204) }
        let seen = ImageProcessors.PixelClosure(identifier: "check") { pixel in
            let expected = SIMD4<Float>(0.25, 0.5, 0, 0.8)
            let difference = pixel - expected
            return (difference * difference).sum() < 1e-9 ? SIMD4(1, 0, 1, 1) : pixel
        }

        #expect(try seen.process(DecodedImage(pixels: pixels)).pixels.pixel(0, 0) == SIMD4(255, 0, 255, 255))
    }
}
