import AlcedoCore
import AlcedoGIF
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite struct GIFAnimationTests {
    private let decoder = GIFDecoder()
    private let palette: [GIFWriter.Color] = [(255, 0, 0), (0, 255, 0)]

    @Test(arguments: ["disposal-asis", "disposal-background", "disposal-previous", "disposal-mixed"])
    func `composited frames match another decoder`(name: String) throws {
        let expected = try fixture("\(name).rgba")
        let image = try decoder.decode(fixture("\(name).gif"), options: DecodingOptions())

        let frames = try #require(image.frames)
        let frameBytes = 16 * 12 * 4
        #expect(frames.frameCount * frameBytes == expected.count)
        // Also backward, where each frame is decoded from its key frame.
        for index in Array(0..<frames.frameCount) + (0..<frames.frameCount).reversed() {
            let part = expected.dropFirst(index * frameBytes).prefix(frameBytes)
            #expect(try frames.frame(at: index).tightBytes == clearingTransparent(Data(part)), "frame \(index)")
        }
        #expect(try image.pixels == frames.frame(at: 0))
    }

    @Test func `delays and loop count are the file's, and short delays are lengthened as in browsers`() throws {
        let mixed = try #require(decoder.decode(fixture("disposal-mixed.gif"), options: DecodingOptions()).frames)
        let counted = try #require(decoder.decode(fixture("disposal-asis.gif"), options: DecodingOptions()).frames)

        let later = [Duration](repeating: .milliseconds(120), count: 4)
        let raw: [Duration] = (0..<5).map { mixed.rawDelay(at: $0) }
        let shown: [Duration] = (0..<5).map { mixed.delay(at: $0) }
        #expect(raw == [.milliseconds(10)] + later)
        #expect(shown == [.milliseconds(100)] + later)
        #expect(mixed.playCount == nil)
        #expect(counted.playCount == 5)
    }

    @Test(arguments: ["NETSCAPE2.0", "ANIMEXTS1.0"])
    func `the loop count of either application extension is read`(application: String) throws {
        let pixel = GIFWriter.image(width: 1, height: 1, indices: [0])
        func info(_ blocks: [[UInt8]]) throws -> (raw: Int?, plays: Int?) {
            let file = GIFWriter.file(width: 1, height: 1, palette: palette, blocks + [pixel, pixel])
            let frames = try #require(decoder.decode(file, options: DecodingOptions()).frames)
            return (try decoder.inspect(file, limits: DecodingLimits()).loopCount, frames.playCount)
        }

        #expect(try info([]) == (nil, 1))
        #expect(try info([GIFWriter.application(application, [1, 0, 0])]) == (0, nil))
        #expect(try info([GIFWriter.application(application, [1, 2, 1])]) == (258, 259))
    }

    /// As in Firefox, WebKit, Pillow and ImageMagick.
    @Test func `the last of several loop counts applies`() throws {
        let pixel = GIFWriter.image(width: 1, height: 1, indices: [0])
        func counts(_ blocks: [[UInt8]]) throws -> (raw: Int?, plays: Int?) {
            let file = GIFWriter.file(width: 1, height: 1, palette: palette, blocks)
            let frames = try #require(decoder.decode(file, options: DecodingOptions()).frames)
            return (try decoder.inspect(file, limits: DecodingLimits()).loopCount, frames.playCount)
        }
        let five = GIFWriter.application("NETSCAPE2.0", [1, 5, 0])
        let seven = GIFWriter.application("ANIMEXTS1.0", [1, 7, 0])
        let forever = GIFWriter.application("NETSCAPE2.0", [1, 0, 0])

        #expect(try counts([five, seven, pixel, pixel]) == (7, 8))
        #expect(try counts([seven, five, pixel, pixel]) == (5, 6))
        #expect(try counts([five, forever, pixel, pixel]) == (0, nil))
        #expect(try counts([five, pixel, seven, pixel]) == (7, 8))
    }

    @Test(arguments: [(3, true), (4, true), (5, false), (6, false), (7, false)])
    func `a disposal of 3 or 4 restores the previous canvas`(disposal: UInt8, restores: Bool) throws {
        let images = (0..<3).map { index in
            GIFWriter.image(left: index, top: 0, width: 1, height: 1, indices: [UInt8(index)])
        }
        let data = GIFWriter.file(
            width: 3, height: 1, palette: [(9, 0, 0), (0, 9, 0), (0, 0, 9), (0, 0, 0)],
            [images[0], GIFWriter.control(disposal: disposal), images[1], images[2]])

        let frames = try #require(decoder.decode(data, options: DecodingOptions()).frames)

        #expect(try frames.frame(at: 1).rgba(1, 0) == [0, 9, 0, 255])
        #expect(try frames.frame(at: 2).rgba(1, 0) == (restores ? [0, 0, 0, 0] : [0, 9, 0, 255]))
        #expect(try frames.frame(at: 2).rgba(0, 0) == [9, 0, 0, 255])
    }

    @Test func `an unknown disposal keeps the frame`() throws {
        let whole = GIFWriter.image(width: 2, height: 1, indices: [0, 0])
        let second = GIFWriter.image(left: 1, width: 1, height: 1, indices: [1])
        let blocks = [GIFWriter.control(disposal: 5), whole, second]
        let file = GIFWriter.file(width: 2, height: 1, palette: palette, blocks)

        let frames = try #require(decoder.decode(file, options: DecodingOptions()).frames)

        #expect(try frames.frame(at: 1).tightBytes == [255, 0, 0, 255, 0, 255, 0, 255])
    }

    @Test func `frames have the requested size, and stills omit the animation on request`() throws {
        let data = try fixture("disposal-mixed.gif")
        let target = TargetSize(width: 8, height: 6)

        let small = try decoder.decode(data, options: DecodingOptions(target: target))
        let still = try decoder.decode(data, options: DecodingOptions(includesAnimation: false))

        #expect(small.size == target.size)
        #expect(try small.frames?.frame(at: 4).size == target.size)
        #expect(still.frames == nil)
    }

    @Test(arguments: ["disposal-mixed.gif", "disposal-previous.gif"])
    func `an animation decodes equally in pieces, and its prefixes are truncated`(name: String) throws {
        let data = try fixture(name)

        try DecoderChecks(decoder).checkPieces(data)
        try DecoderChecks(decoder).checkRows(data)
        #expect(try DecoderChecks(decoder).checkTruncation(data) == [.empty, .truncated])
        try DecoderChecks(decoder).checkFlippedBits(data, rounds: 200)
    }
}
