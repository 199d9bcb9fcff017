import AlcedoCore
import AlcedoProcessing
import Testing

/// Positions, sizes, tiles, masks and formats of overlays.
@Suite struct OverlayTests {
    typealias Overlay = ImageProcessors.Overlay
    private typealias BuiltIn = ImageProcessors.BuiltIn

    private let base = PixelBuffer.noise(31, 23, .rgbx8, .opaque, seed: 1)
    private let badge = PixelBuffer.noise(6, 4, .rgba8, .opaque, seed: 2)

    private func draw(_ overlays: [Overlay], on base: PixelBuffer) throws -> PixelBuffer {
        try BuiltIn.overlay(overlays).process(DecodedImage(pixels: base)).pixels
    }

    @Test(arguments: [
        (ImageProcessors.Anchor.topLeft, 0, 0, 0, 0), (.bottomRight, 0, 0, 25, 19), (.topLeft, -8, 9, 4, 1),
        (.topRight, 600, -401, 1, 3), (.center, 0, 0, 12, 9),
    ])
    func `a tiled overlay covers the image, and one tile lies at the anchor`(
        anchor: ImageProcessors.Anchor, x: Int, y: Int, left: Int, top: Int
    ) throws {
        let result = try draw([Overlay(badge, at: anchor, x: x, y: y, isTiled: true)], on: base)

        let expected = PixelBuffer.make(31, 23, .rgbx8, .opaque) { x, y in
            badge.pixel((x - left + 60) % 6, (y - top + 60) % 4)
        }
        #expect(result == expected)
    }

    @Test func `a tile larger than the image shows the part at its place`() throws {
        let large = PixelBuffer.noise(50, 40, .rgbx8, .opaque, seed: 3)

        let result = try draw([Overlay(large, at: .topLeft, x: -30, y: 11, isTiled: true)], on: base)

        let expected = PixelBuffer.make(31, 23, .rgbx8, .opaque) { x, y in
            large.pixel((x + 30) % 50, (y + 29) % 40)
        }
        #expect(result == expected)
    }

    // Factors and shares of a 31 x 23 image under a 6 x 4 badge.
    @Test(arguments: [
        (Overlay.Scale.factor(2), 12, 8), (.factor(0.5), 3, 2), (.factor(0.01), 1, 1), (.factor(1.4), 8, 6),
        (.share(1), 31, 21), (.share(0.5), 16, 11), (.share(0.1), 3, 2), (.share(0.001), 1, 1),
    ])
    func `a scaled overlay is the resized one`(scale: Overlay.Scale, width: Int, height: Int) throws {
        for (format, mode) in ResizeTests.shapes {
            let badge = PixelBuffer.noise(6, 4, format, mode, seed: 4)
            let resize = ImageProcessors.Resize(
                to: PixelSize(width: width, height: height), mode: .exact, enlarges: true)
            let resized = try resize.process(DecodedImage(pixels: badge)).pixels
            for isTiled in [false, true] {
                let result = try draw([Overlay(badge, at: .bottom, scale: scale, isTiled: isTiled)], on: base)

                #expect(try result == draw([Overlay(resized, at: .bottom, isTiled: isTiled)], on: base))
            }
        }
    }

    @Test func `only the visible part of a scaled overlay is filtered, and shows the same pixels`() throws {
        let resize = ImageProcessors.Resize(to: PixelSize(width: 60, height: 40), mode: .exact, enlarges: true)
        let resized = try resize.process(DecodedImage(pixels: badge)).pixels
        for anchor in [ImageProcessors.Anchor.topLeft, .center, .bottomRight] {
            for (x, y) in [(0, 0), (-13, 7), (44, -39)] {
                let result = try draw([Overlay(badge, at: anchor, x: x, y: y, scale: .factor(10))], on: base)

                // Positions between two pixels of the overlay are rounded differently.
                let expected = try draw([Overlay(resized, at: anchor, x: x, y: y)], on: base)
                #expect(result.largestDifference(to: expected) <= 1)
            }
        }
    }

    @Test func `the memory for rows counts filtered pixels, and at most those of the image`() throws {
        let large = PixelBuffer.noise(300, 200, .rgba8, .straight, seed: 5)
        let header = PixelRowHeader(size: PixelSize(width: 1_000, height: 500), format: .rgbx8, alphaMode: .opaque)
        func byteCount(_ overlays: [Overlay]) -> Int {
            BuiltIn.overlay(overlays).rows(into: PixelRowCollector()).byteCount(for: header)
        }
        let none = byteCount([])
        let row = MemoryLayout<SIMD4<Float>>.stride
        let filter = 1 << 20

        #expect(byteCount([Overlay(large)]) - none == 300 * row)
        #expect(byteCount([Overlay(large, x: 5_000)]) == none)
        let scaled = byteCount([Overlay(large, scale: .factor(2))]) - none
        #expect(scaled > 4 * 600 * 400 + 600 * row)
        #expect(scaled < 4 * 600 * 400 + 600 * row + filter)
        let clipped = byteCount([Overlay(large, scale: .factor(50))]) - none
        #expect(clipped > 4 * 1_000 * 500 + 1_000 * row)
        #expect(clipped < 4 * 1_000 * 500 + 1_000 * row + filter)
        #expect(byteCount([Overlay(large, scale: .factor(2)), Overlay(large)]) - none == scaled + 300 * row)
    }

    @Test func `a scaled overlay beyond the limits is an error`() {
        for isTiled in [false, true] {
            let overlay = Overlay(badge, scale: .factor(1e300), isTiled: isTiled)
            #expect { try draw([overlay], on: base) } throws: { ($0 as? ImageProcessingError)?.code == .tooLarge }
        }
    }

    @Test func `overlays are drawn one after another`() throws {
        for (format, mode) in ResizeTests.shapes {
            let base = PixelBuffer.noise(31, 23, format, mode, seed: 6)
            let overlays = [
                Overlay(.noise(20, 20, .rgba8, .straight, seed: 7), at: .topLeft, x: 3, y: 2),
                Overlay(.noise(9, 30, .rgba16, .premultiplied, seed: 8), mode: .multiply, opacity: 0.7),
                Overlay(.noise(7, 5, .gray8, .opaque, seed: 9), isTiled: true, mode: .screen, opacity: 0.3),
            ]

            let together = try draw(overlays, on: base)
            var alone = base
            for overlay in overlays { alone = try draw([overlay], on: alone) }

            // Each of the others rounds the samples.
            let difference = together.converted(to: .premultiplied).largestDifference(
                to: alone.converted(to: .premultiplied))
            #expect(difference <= 4, "\(format) \(mode)")
        }
    }

    @Test(arguments: ResizeTests.shapes)
    func `a mask removes the image outside of it`(format: PixelFormat, mode: AlphaMode) throws {
        let base = PixelBuffer.noise(31, 23, format, mode, seed: 10)
        let mask = PixelBuffer.make(6, 4, .rgba8, .straight) { x, _ in SIMD4(9, 9, 9, x < 3 ? 255 : 0) }

        let kept = try draw([Overlay(mask, at: .topLeft, x: 2, y: 5, compositing: .destinationIn)], on: base)
        let cut = try draw([Overlay(mask, at: .topLeft, x: 2, y: 5, compositing: .destinationOut)], on: base)
        let none = try draw([Overlay(mask, x: 99, compositing: .destinationIn)], on: base)

        for (x, y) in base.positions {
            let isInside = (2..<5).contains(x) && (5..<9).contains(y)
            let below = base.pixel(x, y)
            let clear = SIMD4<UInt16>(repeating: 0)
            let (inside, outside) = isInside ? (below, clear) : (clear, below)
            // The color of transparent pixels does not count.
            #expect(kept.pixel(x, y).w == inside.w)
            #expect(inside.w == 0 || kept.pixel(x, y) == inside)
            #expect(cut.pixel(x, y).w == outside.w)
            #expect(outside.w == 0 || cut.pixel(x, y) == outside)
            #expect(none.pixel(x, y) == clear)
        }
    }

    @Test(arguments: ImageProcessors.CompositingOperator.allCases)
    func `opaque images get alpha if an operator can make them transparent`(
        compositing: ImageProcessors.CompositingOperator
    ) throws {
        let isTransparent =
            [
                .sourceIn, .sourceOut, .destinationIn, .destinationOut, .destinationAtop, .xor,
            ] as Set<ImageProcessors.CompositingOperator>
        for (format, colored) in [(PixelFormat.gray8, PixelFormat.rgba8), (.rgbx8, .rgba8), (.gray16, .rgba16)] {
            let base = PixelBuffer.noise(9, 9, format, .opaque, seed: 11)
            let gray = PixelBuffer.make(5, 5, .rgba8, .straight) { x, y in SIMD4(40, 40, 40, UInt16(60 * x)) }

            let result = try draw([Overlay(gray, compositing: compositing)], on: base)

            let changes = isTransparent.contains(compositing)
            #expect(result.format == (changes ? colored : format))
            #expect(result.alphaMode == (changes ? .straight : .opaque))
            #expect(changes == result.positions.contains { result.pixel($0.x, $0.y).w < (format.isDeep ? .max : 255) })
        }
    }

    @Test func `a gray image becomes colored under one of several overlays`() throws {
        let base = PixelBuffer.noise(9, 9, .gray16, .opaque, seed: 12)
        let gray = PixelBuffer.noise(3, 3, .gray8, .opaque, seed: 13)

        #expect(try draw([Overlay(gray), Overlay(gray, at: .top)], on: base).format == .gray16)
        #expect(try draw([Overlay(gray), Overlay(badge)], on: base).format == .rgba16)
        #expect(try draw([Overlay(gray), Overlay(badge, x: 99)], on: base).format == .gray16)
    }

    @Test func `the identifier contains everything that changes pixels`() {
        let overlay = Overlay(badge)
        let changes: [(inout Overlay) -> Void] = [
            { $0.anchor = .top }, { $0.x = 1 }, { $0.y = 1 }, { $0.scale = .factor(2) }, { $0.scale = .share(1) },
            { $0.isTiled = true }, { $0.mode = .screen }, { $0.compositing = .xor }, { $0.opacity = 0.5 },
        ]
        var lists = [[], [overlay], [overlay, overlay], [Overlay(.noise(6, 4, .rgba8, .opaque, seed: 14))]]
        lists += changes.map { change in
            var changed = overlay
            change(&changed)
            return [changed]
        }

        let identifiers = lists.map { BuiltIn.overlay($0).identifier }
        #expect(Set(identifiers).count == lists.count)
        #expect(BuiltIn.overlay([Overlay(.noise(6, 4, .rgba8, .opaque, seed: 2))]).identifier == identifiers[1])
        #expect(BuiltIn.overlay([Overlay(badge, scale: .factor(1))]).identifier == identifiers[1])
    }
}
