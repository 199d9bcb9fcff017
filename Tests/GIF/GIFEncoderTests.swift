import AlcedoCore
import AlcedoGIF
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite struct GIFEncoderTests {
    private let decoder = GIFDecoder()

    private func makePixels(
        _ width: Int, _ height: Int, alphaMode: AlphaMode = .straight, _ pixel: (Int, Int) -> [UInt8]
    ) throws -> PixelBuffer {
        try #require(
            PixelBuffer(size: PixelSize(width: width, height: height), format: .rgba8, alphaMode: alphaMode) {
                memory, stride in
                for y in 0..<height {
                    for x in 0..<width {
                        for (channel, value) in pixel(x, y).enumerated() {
                            memory[y * stride + 4 * x + channel] = value
                        }
                    }
                }
            })
    }

    private func reread(_ image: DecodedImage, _ encoder: GIFEncoder = GIFEncoder()) throws -> DecodedImage {
        try decoder.decode(encoder.encode(image), options: DecodingOptions())
    }

    /// Returns the mean difference of a sample.
    private func difference(_ a: PixelBuffer, _ b: PixelBuffer) -> Double {
        Double(zip(a.tightBytes, b.tightBytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) })
            / Double(a.tightBytes.count)
    }

    @Test(arguments: [1, 2, 3, 16, 17, 255, 256])
    func `up to 256 colors are exact`(count: Int) throws {
        let pixels = try makePixels(32, 16, alphaMode: .opaque) { x, y in
            let color = (32 * y + x) % count
            return [UInt8(color), UInt8(255 - color), UInt8(color / 2), 255]
        }

        #expect(try reread(DecodedImage(pixels: pixels)).pixels == pixels)
    }

    @Test func `255 colors and a transparent one are exact`() throws {
        let pixels = try makePixels(16, 16) { x, y in x + y == 0 ? [0, 0, 0, 0] : [UInt8(16 * y + x), 1, 2, 255] }

        #expect(try reread(DecodedImage(pixels: pixels)).pixels == pixels)
    }

    @Test(arguments: [(nil, nil), (1, 1), (2, 2), (3, 3), (100_000, 65_536)] as [(Int?, Int?)])
    func `loop counts are rounded to what the format supports`(plays: Int?, said: Int?) throws {
        #expect(try #require(reread(animation([.zero, .zero], plays: plays)).frames).playCount == said)
    }

    @Test func `delays are rounded to what the format supports`() throws {
        let delays: [Duration] = [.milliseconds(-5), .milliseconds(14), .milliseconds(16), .seconds(700)]
        let frames = try #require(reread(animation(delays)).frames)
        let said = (0..<4).map { frames.rawDelay(at: $0) }
        #expect(said == [.zero, .milliseconds(10), .milliseconds(20), .milliseconds(655_350)])
    }

    @Test func `short delays from GIF and PNG are written as browsers show them unless they are kept`() throws {
        var image = try animation([.zero, .milliseconds(10), .milliseconds(20)])
        for (format, first) in [(ImageFormat.gif, 100), (.png, 100), (.webp, 0), (nil, 0)] as [(ImageFormat?, Int)] {
            image.format = format
            for (encoder, expected) in [(GIFEncoder(), first), (GIFEncoder(keepsShortDelays: true), 0)] {
                let data = try encoder.encode(image)
                let frames = try #require(GIFDecoder().decode(data, options: DecodingOptions()).frames)
                #expect(frames.rawDelay(at: 0) == .milliseconds(expected))
                #expect(frames.rawDelay(at: 1) == .milliseconds(max(expected, 10)))
                #expect(frames.rawDelay(at: 2) == .milliseconds(20))
            }
        }
    }

    @Test func `an animation with frames of different sizes or unavailable frames is an error`() throws {
        let other = try makePixels(5, 5) { _, _ in [1, 2, 3, 255] }
        let images = [
            (try animation([.zero, nil]), ImageEncodingError.Code.failed),
            (try animation([.zero, .zero], last: other), .unsupportedImage),
        ]
        for (image, code) in images {
            let error = #expect(throws: ImageEncodingError.self) { try GIFEncoder().encode(image) }
            #expect(error?.code == code)
        }
    }

    /// Returns frames of different colors with these delays, where nil is an unavailable frame.
    private func animation(
        _ delays: [Duration?], plays: Int? = nil, last: PixelBuffer? = nil
    ) throws -> DecodedImage {
        let pixels = try delays.indices.map { index in
            try makePixels(4, 4) { x, y in [UInt8(x), UInt8(y), UInt8(50 * index), 255] }
        }
        let frames = delays.indices.map { index in
            let isLast = index == delays.count - 1
            return (delays[index] == nil ? nil : isLast ? last ?? pixels[index] : pixels[index], delays[index] ?? .zero)
        }
        return DecodedImage(
            pixels: pixels[0], frames: MadeFrames(PixelSize(width: 4, height: 4), playCount: plays, frames))
    }

    @Test func `alpha below one half is transparent, and above it opaque`() throws {
        let pixels = try makePixels(4, 1) { x, _ in [200, 100, 50, [0, 127, 128, 255][x]] }

        let bytes = try reread(DecodedImage(pixels: pixels)).pixels.tightBytes

        #expect(bytes == [0, 0, 0, 0, 0, 0, 0, 0, 200, 100, 50, 255, 200, 100, 50, 255])
    }

    @Test(arguments: [true, false])
    func `an image with more than 256 colors is approximated`(dithers: Bool) throws {
        let pixels = try makePixels(64, 64, alphaMode: .opaque) { x, y in [UInt8(4 * x), UInt8(4 * y), 128, 255] }

        let image = try reread(DecodedImage(pixels: pixels), GIFEncoder(dithers: dithers))

        #expect(difference(image.pixels, pixels) < (dithers ? 5 : 4))
        #expect(image.pixels.alphaMode == .opaque)
    }

    @Test func `dithering keeps the mean when few colors are left`() throws {
        let pixels = try makePixels(64, 64, alphaMode: .opaque) { x, y in
            let gray = UInt8(64 + (x * 5 + y * 3) % 128)
            return [gray, gray, gray, 255]
        }
        func mean(_ pixels: PixelBuffer) -> Double {
            Double(pixels.tightBytes.reduce(0) { $0 + Int($1) }) / Double(pixels.tightBytes.count)
        }

        let image = try reread(DecodedImage(pixels: pixels), GIFEncoder(maximumColorCount: 2))

        let bytes = image.pixels.tightBytes
        let reds = Set(stride(from: 0, to: bytes.count, by: 4).map { bytes[$0] })
        #expect(reds.count == 2)
        #expect(abs(mean(image.pixels) - mean(pixels)) < 2)
    }

    @Test func `transparent pixels stay transparent with many colors`() throws {
        let pixels = try makePixels(64, 64) { x, y in
            x == y ? [0, 0, 0, 0] : [UInt8(4 * x), UInt8(4 * y), 9, 255]
        }

        let image = try reread(DecodedImage(pixels: pixels))

        #expect((0..<64).allSatisfy { image.pixels.rgba($0, $0) == [0, 0, 0, 0] })
        #expect(difference(image.pixels, pixels) < 5)
    }

    @Test func `other pixel formats are reduced to what GIF supports`() throws {
        let size = PixelSize(width: 2, height: 1)
        let gray = try #require(
            PixelBuffer(size: size, format: .gray8, alphaMode: .opaque) { memory, _ in
                memory[0] = 7
                memory[1] = 250
            })
        let deep = try #require(
            PixelBuffer(size: size, format: .rgba16, alphaMode: .opaque) { memory, _ in
                for index in 0..<8 {
                    memory.storeBytes(of: index % 4 == 3 ? 0xFFFF : 0x1234, toByteOffset: 2 * index, as: UInt16.self)
                }
            })

        #expect(try reread(DecodedImage(pixels: gray)).pixels.tightBytes == [7, 7, 7, 255, 250, 250, 250, 255])
        #expect(try reread(DecodedImage(pixels: deep)).pixels.rgba(1, 0) == [0x12, 0x12, 0x12, 255])
    }

    @Test func `the profile is kept, and a rotated image is made upright`() throws {
        let pixels = try makePixels(3, 2, alphaMode: .opaque) { x, y in [UInt8(x), UInt8(y), 0, 255] }
        let profile = Data((0..<700).map { UInt8($0 % 255) })

        let image = try reread(DecodedImage(pixels: pixels, colorProfile: profile, orientation: .right))

        #expect(try image.pixels == pixels.upright(from: .right))
        #expect(image.colorProfile == profile)
    }

    @Test(arguments: ["animated", "disposal-asis", "disposal-background", "disposal-previous", "disposal-mixed"])
    func `an animation keeps its frames, delays and loop count`(name: String) throws {
        let original = try decoder.decode(fixture("\(name).gif"), options: DecodingOptions())

        let copy = try reread(original)

        let (before, after) = (try #require(original.frames), try #require(copy.frames))
        #expect(after.frameCount == before.frameCount)
        #expect(after.playCount == before.playCount)
        for index in 0..<before.frameCount {
            #expect(try after.frame(at: index) == before.frame(at: index), "frame \(index)")
            // Short delays are written as browsers show them.
            let delay = before.rawDelay(at: index)
            #expect(after.rawDelay(at: index) == (delay <= .milliseconds(10) ? .milliseconds(100) : delay))
        }
    }

    @Test func `an animation whose bytes exceed the limit ends while it is encoded`() throws {
        #expect(try NoiseFrames.endsEncode(by: GIFEncoder(), maximumByteCount: 16 << 10))
    }

    @Test func `a side beyond 16 bits is refused`() throws {
        let long = try #require(
            PixelBuffer(size: PixelSize(width: 65_536, height: 1), format: .gray8, alphaMode: .opaque))

        #expect(throws: ImageEncodingError(.unsupportedImage, "GIF: the format cannot store 65536 x 1 pixels")) {
            try GIFEncoder().encode(DecodedImage(pixels: long))
        }
    }

    @Test func `row encoding writes the same file`() throws {
        let image = try decoder.decode(fixture("transparent.gif"), options: DecodingOptions())
        let rows = Watched(Data())

        try image.sendRows(
            to: GIFEncoder().makeRowEncoder { piece in
                let bytes = piece.withUnsafeBytes { Data($0) }
                rows.update { $0.append(bytes) }
            })

        #expect(try rows.value == GIFEncoder().encode(image))
    }
}
