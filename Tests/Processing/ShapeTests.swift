import AlcedoCore
import AlcedoProcessing
import Testing

@Suite struct ShapeTests {
    private static let clear = SIMD4<UInt16>(repeating: 0)

    /// Returns the fraction of a pixel inside a rectangle with rounded corners, sampled at many points.
    private static func coverage(
        _ x: Int, _ y: Int, _ size: PixelSize, _ radii: [Double], inset: Double = 0
    ) -> Double {
        let (left, top) = (Double(x), Double(y))
        let round = (radii.max() ?? 0) + inset
        let isInside =
            left >= inset && top >= inset && left + 1 <= Double(size.width) - inset
            && top + 1 <= Double(size.height) - inset
        let isStraight =
            (left >= round && left + 1 <= Double(size.width) - round)
            || (top >= round && top + 1 <= Double(size.height) - round)
        if isInside && isStraight { return 1 }
        let points = 40
        var hits = 0
        let (right, bottom) = (Double(size.width) - inset, Double(size.height) - inset)
        for i in 0..<points {
            for j in 0..<points {
                let px = Double(x) + (Double(i) + 0.5) / Double(points)
                let py = Double(y) + (Double(j) + 0.5) / Double(points)
                guard px > inset, px < right, py > inset, py < bottom else { continue }
                let corners = [
                    (px - inset, py - inset), (right - px, py - inset), (right - px, bottom - py),
                    (px - inset, bottom - py),
                ]
                let isOutside = zip(corners, radii.map { max(0, $0 - inset) }).contains { corner, radius in
                    guard corner.0 < radius, corner.1 < radius else { return false }
                    let (dx, dy) = (radius - corner.0, radius - corner.1)
                    return dx * dx + dy * dy > radius * radius
                }
                if !isOutside { hits += 1 }
            }
        }
        return Double(hits) / Double(points * points)
    }

    @Test(arguments: [
        [4.0, 4, 4, 4], [0, 3.5, 7, 1.25], [10, 0, 0, 9], [0.5, 0.5, 0.5, 0.5], [9.5, 9.5, 9.5, 9.5],
    ])
    func `corners are transparent by the area outside`(radii: [Double]) throws {
        let size = PixelSize(width: 23, height: 19)
        let pixels = PixelBuffer.make(23, 19, .rgbx8, .opaque) { _, _ in SIMD4(10, 20, 30, 255) }
        let corners = CornerRadii(topLeft: radii[0], topRight: radii[1], bottomRight: radii[2], bottomLeft: radii[3])

        let result = try ImageProcessors.RoundedCorners(corners).process(DecodedImage(pixels: pixels)).pixels

        #expect(result.format == .rgba8)
        #expect(result.alphaMode == .straight)
        for (x, y) in result.positions {
            let pixel = result.pixel(x, y)
            #expect(abs(Double(pixel.w) - Self.coverage(x, y, size, radii) * 255) <= 1.5, "\(x), \(y)")
            #expect(pixel == (pixel.w == 0 ? Self.clear : SIMD4(10, 20, 30, pixel.w)))
        }
    }

    @Test func `a border covers the area between two shapes`() throws {
        let size = PixelSize(width: 21, height: 17)
        let radii = [6.0, 2, 8, 0]
        let pixels = PixelBuffer.make(21, 17, .rgba8, .opaque) { _, _ in SIMD4(200, 0, 0, 255) }
        let border = ImageProcessors.Border(width: 2.5, color: PixelColor(red: 0, green: 100, blue: 0, alpha: 128))
        let corners = CornerRadii(topLeft: 6, topRight: 2, bottomRight: 8)

        let result = try ImageProcessors.RoundedCorners(corners, border: border).process(DecodedImage(pixels: pixels))
            .pixels

        for (x, y) in result.positions {
            let outside = Self.coverage(x, y, size, radii)
            let line = (1 - Self.coverage(x, y, size, radii, inset: 2.5)) * 128 / 255
            let pixel = result.pixel(x, y)
            #expect(abs(Double(pixel.w) - outside * 255) <= 1.5)
            guard pixel.w > 0 else { continue }
            #expect(abs(Double(pixel.x) - 200 * (1 - line)) <= 1.5)
            #expect(abs(Double(pixel.y) - 100 * line) <= 1.5)
        }
    }

    @Test func `a circle is cut from the middle square`() throws {
        for (format, mode) in ResizeTests.shapes {
            let pixels = PixelBuffer.noise(31, 20, format, mode, seed: 2)

            let result = try ImageProcessors.Circle().process(DecodedImage(pixels: pixels)).pixels

            #expect(result.size == PixelSize(width: 20, height: 20))
            #expect(result.format == (format.isDeep ? .rgba16 : .rgba8))
            #expect(result.alphaMode == (mode == .opaque ? .straight : mode))
            #expect(result.pixel(0, 0) == Self.clear)
            #expect(result.pixel(19, 19) == Self.clear)
            for (x, y) in [(10, 10), (9, 1), (18, 9), (5, 14)] {
                let (pixel, source) = (result.pixel(x, y), pixels.pixel(x + 5, y))
                let opaque: UInt16 = format.isDeep ? .max : 255
                #expect(pixel == SIMD4(source.x, source.y, source.z, mode == .opaque ? opaque : source.w))
            }
        }
    }

    @Test func `a circle has the area of a circle`() throws {
        for side in [1, 2, 3, 10, 101] {
            let pixels = PixelBuffer.make(side, side, .rgba16, .opaque) { _, _ in SIMD4(repeating: .max) }

            let result = try ImageProcessors.Circle().process(DecodedImage(pixels: pixels)).pixels

            let area = result.positions.reduce(0.0) { $0 + Double(result.pixel($1.x, $1.y).w) / 65_535 }
            let expected = Double.pi * Double(side * side) / 4
            #expect(abs(area - expected) <= expected * 0.001 + 0.002)
        }
    }

    @Test func `oversized radii are reduced proportionally`() throws {
        let image = DecodedImage(pixels: .pattern(.rgbx8))
        let pairs: [(CornerRadii, CornerRadii)] = [
            (CornerRadii(1000), CornerRadii(8.5)), (CornerRadii(0.5, unit: .shorterSide), CornerRadii(8.5)),
            (CornerRadii(3, unit: .shorterSide), CornerRadii(8.5)),
            (CornerRadii(topLeft: 23, topRight: 23), CornerRadii(topLeft: 11.5, topRight: 11.5)),
            (CornerRadii(topLeft: 30, bottomLeft: 4), CornerRadii(topLeft: 15, bottomLeft: 2)),
        ]
        for (large, fitting) in pairs.dropLast() {
            #expect(
                try ImageProcessors.RoundedCorners(large).process(image).pixels
                    == ImageProcessors.RoundedCorners(fitting).process(image).pixels)
        }
        // 34 pixels on a side of 17.
        #expect(
            try ImageProcessors.RoundedCorners(pairs[4].0).process(image).pixels
                == ImageProcessors.RoundedCorners(pairs[4].1).process(image).pixels)
    }

    @Test func `a border alone keeps an opaque image opaque`() throws {
        let border = ImageProcessors.Border(width: 1, color: PixelColor(red: 9, green: 9, blue: 9))
        for (format, mode) in ResizeTests.shapes {
            let image = DecodedImage(pixels: .noise(5, 4, format, mode, seed: 2))

            let result = try ImageProcessors.RoundedCorners(radius: 0, border: border).process(image).pixels

            #expect(result.format == format)
            #expect(result.alphaMode == mode)
            let nine: UInt16 = format.isDeep ? 9 * 257 : 9
            #expect(result.pixel(2, 0).x == nine)
            #expect(result.pixel(4, 3).y == nine)
            #expect(result.pixel(2, 2) == image.pixels.pixel(2, 2))
        }
    }
}
