import TestSupport
import AlcedoCore
import AlcedoGIF
import AlcedoTesting
import Foundation
import Testing

@Suite struct GIFDamageTests {
    private let decoder = GIFDecoder()
    private let pixel = GIFWriter.image(width: 1, height: 1, indices: [0])

    private func errorCode(_ data: Data, limits: DecodingLimits = DecodingLimits()) -> ImageDecodingError.Code? {
        decoder.errorCode(data, limits: limits)
    }

    private func file(width: Int = 1, height: Int = 1, _ blocks: [[UInt8]]) -> Data {
        GIFWriter.file(width: width, height: height, palette: [(1, 2, 3)], blocks)
    }

    @Test(arguments: ["plain.gif", "interlaced.gif", "transparent.gif", "animated.gif"], DecoderConformance.checks)
    func `the decoder passes each conformance check`(name: String, check: DecoderConformance.Check) async throws {
        let file = try fixture(name)
        try await check { [decoder] _ in (decoder, file) }
    }

    @Test func `a truncated animation has the complete frames`() throws {
        let data = try fixture("animated.gif")
        var counts: [Int] = []

        for count in 1..<data.count {
            guard let image = try? decoder.decode(data.prefix(count), options: DecodingOptions()) else { continue }
            #expect(image.damage?.kind == .harmless)
            #expect(image.damage?.error.code == .truncated)
            counts.append(image.frames?.frameCount ?? 1)
        }

        #expect(counts == counts.sorted())
        #expect(Set(counts) == [1, 2, 3])
    }

    @Test func `a canvas over the limit is refused before anything else is read`() {
        let headerOnly = GIFWriter.file(width: 65_535, height: 65_535, palette: nil, [], trailer: false)

        #expect(errorCode(headerOnly) == .exceedsLimit)
        #expect(errorCode(file([pixel]), limits: DecodingLimits(maximumByteCount: 63)) == .exceedsLimit)
        #expect(errorCode(file([pixel]), limits: DecodingLimits(maximumByteCount: 64)) == nil)
        #expect(throws: ImageDecodingError.self) { try decoder.inspect(headerOnly, limits: DecodingLimits()) }
    }

    @Test func `a frame over the limit is refused before its rows are read`() {
        let frame = GIFWriter.image(width: 65_535, height: 65_535, indices: [])

        #expect(errorCode(file([frame])) == .exceedsLimit)
    }

    @Test func `frames are counted up to the limit`() throws {
        let three = file([pixel, pixel, pixel])

        #expect(try decoder.inspect(three, limits: DecodingLimits(maximumFrameCount: 3)).frameCount == 3)
        let message = "the animation has at least 3 frames; the limit is 2 (DecodingLimits.maximumFrameCount)"
        #expect(throws: ImageDecodingError(.exceedsLimit, message)) {
            try decoder.inspect(three, limits: DecodingLimits(maximumFrameCount: 2))
        }
    }

    @Test func `frames are decoded only if all of them together are within the limit`() throws {
        let data = file([pixel, pixel, pixel])
        let total = try 3 * decoder.inspect(data, limits: DecodingLimits()).size.pixelCount

        #expect(errorCode(data, limits: DecodingLimits(maximumTotalPixelCount: total)) == nil)
        #expect(errorCode(data, limits: DecodingLimits(maximumTotalPixelCount: total - 1)) == .exceedsLimit)
        // The first frame alone is one image.
        let options = DecodingOptions(limits: DecodingLimits(maximumTotalPixelCount: 1), includesAnimation: false)
        #expect(throws: Never.self) { try decoder.decode(data, options: options) }
    }

    @Test func `an empty canvas with an empty frame is corrupt`() {
        #expect(errorCode(file(width: 0, [GIFWriter.image(width: 0, height: 1, indices: [])])) == .corrupt)
        #expect(errorCode(file(height: 0, [GIFWriter.image(width: 1, height: 0, indices: [])])) == .corrupt)
    }

    @Test func `missing pixels in a complete file are corrupt`() {
        let short = GIFWriter.image(width: 4, height: 4, indices: [0, 0, 0])

        #expect(errorCode(file(width: 4, height: 4, [short])) == .corrupt)
    }

    @Test func `other contradictory files throw corrupt or unsupportedVariant`() throws {
        #expect(errorCode(file([])) == .corrupt)
        #expect(errorCode(file([[0x99], pixel])) == .corrupt)
        #expect(errorCode(Data("no picture at all".utf8)) == .corrupt)
        #expect(errorCode(Data("GIF90a.......".utf8)) == .unsupportedVariant)
        #expect(errorCode(file([GIFWriter.image(width: 1, height: 1, codeSize: 12, indices: [0])])) == .corrupt)
        #expect(throws: ImageDecodingError(.corrupt, "GIF: the file has no image")) {
            try decoder.inspect(file([]), limits: DecodingLimits())
        }
    }
}
