import AlcedoCore
import AlcedoProcessing
import Testing

@Suite struct ExtendTests {
    private static let color = PixelColor(red: 200, green: 100, blue: 50, alpha: 128)
    private static let fills: [ImageProcessors.MarginFill] = [.color(color), .color(.white), .edge, .mirror]

    /// Returns the index of the pixel that is shown outside of a side of `count` pixels, by walking along it.
    private static func reflected(_ index: Int, _ count: Int) -> Int {
        var (position, step) = (0, 1)
        // The walk stays for one more step at each edge, because the mirrored image begins with the edge.
        for _ in 0..<abs(index < 0 ? -1 - index : index) {
            let next = position + step
            if (0..<count).contains(next) { position = next } else { step = -step }
        }
        return position
    }

    @Test(arguments: fills, ResizeTests.shapes.indices)
    func `every margin has the contents of its fill`(fill: ImageProcessors.MarginFill, shape: Int) throws {
        let (format, mode) = ResizeTests.shapes[shape]
        for (width, height) in [(5, 4), (1, 1), (2, 7)] {
            let pixels = PixelBuffer.noise(width, height, format, mode, seed: 9)
            let extend: ImageProcessors.BuiltIn = .extend(top: 3, left: 1, bottom: 11, right: 6, with: fill)

            let result = try extend.process(DecodedImage(pixels: pixels)).pixels

            #expect(result.size == PixelSize(width: width + 7, height: height + 14))
            let image = result.positions.filter {
                (0..<width).contains($0.x - 1) && (0..<height).contains($0.y - 3)
            }
            #expect(image.count == width * height)
            for (x, y) in result.positions {
                let (column, row) = (x - 1, y - 3)
                let isInside = (0..<width).contains(column) && (0..<height).contains(row)
                let expected: SIMD4<UInt16>
                switch fill {
                // White changes no format. The test of formats checks images under other colors.
                case .color where isInside: continue
                case .color(let color): expected = Self.samples(of: color, in: result)
                case .edge: expected = pixels.pixel(max(0, min(column, width - 1)), max(0, min(row, height - 1)))
                case .mirror:
                    expected = pixels.pixel(Self.reflected(column, width), Self.reflected(row, height))
                }
                #expect(result.pixel(x, y) == expected, "\(extend.identifier) at \(x), \(y)")
            }
            if fill == .color(.white) {
                for (x, y) in image { #expect(result.pixel(x, y) == pixels.pixel(x - 1, y - 3)) }
            }
        }
    }

    /// Returns the samples of a color in the format of a buffer.
    private static func samples(of color: PixelColor, in pixels: PixelBuffer) -> SIMD4<UInt16> {
        let straight = SIMD4<UInt32>(
            UInt32(color.red), UInt32(color.green), UInt32(color.blue), UInt32(color.alpha))
        let unit: UInt32 = pixels.format.isDeep ? 257 : 1
        guard pixels.alphaMode == .premultiplied else { return SIMD4(truncatingIfNeeded: straight &* unit) }
        let alpha = straight.w
        let products = SIMD4(straight.x * alpha, straight.y * alpha, straight.z * alpha, alpha * 255)
        return SIMD4(truncatingIfNeeded: (products &* unit &+ 127) / 255)
    }

    @Test(arguments: [
        (PixelFormat.gray8, AlphaMode.opaque, PixelColor.clear, PixelFormat.rgba8, AlphaMode.straight),
        (.gray8, .opaque, .black, .gray8, .opaque),
        (.gray8, .opaque, PixelColor(red: 1, green: 2, blue: 3), .rgbx8, .opaque),
        (.gray16, .opaque, PixelColor(red: 1, green: 2, blue: 3), .rgba16, .opaque),
        (.gray16, .opaque, .clear, .rgba16, .straight), (.rgbx8, .opaque, .clear, .rgba8, .straight),
        (.rgbx8, .opaque, .white, .rgbx8, .opaque), (.rgba8, .straight, .white, .rgba8, .straight),
        (.rgba16, .premultiplied, .clear, .rgba16, .premultiplied),
    ])
    func `the format changes only where it cannot hold the color`(
        format: PixelFormat, mode: AlphaMode, color: PixelColor, expected: PixelFormat, expectedMode: AlphaMode
    ) throws {
        let pixels = PixelBuffer.noise(3, 2, format, mode, seed: 3)

        let result = try ImageProcessors.BuiltIn.extend(by: 1, with: .color(color)).process(
            DecodedImage(pixels: pixels)
        ).pixels

        #expect(result.format == expected)
        #expect(result.alphaMode == expectedMode)
        for (x, y) in pixels.positions {
            // The alpha sample of an opaque pixel is the maximum in every format.
            #expect(result.pixel(x + 1, y + 1) == pixels.pixel(x, y))
        }
    }

    @Test(arguments: [
        (ImageProcessors.Anchor.center, 3, 2), (.topLeft, 0, 0), (.bottomRight, 6, 5), (.at(x: 0.5, y: 1), 3, 5),
        (.focus(x: 0, y: 0.5), 0, 2),
    ])
    func `an image is placed in a size`(anchor: ImageProcessors.Anchor, left: Int, top: Int) throws {
        let pixels = PixelBuffer.noise(4, 3, .rgba8, .straight, seed: 3)
        let extend: ImageProcessors.BuiltIn = .extend(to: PixelSize(width: 10, height: 8), at: anchor)

        let result = try extend.process(DecodedImage(pixels: pixels)).pixels

        let inside = { (x: Int, y: Int) in (0..<4).contains(x - left) && (0..<3).contains(y - top) }
        let expected = PixelBuffer.make(10, 8, .rgba8, .straight) { x, y in
            inside(x, y) ? pixels.pixel(x - left, y - top) : SIMD4(repeating: 0)
        }
        #expect(result == expected)
    }

    @Test func `a side that is longer than the size is kept`() throws {
        let image = DecodedImage(pixels: .noise(9, 3, .rgbx8, .opaque, seed: 1))

        let result = try ImageProcessors.BuiltIn.extend(to: PixelSize(width: 4, height: 5), with: .edge).process(image)

        #expect(result.size == PixelSize(width: 9, height: 5))
    }

    @Test func `a result beyond the limits is an error before any memory is allocated`() {
        let image = DecodedImage(pixels: .noise(9, 3, .rgbx8, .opaque, seed: 1))
        let extensions: [ImageProcessors.BuiltIn] = [
            .extend(left: 1 << 16), .extend(by: .max), .extend(by: .max, with: .mirror),
            .extend(to: PixelSize(width: 1 << 15, height: 1 << 14)), .extend(to: PixelSize(width: .max, height: .max)),
        ]
        for extend in extensions {
            for isRows in [false, true] {
                #expect { () throws in
                    if isRows {
                        try image.sendRows(to: extend.rows(into: PixelRowCollector()))
                    } else {
                        _ = try extend.process(image)
                    }
                } throws: { ($0 as? ImageProcessingError)?.code == .tooLarge }
            }
        }
    }

    @Test func `identifiers have all parameters`() {
        let list: [ImageProcessors.BuiltIn] = [
            .extend(top: 1), .extend(left: 1), .extend(bottom: 1), .extend(right: 1), .extend(by: 1),
            .extend(by: 1, with: .edge), .extend(by: 1, with: .mirror), .extend(by: 1, with: .color(.white)),
            .extend(to: PixelSize(width: 1, height: 2)), .extend(to: PixelSize(width: 2, height: 1)),
            .extend(to: PixelSize(width: 1, height: 2), at: .top),
            .extend(to: PixelSize(width: 1, height: 2), with: .edge),
            .trim(), .trim(tolerance: 11), .trim(.white), .trim(.white, tolerance: 11),
        ]
        #expect(Set(list.map(\.identifier)).count == list.count)
    }
}
