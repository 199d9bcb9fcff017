import AlcedoCore
import AlcedoProcessing
import Testing

@Suite struct BlendTests {
    @Test(arguments: ImageProcessors.BlendMode.allCases)
    func `every mode matches the specification's formula for any alpha`(mode: ImageProcessors.BlendMode) throws {
        // Extreme samples are frequent, because the formulas have special cases there.
        let base = Self.makePixels(seed: 31)
        let over = Self.makePixels(seed: 62)

        let result = try ImageProcessors.Overlay(over, mode: mode).process(DecodedImage(pixels: base)).pixels

        for (x, y) in result.positions {
            let expected = ReferenceBlend.composite(
                Self.doubles(base.pixel(x, y)), Self.doubles(over.pixel(x, y)), mode)
            let pixel = Self.doubles(result.pixel(x, y))
            #expect(abs(pixel[3] - expected[3]) * 65_535 <= 1)
            for channel in 0..<3 { #expect(abs(pixel[channel] * pixel[3] - expected[channel]) * 65_535 <= 2) }
        }
    }

    @Test(arguments: ImageProcessors.BlendMode.allCases)
    func `a tint keeps alpha and matches the specification's formula`(mode: ImageProcessors.BlendMode)
        throws
    {
        let base = Self.makePixels(seed: 5)
        let color = PixelColor(red: 200, green: 30, blue: 110, alpha: 150)
        let source = [200.0, 30, 110].map { $0 / 255 }

        let result = try ImageProcessors.Tint(color, mode: mode).process(DecodedImage(pixels: base)).pixels

        for (x, y) in result.positions {
            let below = Self.doubles(base.pixel(x, y))
            let mixed = ReferenceBlend.blend(Array(below.prefix(3)), source, mode)
            let pixel = Self.doubles(result.pixel(x, y))
            #expect(result.pixel(x, y).w == base.pixel(x, y).w)
            for channel in 0..<3 {
                let expected = below[channel] + (mixed[channel] - below[channel]) * 150 / 255
                #expect(abs(pixel[channel] - expected) * 65_535 <= 2)
            }
        }
    }

    @Test func `gray images become colored where needed`() throws {
        let image = DecodedImage(pixels: .pattern(.gray8))
        let red = PixelColor(red: 255, green: 0, blue: 0)

        let tinted = try ImageProcessors.Tint(red, mode: .multiply).process(image).pixels
        let veiled = try ImageProcessors.Tint(PixelColor(.white, alpha: 128)).process(image).pixels
        let stamped = try ImageProcessors.Overlay(.pattern(.rgba8)).process(image).pixels
        let grayStamped = try ImageProcessors.Overlay(.pattern(.gray8)).process(image).pixels

        #expect(tinted == .make(23, 17, .rgbx8, .opaque) { SIMD4(image.pixels.pixel($0, $1).x, 0, 0, 255) })
        #expect(veiled.format == .gray8 && grayStamped.format == .gray8)
        #expect(stamped.format == .rgbx8)
    }

    @Test(arguments: [
        (ImageProcessors.Anchor.topLeft, 0, 0, 0, 0), (.bottomRight, 0, 0, 7, 6), (.center, 0, 0, 3, 3),
        (.center, -2, 1, 1, 4),
        (.topLeft, -2, -3, -2, -3), (.bottomRight, 2, 3, 9, 9), (.right, 0, 0, 7, 3), (.bottom, 0, 0, 3, 6),
        (ImageProcessors.Anchor(x: 0.25, y: 0.9), 0, 0, 1, 5),
    ])
    func `an overlay is placed by anchor and offset`(
        anchor: ImageProcessors.Anchor, x: Int, y: Int, left: Int, top: Int
    ) throws {
        let base = PixelBuffer.noise(11, 10, .rgbx8, .opaque, seed: 1)
        let over = PixelBuffer.noise(4, 4, .rgba8, .opaque, seed: 2)

        let overlay = ImageProcessors.Overlay(over, at: anchor, offset: PixelOffset(x: x, y: y))
        let result = try overlay.process(DecodedImage(pixels: base)).pixels

        let expected = PixelBuffer.make(11, 10, .rgbx8, .opaque) { x, y in
            (0..<4).contains(x - left) && (0..<4).contains(y - top)
                ? over.pixel(x - left, y - top) : base.pixel(x, y)
        }
        #expect(result == expected)
    }

    @Test func `opacity multiplies the overlay's alpha`() throws {
        let base = PixelBuffer.make(1, 1, .rgbx8, .opaque) { _, _ in SIMD4(0, 0, 0, 255) }
        let over = PixelBuffer.make(1, 1, .rgba8, .premultiplied) { _, _ in SIMD4(102, 102, 0, 102) }

        let result = try ImageProcessors.Overlay(over, opacity: 0.5).process(DecodedImage(pixels: base)).pixels

        #expect(result.pixel(0, 0) == SIMD4(51, 51, 0, 255))
    }

    @Test func `overlays are equal when all their values are`() {
        let pixels = PixelBuffer.pattern(.rgba8)
        let other = PixelBuffer.noise(23, 17, .rgba8, .straight, seed: 1)

        let overlay: ImageProcessors.BuiltIn = .overlay(pixels)
        #expect(overlay == .overlay(.pattern(.rgba8)))
        #expect(overlay != .overlay(other))
        #expect(overlay != .overlay(pixels, opacity: 0.9))
        #expect(overlay != .overlay(pixels.reinterpreted(as: .premultiplied)))
        #expect(Set<ImageProcessors.BuiltIn>([overlay, .overlay(pixels), .overlay(other)]).count == 2)
    }

    private static func makePixels(seed: UInt64) -> PixelBuffer {
        var generator = XorShift(state: seed)
        return .make(37, 29, .rgba16, .straight) { _, _ in
            var pixel = SIMD4<UInt16>(repeating: 0)
            for channel in 0..<4 {
                switch UInt8.random(in: 0...5, using: &generator) {
                case 0: pixel[channel] = 0
                case 1: pixel[channel] = .max
                default: pixel[channel] = .random(in: 0 ... .max, using: &generator)
                }
            }
            return pixel
        }
    }

    private static func doubles(_ pixel: SIMD4<UInt16>) -> [Double] { (0..<4).map { Double(pixel[$0]) / 65_535 } }
}
