import AlcedoCore
@testable import AlcedoProcessing
import AlcedoTesting
import TestSupport
import Testing

/// The position `smart` in images whose subject is known.
@Suite struct SmartTests {
    /// The centers of nine subjects in an image of 150 x 150 pixels.
    private static let places = [25, 75, 125].flatMap { y in [25, 75, 125].map { (x: $0, y: y) } }
    /// The pixels by which a position may differ: one of the reduction.
    private static let step = 150 / 32 + 1

    private static func origin(of part: PixelSize, in pixels: PixelBuffer) throws -> (x: Int, y: Int) {
        try Saliency(of: pixels).anchor(of: part, in: pixels.size).origin(of: part, in: pixels.size)
    }

    /// A background that is almost even.
    private static func background(_ x: Int, _ y: Int, _ level: Int) -> SIMD4<UInt16> {
        SIMD4(UInt16(level + x * 4 / 150), UInt16(level + y * 4 / 150), UInt16(level + (x * 7 + y * 13) % 3), 255)
    }

    @Test(arguments: places.indices, [40, 128, 230])
    func `a colored object with texture is in the middle of the part`(index: Int, level: Int) throws {
        let center = Self.places[index]
        let image = PixelBuffer.make(150, 150, .rgbx8, .opaque) { x, y in
            guard abs(x - center.x) < 15, abs(y - center.y) < 15 else { return Self.background(x, y, level) }
            return (x / 3 + y / 3) % 2 == 0 ? SIMD4(20, 60, 200, 255) : SIMD4(240, 180, 30, 255)
        }
        for (width, height) in [(80, 80), (150, 60), (60, 150)] {
            let origin = try Self.origin(of: PixelSize(width: width, height: height), in: image)

            let expected = (
                x: max(0, min(center.x - width / 2, 150 - width)), y: max(0, min(center.y - height / 2, 150 - height))
            )
            #expect(abs(origin.x - expected.x) <= Self.step, "\(width) x \(height): \(origin)")
            #expect(abs(origin.y - expected.y) <= Self.step, "\(width) x \(height): \(origin)")
        }
    }

    @Test(arguments: places.indices)
    func `an ellipse in the color of skin is not cut`(index: Int) throws {
        let center = Self.places[index]
        // As many tones of skin as there are places, from light to dark.
        let tone = 250 - 17 * index
        let skin = SIMD4(UInt16(tone), UInt16(tone * 76 / 100), UInt16(tone * 62 / 100), 255)
        let image = PixelBuffer.make(150, 150, .rgbx8, .opaque) { x, y in
            let (across, down) = (Double(x - center.x) / 16, Double(y - center.y) / 22)
            return across * across + down * down < 1 ? skin : Self.background(x, y, 110)
        }

        let origin = try Self.origin(of: PixelSize(width: 70, height: 70), in: image)

        #expect(origin.x <= max(0, center.x - 16) && origin.x + 70 >= min(150, center.x + 16), "\(origin)")
        #expect(origin.y <= max(0, center.y - 22) && origin.y + 70 >= min(150, center.y + 22), "\(origin)")
    }

    /// Returns a portrait of 240 x 160 pixels: a face with eyes and a mouth, hair, and a shirt. Of 15 looks, each has
    /// another combination of colors.
    private static func portrait(x: Int, y: Int, radius: Double, look: Int) -> PixelBuffer {
        let backgrounds: [SIMD4<UInt16>] = [
            SIMD4(120, 160, 210, 255), SIMD4(190, 190, 185, 255), SIMD4(40, 40, 45, 255),
        ]
        let shirts: [SIMD4<UInt16>] = [
            SIMD4(60, 70, 110, 255), SIMD4(150, 40, 40, 255), SIMD4(230, 230, 230, 255), SIMD4(40, 40, 40, 255),
            SIMD4(90, 120, 90, 255),
        ]
        let hairs: [SIMD4<UInt16>] = [
            SIMD4(40, 28, 20, 255), SIMD4(90, 60, 35, 255), SIMD4(190, 160, 100, 255), SIMD4(25, 25, 25, 255),
            SIMD4(150, 150, 150, 255),
        ]
        let tones: [SIMD4<UInt16>] = [
            SIMD4(240, 200, 175, 255), SIMD4(224, 172, 140, 255), SIMD4(198, 134, 100, 255), SIMD4(141, 85, 58, 255),
            SIMD4(100, 62, 45, 255),
        ]
        let half = radius * 3 / 4
        // Ellipses relative to the middle of the face, from top to bottom of the drawing.
        let parts: [(x: Double, y: Double, width: Double, height: Double, color: SIMD4<UInt16>)] = [
            (0, radius * 0.45, half * 0.35, radius * 0.08, SIMD4(150, 70, 70, 255)),
            (-half * 0.4, -radius * 0.15, half * 0.16, radius * 0.08, SIMD4(40, 30, 25, 255)),
            (half * 0.4, -radius * 0.15, half * 0.16, radius * 0.08, SIMD4(40, 30, 25, 255)),
            (0, 0, half, radius, tones[look * 2 % 5]),
            (0, -radius * 0.15, half * 1.15, radius * 1.12, hairs[(look + 2) % 5]),
            (0, radius * 2.4, half * 2.1, radius * 1.5, shirts[look % 5]),
        ]
        return .make(240, 160, .rgbx8, .opaque) { column, row in
            let (across, down) = (Double(column - x), Double(row - y))
            let part = parts.first { part in
                let (a, b) = ((across - part.x) / part.width, (down - part.y) / part.height)
                return a * a + b * b < 1
            }
            if let part { return part.color }
            let texture = UInt16((column * 7 + row * 13) % 7)
            return backgrounds[look % 3] &+ SIMD4(texture, texture, texture, 0)
        }
    }

    @Test(arguments: [16, 24], [40, 120, 200])
    func `a drawn face is not cut by a crop of the full height`(radius: Int, x: Int) throws {
        let half = radius * 3 / 4
        for y in [40, 80, 120] {
            for look in 0..<15 {
                let image = Self.portrait(x: x, y: y, radius: Double(radius), look: look)
                for width in [120, 160] {
                    let left = try Self.origin(of: PixelSize(width: width, height: 160), in: image).x
                    let comment: Comment = "look \(look) at \(x), \(y): \(left) of \(width)"
                    #expect(left <= x - half && left + width >= x + half, comment)
                }
            }
        }
    }

    /// Returns an image of 240 x 160 pixels with an object in bright colors at the right, and a face of 36 x 48 pixels.
    private static func scene(x: Int, y: Int, face: SIMD4<UInt16>, on background: SIMD4<UInt16>) -> PixelBuffer {
        // The eyes and the mouth: their middles relative to that of the face, and half their sides.
        let features: [(x: Double, y: Double, width: Double, height: Double)] = [
            (-7.2, -3.6, 2.88, 1.92), (7.2, -3.6, 2.88, 1.92), (0, 10.8, 6.3, 1.92),
        ]
        return .make(240, 160, .rgbx8, .opaque) { column, row in
            let (across, down) = (Double(column - x), Double(row - y))
            let isInside = { (x: Double, y: Double, width: Double, height: Double) -> Bool in
                let (a, b) = ((across - x) / width, (down - y) / height)
                return a * a + b * b < 1
            }
            if features.contains(where: { isInside($0.x, $0.y, $0.width, $0.height) }) { return SIMD4(40, 30, 25, 255) }
            if isInside(0, 0, 18, 24) { return face }
            if (195..<225).contains(column), (65..<95).contains(row) {
                return (column / 3 + row / 3) % 2 == 0 ? SIMD4(20, 60, 200, 255) : SIMD4(240, 180, 30, 255)
            }
            let texture = UInt16((column * 7 + row * 13) % 5)
            return background &+ SIMD4(texture, texture, texture, 0)
        }
    }

    private static let tones: [SIMD4<UInt16>] = [
        SIMD4(240, 200, 175, 255), SIMD4(224, 172, 140, 255), SIMD4(198, 134, 100, 255), SIMD4(100, 62, 45, 255),
        SIMD4(70, 44, 34, 255),
    ]
    private static let brown = SIMD4<UInt16>(150, 105, 70, 255)

    @Test func `a face is not cut where another object is more salient`() throws {
        var cut: [String] = []
        for (x, y) in [30, 40, 60].flatMap({ x in [40, 80, 120].map { (x, $0) } }) {
            for background in [Self.brown, SIMD4(128, 84, 52, 255), SIMD4(90, 130, 180, 255)] {
                for tone in Self.tones {
                    let image = Self.scene(x: x, y: y, face: tone, on: background)

                    let left = try Self.origin(of: PixelSize(width: 120, height: 160), in: image).x

                    let isWhole = left <= x - 18 && left + 120 >= x + 18
                    if !isWhole { cut.append("\(tone) on \(background) at \(x), \(y): \(left)") }
                }
            }
        }
        // Of the 135 faces, one has nearly the color of the background.
        #expect(cut.count <= 1, "\(cut)")
    }

    /// Returns the areas in each third pixel of an image.
    private static func areas(in image: PixelBuffer) -> [FaceArea] {
        let size = PixelSize(width: image.width / 3, height: image.height / 3)
        let colors = (0..<size.width * size.height).map {
            SIMD4<Double>(image.pixel($0 % size.width * 3 + 1, $0 / size.width * 3 + 1)) / 255
        }
        return FaceArea.areas(of: colors, in: size)
    }

    @Test func `the clearest face has the bounds of the drawn one`() throws {
        for tone in Self.tones {
            let areas = Self.areas(in: Self.scene(x: 60, y: 80, face: tone, on: Self.brown))

            let face = try #require(areas.max { $0.quality < $1.quality }, "\(tone)")
            for (edge, expected) in [
                (face.x.lowerBound * 240, 42.0), (face.x.upperBound * 240, 78.0), (face.y.lowerBound * 160, 56.0),
                (face.y.upperBound * 160, 104.0),
            ] {
                #expect(abs(edge - expected) <= 6, "\(tone): \(face)")
            }
        }
    }

    @Test func `ellipses in other colors and in that of the background are no faces`() {
        for color: SIMD4<UInt16> in [
            SIMD4(60, 90, 200, 255), SIMD4(90, 150, 60, 255), SIMD4(130, 130, 130, 255), SIMD4(152, 107, 72, 255),
        ] {
            let areas = Self.areas(in: Self.scene(x: 60, y: 80, face: color, on: Self.brown))

            #expect(areas.isEmpty, "\(color): \(areas)")
        }
    }

    @Test func `a face that does not fit moves nothing`() throws {
        let part = PixelSize(width: 30, height: 160)
        let face = try Self.origin(of: part, in: Self.scene(x: 40, y: 80, face: Self.tones[4], on: Self.brown))
        let other = try Self.origin(
            of: part, in: Self.scene(x: 40, y: 80, face: SIMD4(60, 60, 60, 255), on: Self.brown))

        #expect(face == other)
    }

    @Test func `an even image is cropped at the center`() throws {
        for (format, mode) in ResizeTests.shapes {
            for (width, height) in [(200, 150), (37, 90), (3, 2), (1, 9), (450, 10)] {
                let color = SIMD4<UInt16>(99, 99, 99, format.isDeep ? .max : 255)
                let image = DecodedImage(pixels: .make(width, height, format, mode) { _, _ in color })
                let size = PixelSize(width: (width + 1) / 2, height: (height + 1) / 2)

                let anchor = try Saliency(of: image.pixels).anchor(of: size, in: image.size)

                #expect(anchor == .focus(x: 0.5, y: 0.5), "\(format) \(mode) \(width) x \(height)")
                let crop: ImageProcessors.BuiltIn = .crop(to: size, at: .smart)
                #expect(try crop.process(image).size == size)
            }
        }
    }

    @Test func `a black mark on transparency is found like one on gray`() throws {
        for alphaMode in [AlphaMode.straight, .premultiplied] {
            let image = PixelBuffer.make(320, 80, .rgba8, alphaMode) { x, y in
                (230..<260).contains(x) && (20..<60).contains(y) ? SIMD4(0, 0, 0, 255) : SIMD4(repeating: 0)
            }

            let origin = try Self.origin(of: PixelSize(width: 80, height: 80), in: image)

            // The middle of the mark is at 245.
            #expect(abs(origin.x - 205) <= 320 / 32 + 1, "\(origin)")
        }
    }

    @Test func `a covering image is the salient part of the resized image`() throws {
        let image = DecodedImage(
            pixels: .make(400, 100, .rgbx8, .opaque) { x, y in
                (300..<340).contains(x) ? SIMD4(UInt16(x * 7 % 200), 20, UInt16(y), 255) : SIMD4(128, 128, 128, 255)
            })
        let size = PixelSize(width: 50, height: 50)
        let cover: ImageProcessors.BuiltIn = .resize(covering: size, at: .smart)
        let filled = try ImageProcessors.BuiltIn.resize(filling: size).process(image).pixels

        let result = try cover.process(image)

        #expect(filled.size == PixelSize(width: 200, height: 50))
        let left = try #require(
            (0...150).first { left in result.pixels == .make(50, 50, .rgbx8, .opaque) { filled.pixel(left + $0, $1) } })
        // The object is 20 pixels wide and begins at 150.
        #expect(abs(left - 135) <= 200 / 32 + 1)
        #expect(cover.decodingTarget == TargetSize(PixelSize(width: 100, height: 100), mode: .fill))
    }

    private static let crops: [ImageProcessors.BuiltIn] = [
        .crop(to: PixelSize(width: 5, height: 4), at: .smart),
        .crop(aspect: PixelSize(width: 2, height: 1), at: .smart),
        .resize(covering: PixelSize(width: 6, height: 6), at: .smart),
        .resize(covering: PixelSize(width: 30, height: 9), at: .smart, enlarges: true),
    ]

    @Test(arguments: crops.indices, ProcessorConformance.checks)
    func `each crop passes each conformance check`(index: Int, check: ProcessorConformance.Check) async throws {
        try await check { _ in Self.crops[index] }
    }

    @Test func `identifiers name the position`() {
        #expect(
            Self.crops.map(\.identifier) == [
                "crop:smart2,5x4", "crop:smart2,2:1", "then(25:resize3:6x6,fill,lanczos3|15:crop:smart2,6x6)",
                "then(34:resize3:30x9,fill,lanczos3,enlarge|16:crop:smart2,30x9)",
            ])
    }

    @Test func `processors that know no pixels refuse the position`() {
        let image = DecodedImage(pixels: .pattern(.rgba8))
        let others: [any ImageProcessing] = [
            .overlay(AllProcessors.badge, at: .smart), .extend(to: PixelSize(width: 90, height: 90), at: .smart),
            .resize(containedIn: PixelSize(width: 90, height: 90), at: .smart),
            .crop(to: PixelSize(width: 0, height: 90), at: .smart),
        ]
        for processor in others {
            #expect { try processor.process(image) } throws: {
                ($0 as? ImageProcessingError)?.code == .invalidParameter
            }
        }
    }

    /// An object that moves from the left to the right.
    private static let frames = (0..<3).map { index in
        PixelBuffer.make(90, 30, .gray8, .opaque) { x, y in
            SIMD4(repeating: abs(x - 15 - 30 * index) < 8 && y % 8 < 4 ? 255 : UInt16(x))
        }
    }

    @Test func `all frames of an animation have the part of the first one`() throws {
        let frames = Self.frames
        let source = MadeFrames(frames[0].size, frames.map { ($0, .milliseconds(20)) })
        let image = DecodedImage(pixels: frames[0], frames: source)
        let crop: ImageProcessors.BuiltIn = .crop(to: PixelSize(width: 30, height: 30), at: .smart)
        let still = try crop.process(DecodedImage(pixels: frames[0])).pixels
        let left = Int(still.pixel(0, 5).x)

        let result = try crop.process(image)

        #expect(abs(left) <= 4)
        #expect(result.pixels == still)
        for index in 0..<3 {
            let whole = frames[index]
            #expect(
                try #require(result.frames).frame(at: index)
                    == .make(30, 30, .gray8, .opaque) { whole.pixel(left + $0, $1) })
        }
    }
}
