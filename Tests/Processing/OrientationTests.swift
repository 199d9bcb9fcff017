import AlcedoCore
import AlcedoProcessing
import Testing

import AlcedoLibc

@Suite struct OrientationTests {
    @Test func `flips and quarter turns move every pixel to its place`() throws {
        for (format, mode) in ResizeTests.shapes {
            let pixels = PixelBuffer.noise(7, 4, format, mode, seed: 2)
            let table: [(any ImageProcessing, Int, Int, (Int, Int) -> (Int, Int))] = [
                (.flip(.leftAndRight), 7, 4, { (6 - $0, $1) }), (.flip(.topAndBottom), 7, 4, { ($0, 3 - $1) }),
                (ImageProcessors.Rotate(clockwise: 90), 4, 7, { ($1, 3 - $0) }),
                (.rotate(clockwise: -270), 4, 7, { ($1, 3 - $0) }),
                (.rotate(clockwise: 180), 7, 4, { (6 - $0, 3 - $1) }),
                (ImageProcessors.Rotate(clockwise: -90), 4, 7, { (6 - $1, $0) }),
                (.rotate(clockwise: 630), 4, 7, { (6 - $1, $0) }),
            ]
            for (processor, width, height, place) in table {
                let result = try processor.process(DecodedImage(pixels: pixels)).pixels

                let expected = PixelBuffer.make(width, height, format, mode) { x, y in
                    let source = place(x, y)
                    return pixels.pixel(source.0, source.1)
                }
                #expect(result == expected, "\(processor.identifier)")
            }
        }
    }

    /// Rows are padded: a row of a few megabytes would use more than a GiB when rotated.
    @Test func `an image whose rotation exceeds the memory limit is not rotated`() throws {
        let line = DecodedImage(pixels: .make(17_000_000, 1, .gray8, .opaque) { _, _ in SIMD4(repeating: 0) })
        for processor in [ImageProcessors.Rotate(clockwise: 90), .orient] as [any ImageProcessing] {
            var image = line
            image.orientation = .right
            let error = #expect(throws: ImageProcessingError.self) { try processor.process(image) }
            #expect(error?.code == .tooLarge, "\(processor.identifier)")
        }
        #expect(try ImageProcessors.Flip(.leftAndRight).process(line).size == line.size)
    }

    @Test(arguments: [1.0, 17, 45, 89.9, 120, 200.3, 300, -33])
    func `a rotated image is the cubic convolution of its pixels`(angle: Double) throws {
        let pixels = PixelBuffer.noise(15, 10, .rgba16, .premultiplied, seed: 14)

        let result = try ImageProcessors.Rotate(clockwise: angle).process(DecodedImage(pixels: pixels)).pixels

        let (c, s) = (cos(angle * .pi / 180), sin(angle * .pi / 180))
        #expect(result.width == Int((15 * abs(c) + 10 * abs(s)).rounded(.up)))
        #expect(result.height == Int((15 * abs(s) + 10 * abs(c)).rounded(.up)))
        for (x, y) in result.positions {
            let dx = Double(x) + 0.5 - Double(result.width) / 2
            let dy = Double(y) + 0.5 - Double(result.height) / 2
            let (u, v) = (dx * c + dy * s + 7.5, -dx * s + dy * c + 5)
            var sum = SIMD4<Double>(repeating: 0)
            for (i, j) in pixels.positions {
                let weight = Self.cubic(u - Double(i) - 0.5) * Self.cubic(v - Double(j) - 0.5)
                let pixel = pixels.pixel(i, j)
                sum += SIMD4(Double(pixel.x), Double(pixel.y), Double(pixel.z), Double(pixel.w)) * weight
            }
            if sum.w > 65_535 { sum *= 65_535 / sum.w }
            for channel in 0..<4 {
                let expected = min(max(0, sum[channel]), max(0, sum.w))
                #expect(abs(Double(result.pixel(x, y)[channel]) - expected) <= 4, "\(x), \(y)")
            }
        }
    }

    @Test func `the background decides whether the result is opaque`() throws {
        let gray = PixelColor(red: 50, green: 50, blue: 50)
        let red = PixelColor(red: 255, green: 0, blue: 0)
        let table: [(PixelFormat, AlphaMode, PixelColor, PixelFormat, AlphaMode)] = [
            (.gray8, .opaque, .clear, .rgba8, .straight), (.gray8, .opaque, gray, .gray8, .opaque),
            (.gray8, .opaque, red, .rgbx8, .opaque), (.rgbx8, .opaque, .clear, .rgba8, .straight),
            (.rgba8, .premultiplied, .clear, .rgba8, .premultiplied), (.rgba8, .straight, red, .rgba8, .opaque),
            (.rgba16, .straight, .clear, .rgba16, .straight), (.rgba16, .opaque, red, .rgba16, .opaque),
        ]
        for (format, mode, background, resultFormat, resultMode) in table {
            let image = DecodedImage(pixels: .noise(9, 9, format, mode, seed: 4))

            let result = try ImageProcessors.Rotate(clockwise: 40, background: background).process(image).pixels

            #expect(result.format == resultFormat)
            #expect(result.alphaMode == resultMode)
            let corner = result.pixel(0, 0)
            let unit: UInt16 = format.isDeep ? 257 : 1
            #expect(corner.x == UInt16(background.red) * unit)
            #expect(corner.y == UInt16(background.green) * unit)
        }
    }

    @Test func `an oversized result is an error`() throws {
        let wide = PixelBuffer.make(60_000, 1, .gray8, .opaque) { _, _ in SIMD4(repeating: 9) }
        #expect { try ImageProcessors.Rotate(clockwise: 45).process(DecodedImage(pixels: wide)) } throws: {
            ($0 as? ImageProcessingError)?.code == .tooLarge
        }
    }

    private static func cubic(_ x: Double) -> Double {
        let t = abs(x)
        if t <= 1 { return 1.5 * t * t * t - 2.5 * t * t + 1 }
        return t < 2 ? -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2 : 0
    }
}
