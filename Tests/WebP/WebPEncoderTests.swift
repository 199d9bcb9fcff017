import AlcedoCore
import AlcedoWebP
import Foundation
import TestSupport
import Testing

@Suite struct WebPEncoderTests {
    private let size = PixelSize(width: 33, height: 21)
    private let decoder = WebPDecoder()

    private func decode(_ data: Data, _ options: DecodingOptions = DecodingOptions()) throws -> DecodedImage {
        try decoder.decode(data, options: options)
    }

    private func noise(seed: UInt64 = 8) throws -> PixelBuffer {
        var random = SeededGenerator(seed: seed)
        return try #require(PixelBuffer.noise(size, using: &random))
    }

    @Test(arguments: [0, 4, 6, 99]) func `lossless pixels are exact`(method: Int) throws {
        let pixels = try noise()
        let encoder = WebPEncoder(compression: .lossless, method: method, keepsHiddenColor: true)

        let data = try encoder.encode(DecodedImage(pixels: pixels))

        #expect(try decode(data).pixels == pixels)
        #expect(LibwebpPlayer.still(data) == pixels.tightBytes)
    }

    @Test func `color of transparent pixels is dropped unless it is to be kept`() throws {
        let pixels = try noise()

        let data = try WebPEncoder(compression: .lossless).encode(DecodedImage(pixels: pixels))

        let result = try decode(data).pixels.tightBytes
        #expect(result != pixels.tightBytes)
        #expect(clearingTransparent(Data(result)) == clearingTransparent(Data(pixels.tightBytes)))
    }

    @Test func `lossy images are close, closer and larger with quality, and alpha is exact`() throws {
        let pixels = try #require(PixelBuffer.gradient(PixelSize(width: 90, height: 70)))
        func result(_ quality: Double) throws -> (count: Int, error: Int) {
            let data = try WebPEncoder(compression: .lossy(quality: quality)).encode(DecodedImage(pixels: pixels))
            #expect(try decoder.inspect(data, limits: DecodingLimits()).colorModel == .yCbCr)
            let decoded = try decode(data).pixels
            #expect(decoded.alphaMode == .opaque)
            let differences = zip(decoded.tightBytes, pixels.tightBytes).map { abs(Int($0) - Int($1)) }
            return (data.count, differences.reduce(0, +))
        }

        let (low, high) = (try result(5), try result(95))

        #expect(low.count < high.count)
        #expect(low.error > high.error)
        #expect(high.error < 4 * 90 * 70 * 4)
        #expect(try result(-3).count == result(0).count)
        #expect(try result(.nan).count == result(0).count)
        #expect(try result(200).count == result(100).count)
        let translucent = try noise()
        let alpha = try decode(WebPEncoder().encode(DecodedImage(pixels: translucent))).pixels.tightBytes
        for offset in stride(from: 3, to: alpha.count, by: 4) {
            #expect(alpha[offset] == translucent.tightBytes[offset])
        }
    }

    /// Returns the largest difference of a sample. With `channels`, compares only those.
    private func difference(_ a: PixelBuffer, _ b: PixelBuffer, channels: Range<Int> = 0..<4) -> Int {
        zip(a.tightBytes, b.tightBytes).enumerated().reduce(0) { largest, next in
            let (a, b) = next.element
            return channels.contains(next.offset % 4) ? max(largest, abs(Int(a) - Int(b))) : largest
        }
    }

    private func largeNoise(seed: UInt64 = 8) throws -> PixelBuffer {
        var random = SeededGenerator(seed: seed)
        return try #require(PixelBuffer.noise(PixelSize(width: 96, height: 80), using: &random))
    }

    @Test(arguments: [(300, 0), (100, 0), (80, 1), (60, 2), (40, 4), (20, 8), (0, 16), (-5, 16)])
    func `near-lossless compression changes samples up to a limit, and takes fewer bytes`(
        level: Int, limit: Int
    ) throws {
        let pixels = try largeNoise()
        let lossless = try WebPEncoder(compression: .lossless, keepsHiddenColor: true).encode(
            DecodedImage(pixels: pixels))

        let data = try ImageEncoder.webp(nearLossless: level, keepsHiddenColor: true).encode(
            DecodedImage(pixels: pixels))

        #expect(try difference(decode(data).pixels, pixels) == limit)
        #expect(limit == 0 ? data == lossless : data.count < lossless.count * 95 / 100)
    }

    @Test func `near-lossless compression applies to the frames of an animation`() throws {
        let frames = try [1, 2].map { try largeNoise(seed: $0).reinterpreted(as: .opaque) }
        let image = DecodedImage(
            pixels: frames[0], frames: MadeFrames(frames[0].size, frames.map { ($0, .milliseconds(50)) }))

        let data = try WebPEncoder(compression: .nearLossless(40)).encode(image)

        #expect(try data.count < WebPEncoder(compression: .lossless).encode(image).count * 95 / 100)
        let again = try #require(decode(data).frames)
        for index in 0..<2 {
            #expect(try (1...4).contains(difference(again.frame(at: index), frames[index], channels: 0..<3)))
        }
    }

    @Test func `alpha has a quality of its own beside lossy color`() throws {
        let pixels = try largeNoise()
        func result(_ alphaQuality: Double) throws -> (count: Int, difference: Int) {
            let data = try ImageEncoder.webp(alphaQuality: alphaQuality).encode(DecodedImage(pixels: pixels))
            return (data.count, try difference(decode(data).pixels, pixels, channels: 3..<4))
        }

        let (exact, near, coarse) = (try result(100), try result(50), try result(0))

        #expect(exact.difference == 0)
        #expect(near.difference > 0 && near.difference < coarse.difference)
        #expect(coarse.count < near.count && near.count < exact.count)
        #expect(try result(.nan) == coarse)
        #expect(try result(-1) == coarse)
        #expect(try result(200) == exact)
        let frames = MadeFrames(pixels.size, [(pixels, .seconds(1)), (try largeNoise(seed: 9), .seconds(1))])
        let animation = DecodedImage(pixels: pixels, frames: frames)
        #expect(
            try ImageEncoder.webp(alphaQuality: 0).encode(animation).count
                < ImageEncoder.webp().encode(animation).count - (exact.count - coarse.count))
    }

    @Test(arguments: [WebPEncoder.Compression.lossless, .lossy(quality: 80)])
    func `profile and orientation are written, and rows stay as stored`(
        compression: WebPEncoder.Compression
    ) throws {
        let profile = Data("a profile of odd length".utf8)
        for orientation in ImageOrientation.allCases {
            let image = DecodedImage(pixels: try noise(), colorProfile: profile, orientation: orientation)

            let data = try WebPEncoder(compression: compression).encode(image)

            let stored = try decode(data, DecodingOptions(appliesOrientation: false))
            #expect(stored.orientation == orientation)
            #expect(stored.colorProfile == profile)
            #expect(stored.size == size)
            #expect(try decode(data).pixels == stored.pixels.upright(from: orientation))
            #expect(LibwebpPlayer.still(data) == stored.pixels.tightBytes)
        }
    }

    @Test func `every pixel format is encoded`() throws {
        let encoder = WebPEncoder(compression: .lossless, keepsHiddenColor: true)
        let gray = try #require(
            PixelBuffer(size: size, format: .gray8, alphaMode: .opaque) { memory, _ in
                for offset in memory.indices { memory[offset] = UInt8(offset & 255) }
            })
        let deep = try #require(
            PixelBuffer(size: size, format: .rgba16, alphaMode: .straight) { memory, _ in
                for offset in memory.indices { memory[offset] = UInt8(offset * 7 & 255) }
            })
        let premultiplied = try noise().converted(to: .premultiplied)
        let filled = try #require(
            PixelBuffer(size: size, format: .rgbx8, alphaMode: .opaque) { memory, _ in
                memory.initializeMemory(as: UInt8.self, repeating: 255)
            })

        let grayResult = try decode(encoder.encode(DecodedImage(pixels: gray))).pixels
        #expect(grayResult.alphaMode == .opaque)
        #expect(grayResult.rgba(20, 3) == [UInt8](repeating: gray.tightBytes[3 * 33 + 20], count: 3) + [255])
        let deepResult = try decode(encoder.encode(DecodedImage(pixels: deep))).pixels
        let high = stride(from: 1, to: deep.tightBytes.count, by: 2).map { deep.tightBytes[$0] }
        #expect(deepResult.tightBytes == high)
        #expect(
            try decode(encoder.encode(DecodedImage(pixels: premultiplied))).pixels.tightBytes
                == premultiplied.converted(to: .straight).tightBytes)
        #expect(try decode(encoder.encode(DecodedImage(pixels: filled))).pixels.tightBytes.allSatisfy { $0 == 255 })
    }

    /// Returns an animation with these delays, where nil is an unavailable frame.
    private func animation(_ delays: [Duration?], frame: PixelBuffer? = nil) throws -> DecodedImage {
        let pixels = try noise()
        let frames = MadeFrames(size, delays.map { ($0 == nil ? nil : frame ?? pixels, $0 ?? .zero) })
        return DecodedImage(pixels: pixels, frames: frames)
    }

    @Test func `an animation that the format does not support is an error`() throws {
        let encoder = WebPEncoder(compression: .lossless, method: 0)
        let small = try #require(PixelBuffer(size: PixelSize(width: 2, height: 2), format: .rgba8, alphaMode: .opaque))
        let images = [
            (try animation([.milliseconds(20), nil]), ImageEncodingError.Code.failed),
            (try animation([.milliseconds(20), .milliseconds(20)], frame: small), .unsupportedImage),
            // 24 bits of milliseconds per frame, 31 in all.
            (try animation(Array(repeating: .seconds(100_000), count: 129)), .unsupportedImage),
        ]
        for (image, code) in images {
            let error = #expect(throws: ImageEncodingError.self) { try encoder.encode(image) }
            #expect(error?.code == code)
        }
    }

    @Test(arguments: [WebPEncoder.Compression.lossless, .lossy(quality: 100)])
    func `an animation whose bytes exceed the limit ends while it is encoded`(
        compression: WebPEncoder.Compression
    ) throws {
        let encoder = WebPEncoder(compression: compression, method: 0)
        #expect(try NoiseFrames.endsEncode(by: encoder, maximumByteCount: 32 << 10))
    }

    @Test func `the limit of bytes counts the frames and the file`() throws {
        let encoder = WebPEncoder(compression: .lossless, method: 0)
        let frames = NoiseFrames()
        let image = DecodedImage(
            pixels: try frames.frame(at: 0),
            frames: MadeFrames(frames.canvasSize, try (0..<8).map { (try frames.frame(at: $0), .milliseconds(100)) }))
        let file = try encoder.encode(image)
        #expect(try encoder.encode(image, maximumByteCount: 2 * file.count) == file)
        let error = #expect(throws: ImageEncodingError.self) {
            try encoder.encode(image, maximumByteCount: 2 * file.count - file.count / 4)
        }
        #expect(error?.code == .exceedsLimit)
    }

    @Test func `a limit of quality lowers that of lossy files only`() throws {
        var encoder = WebPEncoder(compression: .lossy(quality: 60))
        #expect(encoder.limitingQuality(to: 0.4)?.compression == .lossy(quality: 40))
        #expect(encoder.limitingQuality(to: 0.8)?.compression == .lossy(quality: 60))
        encoder.compression = .lossy(quality: 60, alphaQuality: 30)
        #expect(encoder.limitingQuality(to: 0.4)?.compression == .lossy(quality: 40, alphaQuality: 30))
        for compression in [WebPEncoder.Compression.lossless, .nearLossless(60)] {
            encoder.compression = compression
            #expect(encoder.limitingQuality(to: 0.4) == nil)
        }
    }

    @Test func `delays are rounded to what the format supports`() throws {
        let image = try animation([.milliseconds(-5), .seconds(100_000), .milliseconds(30)])
        let data = try WebPEncoder(compression: .lossless, method: 0).encode(image)
        let frames = try #require(decode(data).frames)
        // A frame without a duration is not displayed, and libwebp omits it if it equals the next.
        let longest = (0..<frames.frameCount).map { frames.rawDelay(at: $0) }.max()
        #expect(longest.map { $0 >= .milliseconds(16_777_215) } == true)
    }

    @Test(arguments: [ImageFormat.gif, .png, .webp, nil])
    func `short delays from GIF and PNG are written as browsers show them unless they are kept`(format: ImageFormat?)
        throws
    {
        let frames = MadeFrames(
            size, [(try noise(), .milliseconds(10)), (try noise(seed: 9), .milliseconds(20)), (try noise(), .zero)])
        let image = DecodedImage(pixels: try noise(), format: format, frames: frames)
        func delays(keepsShortDelays: Bool) throws -> [Duration] {
            let encoder = WebPEncoder(compression: .lossless, method: 0, keepsShortDelays: keepsShortDelays)
            let decoded = try #require(decode(encoder.encode(image)).frames)
            return (0..<decoded.frameCount).map(decoded.rawDelay)
        }

        let shown = format == .gif || format == .png ? [100, 20, 100] : [10, 20, 0]
        #expect(try delays(keepsShortDelays: false) == shown.map { .milliseconds($0) })
        #expect(try delays(keepsShortDelays: true) == [10, 20, 0].map { .milliseconds($0) })
    }

    @Test func `a delay below the limit of the format is kept to the millisecond`() throws {
        let (first, second) = (try noise(), try noise(seed: 9))
        let frames = MadeFrames(size, [(first, .milliseconds(16_777_001)), (second, .milliseconds(30))])
        let data = try WebPEncoder(compression: .lossless, method: 0).encode(
            DecodedImage(pixels: first, frames: frames))
        let decoded = try #require(decode(data).frames)
        #expect(
            (0..<decoded.frameCount).map { decoded.rawDelay(at: $0) } == [
                .milliseconds(16_777_001), .milliseconds(30),
            ])
    }

    @Test func `an animation keeps its frames, delays and loop count`() throws {
        var random = SeededGenerator(seed: 12)
        let file = try randomAnimation(PixelSize(width: 10, height: 12), frameCount: 6, using: &random)
        let frames = try #require(decode(file).frames)
        let image = try decode(file)
        let encoder = WebPEncoder(compression: .lossless, keepsHiddenColor: true)

        let data = try encoder.encode(image)

        let again = try #require(decode(data).frames)
        #expect(again.frameCount == 6)
        #expect(again.playCount == 3)
        #expect((0..<6).map(again.rawDelay) == (0..<6).map(frames.rawDelay))
        for index in 0..<6 {
            #expect(
                clearingTransparent(Data(try again.frame(at: index).tightBytes))
                    == clearingTransparent(Data(try frames.frame(at: index).tightBytes)))
        }
    }

    @Test func `an animation keeps its profile`() throws {
        var image = try decode(fixture("animated.webp"))
        image.colorProfile = Data([1, 2, 3])

        let again = try decode(WebPEncoder().encode(image))

        #expect(again.colorProfile == Data([1, 2, 3]))
        #expect(again.frames?.frameCount == 2)
    }

    @Test func `a damaged frame ends the animation that is encoded`() throws {
        var random = SeededGenerator(seed: 4)
        var file = try randomAnimation(PixelSize(width: 30, height: 30), frameCount: 3, using: &random)
        let last = try #require(file.range(of: Data("VP8L".utf8), options: .backwards)).upperBound
        for offset in last + 9..<file.count { file[offset] = 0xFF }
        let image = try WebPDecoder().decode(file, options: DecodingOptions(tolerance: .harmless))

        let again = try decode(WebPEncoder().encode(image))

        #expect(again.frames?.frameCount == 2)
        #expect(image.frames?.damage?.kind == .harmless)
    }

    @Test func `a side of more than 16,383 pixels is refused`() throws {
        for size in [PixelSize(width: 16_384, height: 1), PixelSize(width: 1, height: 16_384)] {
            let pixels = try #require(PixelBuffer(size: size, format: .rgba8, alphaMode: .straight))
            let error = #expect(throws: ImageEncodingError.self) {
                try WebPEncoder().encode(DecodedImage(pixels: pixels))
            }
            #expect(error?.code == .unsupportedImage)
        }
        let longest = try #require(
            PixelBuffer(size: PixelSize(width: 16_383, height: 1), format: .rgba8, alphaMode: .straight))
        let data = try WebPEncoder(compression: .lossless, method: 0).encode(DecodedImage(pixels: longest))
        #expect(try decode(data).size == longest.size)
    }

    @Test func `row encoding writes the same file as the image`() throws {
        let image = DecodedImage(pixels: try noise(), colorProfile: Data([9]), orientation: .left)
        let encoder = WebPEncoder(compression: .lossless)
        var output = Data()

        try image.sendRows(to: encoder.makeRowEncoder { $0.withUnsafeBytes { output.append(contentsOf: $0) } })

        #expect(output == (try encoder.encode(image)))
    }
}
