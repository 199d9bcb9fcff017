import AlcedoCore
import AlcedoProcessing
import TestSupport
import Testing

@Suite struct TrimTests {
    /// An image of 12 x 9 pixels with a border of `border` around the part of 5 x 3 pixels at (4, 2).
    private static func bordered(
        _ format: PixelFormat, _ mode: AlphaMode, _ border: SIMD4<UInt16>, _ inside: SIMD4<UInt16>
    ) -> PixelBuffer {
        .make(12, 9, format, mode) { x, y in (4..<9).contains(x) && (2..<5).contains(y) ? inside : border }
    }

    @Test(arguments: ResizeTests.shapes.indices)
    func `the border of one color is removed in every format`(shape: Int) throws {
        let (format, mode) = ResizeTests.shapes[shape]
        let unit: UInt16 = format.isDeep ? 257 : 1
        let (border, inside) = (SIMD4<UInt16>(100, 100, 100, 255) &* unit, SIMD4<UInt16>(111, 111, 111, 255) &* unit)
        let image = DecodedImage(pixels: Self.bordered(format, mode, border, inside))

        let result = try ImageProcessors.BuiltIn.trim().process(image).pixels

        #expect(result == .make(5, 3, format, mode) { _, _ in inside })
        // A difference of the tolerance belongs to the border, and then no contents are left.
        #expect(try ImageProcessors.BuiltIn.trim(tolerance: 11).process(image).pixels == image.pixels)
        let color = PixelColor(red: 100, green: 100, blue: 100)
        #expect(try ImageProcessors.BuiltIn.trim(color).process(image).pixels == result)
        #expect(try ImageProcessors.BuiltIn.trim(.white).process(image).pixels == image.pixels)
    }

    @Test func `one pixel at any place is found`() throws {
        for (x, y) in [(3, 2), (1, 0), (0, 1), (6, 5), (6, 0), (0, 5)] {
            let pixels = PixelBuffer.make(7, 6, .gray8, .opaque) { SIMD4(repeating: $0 == x && $1 == y ? 0 : 255) }

            let result = try ImageProcessors.BuiltIn.trim().process(DecodedImage(pixels: pixels)).pixels

            #expect(result == .make(1, 1, .gray8, .opaque) { _, _ in SIMD4(repeating: 0) }, "\(x), \(y)")
        }
    }

    @Test func `the contents reach from the first to the last pixel on each side`() throws {
        let dots = [(5, 1), (2, 3), (8, 4), (6, 7)]
        let pixels = PixelBuffer.make(12, 10, .gray8, .opaque) { x, y in
            SIMD4(repeating: dots.contains { $0 == (x, y) } ? 200 : 30)
        }

        let result = try ImageProcessors.BuiltIn.trim().process(DecodedImage(pixels: pixels)).pixels

        #expect(result == .make(7, 7, .gray8, .opaque) { pixels.pixel($0 + 2, $1 + 1) })
    }

    @Test func `the color under transparent pixels does not count`() throws {
        let pixels = PixelBuffer.make(9, 9, .rgba8, .straight) { x, y in
            x == 4 && y == 4 ? SIMD4(1, 2, 3, 90) : SIMD4(UInt16(x * 20), UInt16(y * 20), 7, 0)
        }

        let result = try ImageProcessors.BuiltIn.trim().process(DecodedImage(pixels: pixels)).pixels

        #expect(result == .make(1, 1, .rgba8, .straight) { _, _ in SIMD4(1, 2, 3, 90) })
    }

    /// White pixels with a black one at (x, 2).
    private static func dot(_ x: Int) -> PixelBuffer {
        .make(6, 6, .gray8, .opaque) { SIMD4(repeating: $0 == x && $1 == 2 ? 0 : 255) }
    }

    @Test func `all frames of an animation keep the contents of the first one`() throws {
        let frames = [1, 2, 3].map { Self.dot($0) }
        let source = MadeFrames(frames[0].size, frames.map { ($0, .milliseconds(20)) })
        let image = DecodedImage(pixels: frames[0], frames: source)

        let result = try ImageProcessors.BuiltIn.trim().process(image)

        #expect(result.pixels == .make(1, 1, .gray8, .opaque) { _, _ in SIMD4(repeating: 0) })
        let second = try #require(result.frames).frame(at: 1)
        #expect(second == .make(1, 1, .gray8, .opaque) { _, _ in SIMD4(repeating: 255) })
    }
}
