import AlcedoCore
import AlcedoPNG
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite struct PNGAnimationEncoderTests {
    private let decoder = PNGDecoder()
    private static let size = PixelSize(width: 30, height: 20)

    private func makePixels(
        _ size: PixelSize = size, _ alphaMode: AlphaMode = .straight, _ pixel: (_ x: Int, _ y: Int) -> [Int]
    ) throws -> PixelBuffer {
        try #require(
            PixelBuffer(size: size, format: .rgba8, alphaMode: alphaMode) { memory, stride in
                for y in 0..<size.height {
                    for x in 0..<size.width {
                        for (channel, value) in pixel(x, y).enumerated() {
                            memory[y * stride + 4 * x + channel] = UInt8(value)
                        }
                    }
                }
            })
    }

    /// Frames of which only 6 x 4 pixels at 10, 8 change.
    ///
    /// - Parameter colorCount: The number of colors of each frame, or nil for as many as there are pixels.
    private func makeFrames(_ count: Int, colors colorCount: Int? = nil) throws -> [PixelBuffer] {
        try (0..<count).map { frame in
            try makePixels { x, y in
                let moved = (10..<16).contains(x) && (8..<12).contains(y) ? frame : 0
                if let colorCount {
                    let color = (x + 7 * y + moved) % colorCount
                    return [color, 255 - color, 9, color % 2 == 0 ? 255 : 0]
                }
                return [8 * x, 12 * y, 60 * moved % 256, 255 - x - 50 * moved % 200]
            }
        }
    }

    private func animation(
        _ frames: [PixelBuffer?], plays: Int? = nil, delays: [Duration] = [], format: ImageFormat? = nil
    ) throws -> DecodedImage {
        let first = try #require(frames.first ?? nil)
        let list = frames.enumerated().map { index, pixels in
            (pixels: pixels, delay: index < delays.count ? delays[index] : .milliseconds(100))
        }
        return DecodedImage(pixels: first, format: format, frames: MadeFrames(first.size, playCount: plays, list))
    }

    private func decode(_ data: Data) throws -> any ImageFrameSource {
        try #require(decoder.decode(data, options: DecodingOptions()).frames)
    }

    /// Returns the names of the chunks of a file, and the bodies of those with one name.
    private func chunks(_ data: Data, _ name: String = "") -> (names: [String], bodies: [[UInt8]]) {
        let bytes = [UInt8](data)
        var (names, bodies, offset) = ([String](), [[UInt8]](), 8)
        while offset + 12 <= bytes.count {
            let count = number(bytes[offset..<offset + 4])
            names.append(String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self))
            if names.last == name { bodies.append(Array(bytes[offset + 8..<offset + 8 + count])) }
            offset += 12 + count
        }
        return (names, bodies)
    }

    private func number(_ bytes: some Sequence<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    private func kind(_ data: Data) -> [UInt8] { Array(data.prefix(26).suffix(2)) }

    @Test(arguments: [false, true], [nil, 2, 16, 200] as [Int?])
    func `frames are decoded as they were encoded`(isInterlaced: Bool, colors: Int?) throws {
        let frames = try makeFrames(5, colors: colors)
        let data = try PNGEncoder(isInterlaced: isInterlaced).encode(animation(frames))

        #expect(kind(data)[1] == (colors == nil ? 6 : 3))
        let back = try decode(data)
        #expect(back.frameCount == 5)
        for index in [3, 0, 1, 2, 4] {
            #expect(
                try clearingTransparent(Data(back.frame(at: index).tightBytes))
                    == clearingTransparent(Data(frames[index].tightBytes)), "frame \(index)")
        }
    }

    @Test func `the first frame is the image that programs without APNG show`() throws {
        let frames = try makeFrames(3)
        let data = try PNGEncoder().encode(animation(frames))
        let options = DecodingOptions(includesAnimation: false)

        #expect(try decoder.decode(data, options: options).pixels == frames[0])
        #expect(
            chunks(data).names == ["IHDR", "acTL", "fcTL", "IDAT", "fcTL", "fdAT", "fcTL", "fdAT", "IEND"])
    }

    @Test func `only the rectangle that changes is stored`() throws {
        let frames = try makeFrames(3)
        let still = frames[2]
        let controls = try chunks(PNGEncoder().encode(animation(frames + [still])), "fcTL").bodies

        // The sequence number, the size and the position.
        #expect(
            controls.map { body in stride(from: 0, to: 20, by: 4).map { number(body[$0..<$0 + 4]) } } == [
                [0, 30, 20, 0, 0], [1, 6, 4, 10, 8], [3, 6, 4, 10, 8], [5, 1, 1, 0, 0],
            ])
        // Frames stay, and replace what they cover.
        #expect(controls.allSatisfy { $0.suffix(2) == [0, 0] })
    }

    @Test func `pixels can become transparent again`() throws {
        let frames = try (0..<3).map { frame in
            try makePixels { x, y in x / 10 == frame ? [8 * x, y, 200, 255] : [0, 0, 0, 0] }
        }
        let back = try decode(PNGEncoder(usesPaletteWhenLossless: false).encode(animation(frames)))

        for index in 0..<3 { #expect(try back.frame(at: index).tightBytes == frames[index].tightBytes) }
    }

    @Test(arguments: [(nil, nil), (1, 1), (3, 3), (0, 1), (100_000, 100_000)] as [(Int?, Int?)])
    func `the number of plays is written`(plays: Int?, said: Int?) throws {
        #expect(try decode(PNGEncoder().encode(animation(makeFrames(2), plays: plays))).playCount == said)
    }

    @Test func `delays are the nearest fractions of seconds`() throws {
        let delays: [Duration] = [
            .milliseconds(40), .nanoseconds(33_333_333), .nanoseconds(41_708_333), .seconds(70), .milliseconds(-5),
            .seconds(100_000), .milliseconds(16_777), .nanoseconds(1),
        ]
        let image = try animation(makeFrames(8), delays: delays)
        let back = try decode(PNGEncoder(keepsShortDelays: true).encode(image))

        let said = (0..<8).map { back.rawDelay(at: $0) }
        // 1001/24000 of a second is the time of a frame of film.
        #expect(
            said == [
                .milliseconds(40), .nanoseconds(33_333_333), .nanoseconds(41_708_333), .seconds(70), .zero,
                .seconds(65_535), .milliseconds(16_777), .zero,
            ])
    }

    @Test(arguments: [ImageFormat.gif, .png, .webp, nil])
    func `short delays are written as browsers show them unless they are kept`(format: ImageFormat?) throws {
        let image = try animation(
            makeFrames(3), delays: [.zero, .milliseconds(10), .milliseconds(20)], format: format)
        let shown = format == .gif || format == .png ? [100, 100, 20] : [0, 10, 20]
        for (encoder, expected) in [(PNGEncoder(), shown), (PNGEncoder(keepsShortDelays: true), [0, 10, 20])] {
            let back = try decode(encoder.encode(image))
            #expect((0..<3).map(back.rawDelay) == expected.map { .milliseconds($0) })
        }
    }

    @Test func `all frames share a palette to which their colors are reduced`() throws {
        let frames = try makeFrames(4)
        for dithers in [false, true] {
            let data = try PNGEncoder(maximumColorCount: 64, dithers: dithers).encode(animation(frames))
            #expect(kind(data) == [8, 3])
            #expect(chunks(data).names.count { $0 == "PLTE" } == 1)
            let back = try decode(data)
            let shown = try (0..<4).map { try back.frame(at: $0).tightBytes }
            for index in 0..<4 {
                let pairs = zip(shown[index], frames[index].tightBytes)
                let difference = pairs.reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
                #expect(Double(difference) / Double(shown[index].count) < 7)
            }
            // What does not change in the source does not flicker.
            #expect(shown[1].prefix(8 * 30 * 4) == shown[0].prefix(8 * 30 * 4))
        }
    }

    @Test func `frames with more than 256 colors together are written without a palette`() throws {
        let frames = try (0..<3).map { frame in
            try makePixels { x, y in
                let color = (30 * y + x) % 100 + 100 * frame
                return [color % 256, color / 256, 7, 255]
            }
        }
        for (count, type) in [(2, UInt8(3)), (3, 6)] {
            let data = try PNGEncoder().encode(animation(Array(frames.prefix(count))))
            #expect(kind(data) == [8, type])
            let back = try decode(data)
            for index in 0..<count { #expect(try back.frame(at: index).tightBytes == frames[index].tightBytes) }
        }
        #expect(try kind(PNGEncoder(usesPaletteWhenLossless: false).encode(animation(frames))) == [8, 6])
    }

    @Test func `opaque, gray and 16-bit frames keep their color type`() throws {
        func frames(_ format: PixelFormat, _ mode: AlphaMode) throws -> [PixelBuffer] {
            try (0..<3).map { frame in
                try #require(
                    PixelBuffer(size: Self.size, format: format, alphaMode: mode) { memory, stride in
                        for index in memory.indices {
                            let isAlpha = format == .rgba8 && index % 4 == 3
                            memory[index] = isAlpha ? 255 : UInt8((index * 13 + index / stride * 7 + frame * 40) % 251)
                        }
                    })
            }
        }
        let kinds: [(PixelFormat, AlphaMode, [UInt8])] = [
            (.rgba8, .opaque, [8, 2]), (.rgbx8, .opaque, [8, 2]), (.gray8, .opaque, [8, 0]),
            (.gray16, .opaque, [16, 0]), (.rgba16, .straight, [16, 6]),
        ]
        for (format, mode, expected) in kinds {
            let source = try frames(format, mode)
            let data = try PNGEncoder(usesPaletteWhenLossless: false).encode(animation(source))
            #expect(kind(data) == expected)
            let back = try decode(data)
            #expect(back.frameCount == 3)
            for index in 0..<3 {
                let still = try PNGEncoder(usesPaletteWhenLossless: false).encode(DecodedImage(pixels: source[index]))
                let expected = try decoder.decode(still, options: DecodingOptions()).pixels
                #expect(
                    try clearingTransparent(Data(back.frame(at: index).tightBytes))
                        == clearingTransparent(Data(expected.tightBytes)), "\(format), frame \(index)")
            }
        }
    }

    @Test func `premultiplied frames are divided by alpha`() throws {
        let frames = try makeFrames(2).map { $0.converted(to: .premultiplied) }
        let back = try decode(PNGEncoder().encode(animation(frames)))

        for index in 0..<2 { #expect(try back.frame(at: index) == frames[index].converted(to: .straight)) }
    }

    @Test func `a frame of another size, with other alpha or that cannot be read is an error`() throws {
        let frames = try makeFrames(2)
        let small = try makePixels(PixelSize(width: 5, height: 5)) { _, _ in [1, 2, 3, 255] }
        let opaque = try makePixels(Self.size, .opaque) { x, y in [8 * x, 12 * y, (x * y) % 256, 255] }
        let images = [
            (try animation([frames[0], small]), ImageEncodingError.Code.unsupportedImage),
            (try animation([opaque, frames[1]]), .unsupportedImage),
            (try animation([frames[0], nil]), .failed),
        ]
        for (image, code) in images {
            let error = #expect(throws: ImageEncodingError.self) {
                try PNGEncoder(usesPaletteWhenLossless: false).encode(image)
            }
            #expect(error?.code == code)
        }
    }

    /// Frames of which one turns out to be damaged when it is drawn, which ends the animation.
    private final class EndingFrames: DerivedFrameSource {
        struct Damaged: Error {}

        let source: any ImageFrameSource
        private let count: Watched<Int>

        init(_ source: any ImageFrameSource) { (self.source, count) = (source, Watched(source.frameCount)) }

        var frameCount: Int { count.value }

        func frame(at index: Int) throws -> PixelBuffer {
            guard index < 3 else {
                count.update { $0 = 3 }
                throw Damaged()
            }
            return try source.frame(at: index)
        }
    }

    @Test func `an animation that ends early has the number of frames that were written`() throws {
        for colors in [nil, 16] {
            var image = try animation(makeFrames(6, colors: colors))
            image.frames = EndingFrames(try #require(image.frames))
            let data = try PNGEncoder().encode(image)

            #expect(number(chunks(data, "acTL").bodies[0].prefix(4)) == 3)
            let back = try decode(data)
            #expect(back.frameCount == 3)
            #expect(back.damage == nil)
        }
    }

    /// Frames that record which of them are requested.
    private struct RecordedFrames: DerivedFrameSource {
        let source: any ImageFrameSource
        let requests = Watched<[Int]>([])

        func frame(at index: Int) throws -> PixelBuffer {
            requests.update { $0.append(index) }
            return try source.frame(at: index)
        }
    }

    @Test(arguments: [(nil, [0, 1, 2]), (16, [0, 1, 0, 1, 2, 2])] as [(Int?, [Int])])
    func `frames are requested again only if the first one fits into a palette`(colors: Int?, requests: [Int]) throws {
        var image = try animation(makeFrames(3, colors: colors))
        let frames = RecordedFrames(source: try #require(image.frames))
        image.frames = frames
        _ = try PNGEncoder().encode(image)

        #expect(frames.requests.value == requests)
    }

    @Test func `an animation whose bytes exceed the limit ends while it is encoded`() throws {
        #expect(try NoiseFrames.endsEncode(by: PNGEncoder(), maximumByteCount: 16 << 10))
    }

    @Test func `the profile, the orientation and the metadata are those of the file`() throws {
        let profile = try fixture("profile.icc")
        var image = try animation(makeFrames(2))
        (image.colorProfile, image.orientation) = (profile, .right)
        let metadata = ImageMetadata(resolution: ImageResolution(pixelsPerInch: 300))
        let data = try PNGEncoder().embedding(metadata).encode(image)
        let info = try decoder.inspect(data, limits: DecodingLimits())

        #expect(info.metadata.colorProfile == profile)
        #expect(info.orientation == .right)
        #expect(info.metadata.resolution != nil)
        #expect(info.frameCount == 2)
    }

    @Test(arguments: ["animation.png", "animation-over.png", "animation-default.png"])
    func `an animation of another encoder keeps its frames, delays and plays`(name: String) throws {
        let original = try decoder.decode(fixture(name), options: DecodingOptions())
        let before = try #require(original.frames)
        let after = try decode(PNGEncoder(keepsShortDelays: true).encode(original))

        #expect(after.frameCount == before.frameCount)
        #expect(after.playCount == before.playCount)
        for index in 0..<before.frameCount {
            #expect(
                try clearingTransparent(Data(after.frame(at: index).tightBytes))
                    == clearingTransparent(Data(before.frame(at: index).tightBytes)), "frame \(index)")
            #expect(after.rawDelay(at: index) == before.rawDelay(at: index))
        }
    }

    @Test func `memory for pixels does not depend on the number of frames`() {
        let encoder = PNGEncoder()
        let bytes = [2, 100].map { encoder.encodingByteCount(of: Self.size, format: .rgba8, frameCount: $0) }

        // The file.
        #expect(bytes[1] - bytes[0] == 98 * Self.size.pixelCount * 4)
    }

    /// Frames that cancel the task that draws the second one.
    private struct CancelingFrames: ImageFrameSource {
        let pixels: [PixelBuffer]
        let drawn = Watched<[Int]>([])

        var canvasSize: PixelSize { pixels[0].size }
        let frameCount = 1_000
        let playCount: Int? = nil
        let cost = 0

        func delay(at index: Int) -> Duration { .milliseconds(100) }

        func rawDelay(at index: Int) -> Duration { .milliseconds(100) }

        func frame(at index: Int) throws -> PixelBuffer {
            drawn.update { $0.append(index) }
            if index == 1 { withUnsafeCurrentTask { $0?.cancel() } }
            return pixels[index % pixels.count]
        }
    }

    @Test(arguments: [false, true]) func `a canceled encode draws no further frames`(isReduced: Bool) async throws {
        let frames = CancelingFrames(pixels: try makeFrames(3))
        let encoder = PNGEncoder(maximumColorCount: isReduced ? 16 : nil)
        let task = Task { try encoder.encode(DecodedImage(pixels: frames.pixels[0], frames: frames)) }

        let error = await #expect(throws: ImageEncodingError.self) { try await task.value }
        #expect(error?.code == .failed)
        #expect(Set(frames.drawn.value).subtracting([0, 1, 2]) == [])
    }
}
