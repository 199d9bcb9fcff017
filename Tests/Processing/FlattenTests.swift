import AlcedoCore
import AlcedoProcessing
import Testing

@Suite struct FlattenTests {
    private let color = PixelColor(red: 255, green: 0, blue: 100)

    @Test func `every straight color and alpha is blended and rounded to nearest`() throws {
        let pixels = PixelBuffer.make(256, 256, .rgba8, .straight) { x, y in
            SIMD4(UInt16(x), UInt16(x), UInt16(x), UInt16(y))
        }

        let result = try ImageProcessors.Flatten(onto: color).process(DecodedImage(pixels: pixels)).pixels

        let expected = PixelBuffer.make(256, 256, .rgba8, .opaque) { x, y in
            let blended = [255, 0, 100].map { back in
                UInt16((Double(x * y + back * (255 - y)) / 255).rounded())
            }
            return SIMD4(blended[0], blended[1], blended[2], 255)
        }
        #expect(result == expected)
    }

    @Test func `every premultiplied color and alpha is blended without overflow`() throws {
        let pixels = PixelBuffer.make(256, 256, .rgba8, .premultiplied) { x, y in
            SIMD4(UInt16(x), UInt16(x), UInt16(x), UInt16(y))
        }

        let result = try ImageProcessors.Flatten(onto: color).process(DecodedImage(pixels: pixels)).pixels

        let expected = PixelBuffer.make(256, 256, .rgba8, .opaque) { x, y in
            let blended = [255, 0, 100].map { back in
                UInt16(min(x, y)) + UInt16((Double(back * (255 - y)) / 255).rounded())
            }
            return SIMD4(blended[0], blended[1], blended[2], 255)
        }
        #expect(result == expected)
    }

    @Test func `the alpha of the background is ignored`() throws {
        let image = DecodedImage(pixels: .noise(9, 5, .rgba8, .straight, seed: 2))
        let clear = ImageProcessors.Flatten(onto: PixelColor(red: 255, green: 0, blue: 100, alpha: 0))
        let opaque = ImageProcessors.Flatten(onto: color)

        #expect(clear.identifier == opaque.identifier)
        #expect(try clear.process(image).pixels == opaque.process(image).pixels)
    }

    @Test(arguments: [AlphaMode.straight, .premultiplied])
    func `sixteen bits are blended at full depth`(mode: AlphaMode) throws {
        let pixels = PixelBuffer.noise(30, 20, .rgba16, mode, seed: 8)

        let result = try ImageProcessors.Flatten(onto: color).process(DecodedImage(pixels: pixels)).pixels

        #expect(result.format == .rgba16)
        #expect(result.alphaMode == .opaque)
        for (x, y) in pixels.positions {
            let (old, new) = (pixels.pixel(x, y), result.pixel(x, y))
            let alpha = Double(old.w)
            for (channel, back) in [65_535.0, 0, 25_700].enumerated() {
                let front = mode == .straight ? Double(old[channel]) * alpha / 65_535 : Double(old[channel])
                #expect(abs(Double(new[channel]) - front - back * (1 - alpha / 65_535)) <= 0.51)
            }
            #expect(new.w == .max)
        }
    }

    @Test func `an opaque image keeps its pixels and is marked opaque`() throws {
        for format in PixelFormat.allCases {
            let pixels = PixelBuffer.noise(6, 5, format, .opaque, seed: 4)

            #expect(try ImageProcessors.Flatten(onto: color).process(DecodedImage(pixels: pixels)).pixels == pixels)
        }
        let mislabeled = PixelBuffer.noise(6, 5, .gray8, .opaque, seed: 4).reinterpreted(as: .straight)

        #expect(try ImageProcessors.Flatten().process(DecodedImage(pixels: mislabeled)).pixels.alphaMode == .opaque)
    }
}
