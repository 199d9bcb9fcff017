import AlcedoCore
import AlcedoWebP
import Foundation
import TestSupport
import Testing

@Suite struct WebPAnimationTests {
    private let decoder = WebPDecoder()

    @Test func `a first frame of the canvas's size is the image`() throws {
        let pixels = try decoder.decode(fixture("animated.webp"), options: DecodingOptions()).pixels

        #expect(pixels.tightBytes == Array(try fixture("alpha.rgba")))
    }

    @Test func `a smaller first frame is placed at its offset on a transparent canvas`() throws {
        let part = try decoder.decode(fixture("part.webp"), options: DecodingOptions()).pixels
        let pixels = try decoder.decode(fixture("offset.webp"), options: DecodingOptions()).pixels

        #expect(pixels.size == PixelSize(width: 14, height: 18))
        #expect(pixels.alphaMode == .straight)
        for y in 0..<18 {
            for x in 0..<14 {
                let isInside = (4..<10).contains(x) && (6..<10).contains(y)
                #expect(pixels.rgba(x, y) == (isInside ? part.rgba(x - 4, y - 6) : [0, 0, 0, 0]))
            }
        }
    }

    @Test func `frames, delays and loop count are the file's`() throws {
        let frames = try #require(decoder.decode(fixture("animated.webp"), options: DecodingOptions()).frames)
        let info = try decoder.inspect(fixture("animated.webp"), limits: DecodingLimits())

        #expect(frames.frameCount == 2)
        #expect(frames.playCount == 2)
        #expect(info.loopCount == 2)
        #expect((0..<2).map(frames.rawDelay) == [.milliseconds(50), .milliseconds(70)])
        #expect(info.delays == (0..<2).map(frames.rawDelay))
        #expect(frames.canvasSize == PixelSize(width: 14, height: 18))
    }

    @Test func `a loop count of zero repeats forever`() throws {
        var random = SeededGenerator(seed: 5)
        var data = try randomAnimation(PixelSize(width: 4, height: 4), frameCount: 2, using: &random)
        // RIFF header 12, VP8X 18, header of ANIM 8, color 4.
        data[42] = 0

        #expect(try decoder.inspect(data, limits: DecodingLimits()).loopCount == 0)
        #expect(try decoder.decode(data, options: DecodingOptions()).frames?.playCount == nil)
    }

    @Test(arguments: 0..<24) func `frames match libwebp's own animation decoder`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let data = try randomAnimation(PixelSize(width: 12, height: 10), frameCount: 8, using: &random)
        let expected = try #require(LibwebpPlayer.frames(of: data))

        let frames = try #require(decoder.decode(data, options: DecodingOptions()).frames)

        #expect(frames.frameCount == expected.count)
        for index in expected.indices {
            #expect(
                clearingTransparent(Data(try frames.frame(at: index).tightBytes))
                    == clearingTransparent(Data(expected[index])), "frame \(index)")
        }
    }

    @Test func `frames are the same in any order`() throws {
        var random = SeededGenerator(seed: 99)
        let data = try randomAnimation(PixelSize(width: 9, height: 11), frameCount: 12, using: &random)
        let forward = try #require(decoder.decode(data, options: DecodingOptions()).frames)
        let jumping = try #require(decoder.decode(data, options: DecodingOptions()).frames)
        let expected = try (0..<12).map { try forward.frame(at: $0) }

        for index in (0..<12).shuffled(using: &random) + [3, 3, 11, 0] {
            #expect(try jumping.frame(at: index) == expected[index])
        }
    }

    @Test func `frames are reduced and premultiplied on request`() throws {
        let options = DecodingOptions(
            alphaMode: .premultiplied, target: TargetSize(width: 7, height: 9))
        let image = try decoder.decode(fixture("animated.webp"), options: options)

        #expect(image.size == PixelSize(width: 7, height: 9))
        #expect(image.pixels.alphaMode == .premultiplied)
        #expect(try image.frames?.frame(at: 0) == image.pixels)
        #expect(try image.frames?.frame(at: 1).size == image.size)
    }

    @Test func `without its animation the first frame is a still image`() throws {
        let options = DecodingOptions(includesAnimation: false)
        let still = try decoder.decode(fixture("animated.webp"), options: options)

        #expect(still.frames == nil)
        #expect(still.pixels == (try decoder.decode(fixture("animated.webp"), options: DecodingOptions()).pixels))
    }

    @Test(arguments: [(10, 0), (0, 16), (0x1FF_FFFE, 0)])
    func `a frame outside the canvas is corrupt`(left: Int, top: Int) throws {
        let image = RIFFWriter.image(of: try fixture("part.webp"))
        let frame = RIFFWriter.frame(left: left, top: top, width: 6, height: 4, [image])

        #expect(errorCode(RIFFWriter.file([RIFFWriter.animation(width: 14, height: 18), frame])) == .corrupt)
    }

    @Test func `a frame of a different size than declared is corrupt`() throws {
        let image = RIFFWriter.image(of: try fixture("part.webp"))
        let header = RIFFWriter.animation(width: 14, height: 18)

        #expect(errorCode(RIFFWriter.file([header, RIFFWriter.frame(width: 6, height: 4, [image])])) == nil)
        #expect(errorCode(RIFFWriter.file([header, RIFFWriter.frame(width: 5, height: 4, [image])])) == .corrupt)
        #expect(errorCode(RIFFWriter.file([header, RIFFWriter.frame(width: 6, height: 4, [])])) == .corrupt)
        #expect(errorCode(RIFFWriter.file([header, RIFFWriter.chunk("ANMF", [0, 0, 0])])) == .corrupt)
    }

    @Test func `a frame before the animation header is corrupt, as in libwebp`() throws {
        let frame = RIFFWriter.frame(width: 6, height: 4, [RIFFWriter.image(of: try fixture("part.webp"))])
        let file = RIFFWriter.file([RIFFWriter.extendedHeader(flags: 2, width: 14, height: 18), frame])

        #expect(errorCode(file) == .corrupt)
        #expect(LibwebpPlayer.frames(of: file) == nil)
    }

    @Test func `frames are counted up to the limit`() throws {
        let data = try fixture("animated.webp")

        #expect(try decoder.inspect(data, limits: DecodingLimits(maximumFrameCount: 2)).frameCount == 2)
        #expect(errorCode(data, limits: DecodingLimits(maximumFrameCount: 1)) == .exceedsLimit)
    }

    @Test func `frames are decoded only if all of them together are within the limit`() throws {
        let data = try fixture("animated.webp")
        let total = try 2 * decoder.inspect(data, limits: DecodingLimits()).size.pixelCount

        #expect(errorCode(data, limits: DecodingLimits(maximumTotalPixelCount: total)) == nil)
        #expect(errorCode(data, limits: DecodingLimits(maximumTotalPixelCount: total - 1)) == .exceedsLimit)
        // The first frame alone is one image.
        let options = DecodingOptions(limits: DecodingLimits(maximumTotalPixelCount: 1), includesAnimation: false)
        #expect(throws: Never.self) { try decoder.decode(data, options: options) }
    }

    @Test func `a file truncated after the first frame has its complete frames`() throws {
        var random = SeededGenerator(seed: 3)
        let data = try randomAnimation(PixelSize(width: 6, height: 6), frameCount: 5, using: &random)
        let whole = try #require(decoder.decode(data, options: DecodingOptions()).frames)
        let cut = Data(data.prefix(data.count - 9))

        let part = try decoder.decode(cut, options: DecodingOptions(tolerance: .harmless))
        #expect(part.damage?.kind == .harmless)
        #expect(part.damage?.error.code == .truncated)
        #expect(part.frames?.frameCount == 4)
        #expect(try part.frames?.frame(at: 3) == whole.frame(at: 3))
    }

    @Test(arguments: DamageTolerance.allCases)
    func `the animation ends before a later frame that cannot be decoded`(tolerance: DamageTolerance) throws {
        var random = SeededGenerator(seed: 4)
        var data = try randomAnimation(PixelSize(width: 30, height: 30), frameCount: 3, using: &random)
        let whole = try #require(decoder.decode(data, options: DecodingOptions()).frames)
        // The last frame's Huffman codes become invalid.
        let last = try #require(data.range(of: Data("VP8L".utf8), options: .backwards)).upperBound
        for offset in last + 9..<data.count { data[offset] = 0xFF }

        let frames = try #require(decoder.decode(data, options: DecodingOptions(tolerance: tolerance)).frames)

        #expect(frames.frameCount == 3)
        #expect(throws: ImageDecodingError.self) { try frames.frame(at: 2) }
        #expect(frames.frameCount == 2)
        #expect(frames.damage?.kind == .harmless)
        for index in 0..<2 { #expect(try frames.frame(at: index) == whole.frame(at: index)) }
    }
}
