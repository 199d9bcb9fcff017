import AlcedoCore
import AlcedoProcessing
import Testing

@Suite struct CoverTests {
    private static let square = PixelSize(width: 10, height: 10)

    /// The positions at which the part begins at a whole pixel of the result, with the left edge there.
    private static let places: [(ImageProcessors.Anchor, Int)] = [
        (.left, 0), (.topLeft, 0), (.center, 5), (.top, 5), (.bottom, 5), (.right, 10), (.bottomRight, 10),
        (.at(x: 0.2, y: 0.9), 2), (.focus(x: 0.5, y: 0), 5), (.focus(x: 0.4, y: 1), 3), (.focus(x: 0.1, y: 0.5), 0),
        (.focus(x: 0.99, y: 0.5), 10),
    ]

    @Test(arguments: places.indices, ResizeFilter.allCases)
    func `a covering image is the part of the resized image`(index: Int, filter: ResizeFilter) throws {
        let (anchor, left) = Self.places[index]
        let sampling = ResizeSampling(filter)
        for (format, mode) in ResizeTests.shapes {
            // 20 x 10 pixels cover the square. The transposed image is covered in the other direction.
            let wide = DecodedImage(pixels: .noise(40, 20, format, mode, seed: 21))
            let whole: ImageProcessors.BuiltIn = .resize(filling: Self.square, sampling: sampling)
            let cover: ImageProcessors.BuiltIn = .resize(covering: Self.square, at: anchor, sampling: sampling)
            let filled = try whole.process(wide).pixels

            let result = try cover.process(wide).pixels

            #expect(filled.size == PixelSize(width: 20, height: 10))
            #expect(result == .make(10, 10, format, mode) { filled.pixel(left + $0, $1) }, "\(cover.identifier)")
            let collector = PixelRowCollector()
            try wide.sendRows(to: cover.rows(into: collector))
            #expect(collector.image?.pixels == result)
        }
    }

    @Test func `a focal point moves the part on the longer side only`() throws {
        let tall = DecodedImage(
            pixels: .make(20, 60, .gray8, .opaque) { _, y in SIMD4(repeating: UInt16(y * 4)) })
        for (y, top) in [(0.0, 0), (1 / 6.0, 0), (0.5, 20), (0.75, 35), (0.9, 40), (1, 40)] {
            let cover: ImageProcessors.BuiltIn = .resize(
                covering: PixelSize(width: 20, height: 20), at: .focus(x: 0.3, y: y))

            let result = try cover.process(tall).pixels

            // No pixel is scaled, so that rows are copied.
            #expect((0..<20).map { result.pixel(7, $0).x } == (top..<top + 20).map { UInt16($0 * 4) }, "\(y)")
        }
    }

    @Test func `a small image is enlarged on request only`() throws {
        let image = DecodedImage(pixels: .noise(8, 20, .rgbx8, .opaque, seed: 4))

        let kept = try ImageProcessors.BuiltIn.resize(covering: Self.square, at: .top).process(image)
        let enlarged = try ImageProcessors.BuiltIn.resize(covering: Self.square, enlarges: true).process(image)

        #expect(kept.pixels == .make(8, 10, .rgbx8, .opaque) { image.pixels.pixel($0, $1) })
        #expect(enlarged.size == Self.square)
    }

    @Test func `the identifier has the position, and one form for the center`() {
        let at = { (anchor: ImageProcessors.Anchor) -> String in
            ImageProcessors.BuiltIn.resize(covering: Self.square, at: anchor).identifier
        }
        #expect(at(.center) == "resize3:10x10,cover,lanczos3")
        #expect(at(.focus(x: 0.5, y: 0.5)) == at(.center))
        #expect(at(.at(x: 0, y: 0.5)) == at(.left))
        #expect(at(.top) == "resize3:10x10,cover,0.5;0.0,lanczos3")
        #expect(at(.focus(x: 0.5, y: 0)) == "resize3:10x10,cover,focus:0.5;0.0,lanczos3")
    }

    @Test func `a covering image requests a decoding target that covers twice its size`() {
        let size = PixelSize(width: 20, height: 20)
        for anchor in [ImageProcessors.Anchor.center, .topRight, .focus(x: 0.1, y: 0.2)] {
            let cover: ImageProcessors.BuiltIn = .resize(covering: Self.square, at: anchor)
            #expect(cover.decodingTarget == TargetSize(size, mode: .fill))
        }
        let contained: ImageProcessors.BuiltIn = .resize(containedIn: Self.square)
        #expect(contained.decodingTarget == TargetSize(size, mode: .fit))
    }

    @Test(arguments: [
        (40, 20, ImageProcessors.Anchor.center, 0, 2), (40, 20, .top, 0, 0), (40, 20, .bottomRight, 0, 5),
        (10, 40, .center, 3, 0), (10, 40, .left, 0, 0), (10, 40, .right, 7, 0),
    ])
    func `a contained image lies on the background`(
        width: Int, height: Int, anchor: ImageProcessors.Anchor, left: Int, top: Int
    ) throws {
        let image = DecodedImage(pixels: .noise(width, height, .rgbx8, .opaque, seed: 5))
        let fitted = try ImageProcessors.BuiltIn.resize(fitting: Self.square).process(image).pixels
        let color = PixelColor(red: 9, green: 8, blue: 7)
        let contain: ImageProcessors.BuiltIn = .resize(containedIn: Self.square, at: anchor, background: color)

        let result = try contain.process(image).pixels

        let expected = PixelBuffer.make(10, 10, .rgbx8, .opaque) { x, y in
            let isInside = (0..<fitted.width).contains(x - left) && (0..<fitted.height).contains(y - top)
            return isInside ? fitted.pixel(x - left, y - top) : SIMD4(9, 8, 7, 255)
        }
        #expect(result == expected)
    }
}
