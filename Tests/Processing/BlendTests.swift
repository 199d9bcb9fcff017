import AlcedoCore
import AlcedoProcessing
import Testing

@Suite struct BlendTests {
    @Test(arguments: ImageProcessors.BlendMode.allCases)
    func `every mode matches the specification's formula for any alpha`(mode: ImageProcessors.BlendMode) throws {
        // Extreme samples are frequent, because the formulas have special cases there.
        let base = Self.makePixels(seed: 31)
        let over = Self.makePixels(seed: 62)

        let result = try ImageProcessors.BuiltIn.overlay(over, mode: mode).process(DecodedImage(pixels: base)).pixels

        for (x, y) in result.positions {
            let expected = ReferenceBlend.composite(
                Self.doubles(base.pixel(x, y)), Self.doubles(over.pixel(x, y)), mode)
            let pixel = Self.doubles(result.pixel(x, y))
            #expect(abs(pixel[3] - expected[3]) * 65_535 <= 1)
            for channel in 0..<3 { #expect(abs(pixel[channel] * pixel[3] - expected[channel]) * 65_535 <= 2) }
        }
    }

    @Test(arguments: ImageProcessors.CompositingOperator.allCases, [ImageProcessors.BlendMode.normal, .multiply])
    func `every operator matches the specification's formula for any alpha`(
        compositing: ImageProcessors.CompositingOperator, mode: ImageProcessors.BlendMode
    ) throws {
        let base = Self.makePixels(seed: 31)
        let over = Self.makePixels(seed: 62)

        let result = try ImageProcessors.BuiltIn.overlay(over, mode: mode, compositing: compositing)
            .process(DecodedImage(pixels: base)).pixels

        for (x, y) in result.positions {
            let expected = ReferenceBlend.composite(
                Self.doubles(base.pixel(x, y)), Self.doubles(over.pixel(x, y)), mode, compositing)
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
        let veiled = try ImageProcessors.Tint(PixelColor(red: 255, green: 255, blue: 255, alpha: 128)).process(image)
            .pixels
        let stamped = try ImageProcessors.BuiltIn.overlay(.pattern(.rgba8)).process(image).pixels
        let grayStamped = try ImageProcessors.BuiltIn.overlay(.pattern(.gray8)).process(image).pixels

        #expect(tinted == .make(23, 17, .rgbx8, .opaque) { SIMD4(image.pixels.pixel($0, $1).x, 0, 0, 255) })
        #expect(veiled.format == .gray8)
        #expect(grayStamped.format == .gray8)
        #expect(stamped.format == .rgbx8)
    }

    @Test(arguments: [
        (PixelFormat.rgba8, AlphaMode.straight), (.rgba8, .premultiplied), (.rgba16, .straight),
        (.rgba16, .premultiplied), (.rgba8, .opaque), (.rgba16, .opaque), (.rgbx8, .opaque),
    ])
    func `a gray watermark in any format keeps a gray image gray`(format: PixelFormat, mode: AlphaMode) throws {
        let image = DecodedImage(pixels: .pattern(.gray8))
        let colored = DecodedImage(pixels: .pattern(.rgbx8))
        let full: UInt16 = format.isDeep ? .max : 255
        let half = full / 2 + 1
        let gray = PixelBuffer.make(9, 7, format, mode) { x, y in
            let alpha = mode == .opaque ? full : [0, half, full][x % 3]
            let level = (x + y) % 2 == 0 ? min(alpha, half) : 0
            return SIMD4(level, level, level, alpha)
        }
        let tinted = PixelBuffer.make(9, 7, format, mode) { x, y in
            let pixel = gray.pixel(x, y)
            return x == 8 && y == 6 ? SIMD4(pixel.x, pixel.y, pixel.z == 0 ? 1 : 0, pixel.w) : pixel
        }

        let result = try ImageProcessors.BuiltIn.overlay(gray, at: .topLeft).process(image).pixels

        #expect(result.format == .gray8)
        for (x, y) in result.positions where x < 9 && y < 7 {
            let below = Double(image.pixels.pixel(x, y).x) / 255
            let above = gray.pixel(x, y)
            let alpha = Double(above.w) / Double(full)
            let level = Double(above.x) / Double(full) * (mode == .premultiplied ? 1 : alpha)
            let expected = (below * (1 - alpha) + level) * 255
            #expect(abs(Double(result.pixel(x, y).x) - expected) <= 1)
        }
        #expect(try ImageProcessors.BuiltIn.overlay(tinted, at: .topLeft).process(image).pixels.format == .rgbx8)
        #expect(try ImageProcessors.BuiltIn.overlay(gray).process(colored).pixels.format == .rgbx8)
    }

    @Test func `transparent colors of a watermark do not count`() throws {
        let image = DecodedImage(pixels: .pattern(.gray8))
        let overlay = PixelBuffer.make(5, 5, .rgba8, .straight) { x, _ in
            x == 0 ? SIMD4(200, 10, 10, 0) : SIMD4(90, 90, 90, 120)
        }

        let result = try ImageProcessors.BuiltIn.overlay(overlay).process(image).pixels

        #expect(result.format == .gray8)
    }

    @Test(arguments: [
        (ImageProcessors.Anchor.topLeft, 0, 0, 0, 0), (.bottomRight, 0, 0, 7, 6), (.center, 0, 0, 3, 3),
        (.center, -2, 1, 1, 4),
        (.topLeft, -2, -3, -2, -3), (.bottomRight, 2, 3, 9, 9), (.right, 0, 0, 7, 3), (.bottom, 0, 0, 3, 6),
        (.at(x: 0.25, y: 0.9), 0, 0, 1, 5),
    ])
    func `an overlay is placed by anchor and offset`(
        anchor: ImageProcessors.Anchor, x: Int, y: Int, left: Int, top: Int
    ) throws {
        let base = PixelBuffer.noise(11, 10, .rgbx8, .opaque, seed: 1)
        let over = PixelBuffer.noise(4, 4, .rgba8, .opaque, seed: 2)

        let overlay = ImageProcessors.BuiltIn.overlay(over, at: anchor, x: x, y: y)
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

        let result = try ImageProcessors.BuiltIn.overlay(over, opacity: 0.5).process(DecodedImage(pixels: base)).pixels

        #expect(result.pixel(0, 0) == SIMD4(51, 51, 0, 255))
    }

    @Test func `overlays have one identifier when everything of them is equal`() {
        let pixels = PixelBuffer.pattern(.rgba8)
        let other = PixelBuffer.noise(23, 17, .rgba8, .straight, seed: 1)

        let identifier = ImageProcessors.BuiltIn.overlay(pixels).identifier
        #expect(identifier == ImageProcessors.BuiltIn.overlay(.pattern(.rgba8)).identifier)
        #expect(identifier != ImageProcessors.BuiltIn.overlay(other).identifier)
        #expect(identifier != ImageProcessors.BuiltIn.overlay(pixels, x: 1).identifier)
        #expect(identifier != ImageProcessors.BuiltIn.overlay(pixels, opacity: 0.9).identifier)
        #expect(identifier != ImageProcessors.BuiltIn.overlay(pixels.reinterpreted(as: .premultiplied)).identifier)
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
