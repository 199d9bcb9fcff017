import TestSupport
import AlcedoCore
import AlcedoWebP
import Foundation
import Testing

@Suite struct WebPAnimationTests {
    private let decoder = WebPDecoder()

    @Test func `a first frame of the canvas's size is the picture`() throws {
        let pixels = try decoder.decode(fixture("animated.webp"), options: DecodingOptions()).pixels

        #expect(pixels.tightBytes == Array(try fixture("alpha.rgba")))
    }

    @Test func `a smaller first frame lies at its offset on a transparent canvas`() throws {
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

    @Test func `a smaller first frame is decoded in full size whatever the target`() throws {
        let options = DecodingOptions(target: TargetSize(PixelSize(width: 7, height: 9)))

        let pixels = try decoder.decode(fixture("offset.webp"), options: options).pixels

        #expect(pixels == (try decoder.decode(fixture("offset.webp"), options: DecodingOptions()).pixels))
    }

    @Test func `a first frame of the canvas's size is decoded small`() throws {
        let options = DecodingOptions(target: TargetSize(PixelSize(width: 7, height: 9)))

        #expect(try decoder.decode(fixture("animated.webp"), options: options).size == PixelSize(width: 7, height: 9))
    }

    @Test(arguments: [(10, 0), (0, 16), (0x1FF_FFFE, 0)])
    func `a frame that leaves the canvas is corrupt`(left: Int, top: Int) throws {
        let image = RIFFWriter.image(of: try fixture("part.webp"))
        let header = RIFFWriter.extendedHeader(flags: 0x02, width: 14, height: 18)
        let frame = RIFFWriter.frame(left: left, top: top, width: 6, height: 4, [image])

        #expect(errorCode(RIFFWriter.file([header, frame])) == .corrupt)
    }

    @Test func `a frame of another size than announced is corrupt`() throws {
        let image = RIFFWriter.image(of: try fixture("part.webp"))
        let header = RIFFWriter.extendedHeader(flags: 0x02, width: 14, height: 18)

        #expect(errorCode(RIFFWriter.file([header, RIFFWriter.frame(width: 6, height: 4, [image])])) == nil)
        #expect(errorCode(RIFFWriter.file([header, RIFFWriter.frame(width: 5, height: 4, [image])])) == .corrupt)
        #expect(errorCode(RIFFWriter.file([header, RIFFWriter.frame(width: 6, height: 4, [])])) == .corrupt)
        #expect(errorCode(RIFFWriter.file([header, RIFFWriter.chunk("ANMF", [0, 0, 0])])) == .corrupt)
    }

    @Test func `frames are counted up to the limit`() throws {
        let data = try fixture("animated.webp")

        #expect(try decoder.inspect(data, limits: DecodingLimits(maximumFrameCount: 2)).frameCount == 2)
        #expect(throws: ImageDecodingError(.exceedsLimit, "WebP: there are more than 1 frames")) {
            try decoder.inspect(data, limits: DecodingLimits(maximumFrameCount: 1))
        }
    }
}
