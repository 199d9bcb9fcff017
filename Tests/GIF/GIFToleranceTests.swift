import TestSupport
import AlcedoCore
import AlcedoGIF
import AlcedoTesting
import Foundation
import Testing

@Suite struct GIFToleranceTests {
    private let decoder = GIFDecoder()
    private let pixel = GIFWriter.image(width: 1, height: 1, indices: [0])
    private let other = GIFWriter.image(width: 1, height: 1, indices: [1])
    private let clear: [UInt8] = [0, 0, 0, 0]
    private let strict = DecodingOptions(tolerance: .harmless)

    private func file(width: Int = 1, height: Int = 1, _ blocks: [[UInt8]], trailer: Bool = true) -> Data {
        GIFWriter.file(width: width, height: height, palette: [(1, 2, 3), (4, 5, 6)], blocks, trailer: trailer)
    }

    @Test func `a missing trailer and other bytes after a frame are harmless`() throws {
        let files = [
            file([pixel], trailer: false), file([pixel, [0x99, 0x98]]), file([pixel, [0xDE, 0xAD]], trailer: false),
            file([pixel, [0x21]], trailer: false), Data(file([pixel], trailer: false).dropLast()),
        ]
        for file in files {
            let image = try decoder.decode(file, options: strict)

            #expect(image.pixels.tightBytes == [1, 2, 3, 255])
            #expect(image.frames == nil)
            #expect(image.damage?.kind == .harmless)
            #expect(try decoder.inspect(file, limits: DecodingLimits()).frameCount == 1)
            try DecoderChecks(decoder).checkRows(file)
            try DecoderChecks(decoder).checkPieces(file)
        }
    }

    @Test func `a graphic control of another length is reported, and more bytes are ignored`() throws {
        let control = GIFWriter.control(transparentIndex: 0)
        var long = control
        long[2] = 6
        long.insert(contentsOf: [7, 7], at: long.count - 1)
        let short: [UInt8] = [0x21, 0xF9, 3] + control[3..<6] + [0]

        for (block, pixels) in [(long, clear), (short, [1, 2, 3, 255]), ([0x21, 0xF9, 0], [1, 2, 3, 255])] {
            let data = file([block, pixel])
            let image = try decoder.decode(data, options: strict)

            #expect(image.pixels.tightBytes == pixels)
            #expect(image.damage?.kind == .harmless)
            try DecoderChecks(decoder).checkPieces(data)
        }
        #expect(try decoder.decode(file([control, pixel]), options: strict).damage == nil)
    }

    @Test func `a broken later frame ends the animation before it`() throws {
        let empty = GIFWriter.image(width: 0, height: 0, indices: [])
        let outside = GIFWriter.image(left: 9, top: 9, width: 1, height: 1, indices: [1])
        let huge = GIFWriter.image(width: 65_535, height: 65_535, indices: [])
        let cut = Array(other.dropLast(4))

        for broken in [empty, outside, huge, cut] {
            for count in 1...2 {
                let blocks = Array([pixel, other].prefix(count)) + [broken]
                let data = file(broken == cut ? blocks : blocks + [other], trailer: broken != cut)
                let image = try decoder.decode(data, options: strict)

                #expect(image.frames?.frameCount ?? 1 == count)
                #expect(image.damage?.kind == .harmless)
                #expect(image.pixels.tightBytes == [1, 2, 3, 255])
                #expect(try decoder.inspect(data, limits: DecodingLimits()).frameCount == count)
            }
        }
    }

    @Test func `a last frame that lacks only its end is shown`() throws {
        func data(rows: Int, count: Int) -> Data {
            let first = GIFWriter.image(width: 2, height: 4, indices: Array(repeating: 0, count: 8))
            let last = GIFWriter.image(width: 2, height: 4, indices: Array(repeating: 1, count: 2 * rows))
            return Data(file(width: 2, height: 4, [first, last], trailer: false).dropLast(count))
        }
        // Without the terminator of the sub-blocks; also without the end code, which is in the same sub-block; without
        // the last row.
        for (file, frameCount) in [
            (data(rows: 4, count: 1), 2), (data(rows: 4, count: 2), 1), (data(rows: 3, count: 1), 1),
        ] {
            let image = try decoder.decode(file, options: strict)

            #expect(image.frames?.frameCount ?? 1 == frameCount)
            #expect(image.damage?.kind == .harmless)
            #expect(try decoder.inspect(file, limits: DecodingLimits()).frameCount == frameCount)
            if let frames = image.frames {
                #expect(try frames.frame(at: 1).tightBytes == (0..<8).flatMap { _ in [4, 5, 6, 255] as [UInt8] })
                #expect(frames.damage == nil)
            }
            try DecoderChecks(decoder).checkPieces(file)
        }
    }

    @Test func `a later frame that lies partly on the screen is clipped`() throws {
        let partly = GIFWriter.image(left: 1, top: 0, width: 5, height: 3, indices: Array(repeating: 1, count: 15))
        let first = GIFWriter.image(width: 2, height: 1, indices: [0, 0])

        let image = try decoder.decode(file(width: 2, height: 1, [first, partly]), options: strict)

        #expect(try image.frames?.frame(at: 1).tightBytes == [1, 2, 3, 255, 4, 5, 6, 255])
        #expect(image.damage == nil)
    }

    @Test(arguments: DamageTolerance.allCases)
    func `a later frame without all its pixels ends the animation`(tolerance: DamageTolerance) throws {
        let whole = GIFWriter.image(width: 2, height: 4, indices: Array(repeating: 0, count: 8))
        // Half of the rows; no rows; codes of too many bits.
        for indices in [[1, 1, 1, 1], [], nil] as [[UInt8]?] {
            let codeSize: UInt8 = indices == nil ? 12 : 7
            let broken = GIFWriter.image(width: 2, height: 4, codeSize: codeSize, indices: indices ?? [1])
            let data = file(width: 2, height: 4, [whole, whole, broken, whole])
            let image = try decoder.decode(data, options: DecodingOptions(tolerance: tolerance))
            let frames = try #require(image.frames)

            #expect(image.damage == nil)
            #expect(frames.frameCount == 4)
            _ = try frames.frame(at: 1)
            #expect(throws: ImageDecodingError.self) { try frames.frame(at: 2) }
            #expect(frames.frameCount == 2)
            #expect(frames.damage?.kind == .harmless)
        }
    }

    @Test func `wrong pixels of a later frame are shown if they are tolerated, and are reported`() throws {
        let whole = GIFWriter.image(width: 2, height: 16, indices: Array(repeating: 0, count: 32))
        let short = GIFWriter.image(width: 2, height: 16, indices: Array(repeating: 1, count: 31))
        let data = file(width: 2, height: 16, [whole, short])

        let frames = try #require(try decoder.decode(data, options: DecodingOptions()).frames)
        let refused = try #require(try decoder.decode(data, options: strict).frames)

        #expect(try frames.frame(at: 1).rgba(0, 15) == [4, 5, 6, 255])
        #expect(frames.damage?.kind == .wrongPixels)
        #expect(frames.frameCount == 2)
        #expect(throws: ImageDecodingError.self) { try refused.frame(at: 1) }
        #expect(refused.damage?.kind == .harmless)
        #expect(refused.frameCount == 1)
    }

    @Test func `an empty screen has the size of the first frame`() throws {
        let frame = GIFWriter.image(left: 3, top: 5, width: 2, height: 1, indices: [0, 1])
        for (width, height) in [(0, 0), (0, 7), (7, 0)] {
            let data = file(width: width, height: height, [frame, pixel])
            let image = try decoder.decode(data, options: strict)

            #expect(image.pixels.tightBytes == [1, 2, 3, 255, 4, 5, 6, 255])
            #expect(image.frames?.frameCount == 2)
            #expect(image.damage?.kind == .harmless)
            #expect(try decoder.inspect(data, limits: DecodingLimits()).size == image.size)
            try DecoderChecks(decoder).checkPieces(data)
        }
        let large = DecodingLimits(maximumPixelCount: 1)
        #expect(decoder.errorCode(file(width: 0, [frame]), limits: large) == .exceedsLimit)
    }

    @Test func `an empty first frame has the size of the screen`() throws {
        let empty = GIFWriter.image(width: 0, height: 0, indices: [])
        let placeholder = try decoder.decode(file([empty]), options: strict)
        let partial = try decoder.decode(
            file(width: 2, height: 1, [empty, other]), options: DecodingOptions(allowsPartial: true))

        #expect(placeholder.pixels.tightBytes == clear)
        #expect(placeholder.damage?.kind == .harmless)
        #expect(partial.pixels.tightBytes == clear + clear)
        #expect(partial.damage?.kind == .missingPixels)
    }

    @Test func `an image of more than one pixel without data has missing pixels`() throws {
        for (width, height) in [(2, 1), (500, 500)] {
            let empty = GIFWriter.image(width: width, height: height, indices: [])
            let whole = GIFWriter.image(
                width: width, height: height, indices: Array(repeating: 1, count: width * height))
            #expect(decoder.errorCode(file(width: width, height: height, [empty])) == .corrupt)
            #expect(decoder.errorCode(file(width: width, height: height, [empty, whole])) == .corrupt)
            let options = DecodingOptions(allowsPartial: true)
            // Nothing can be decoded.
            #expect(decoder.errorCode(file(width: width, height: height, [empty]), options: options) == .corrupt)

            let image = try decoder.decode(file(width: width, height: height, [empty, whole]), options: options)

            #expect(image.isPartial)
            #expect(image.pixels.rgba(0, 0) == clear)
            #expect(image.frames?.frameCount == 2)
            #expect(try image.frames?.frame(at: 1).rgba(width - 1, height - 1) == [4, 5, 6, 255])
        }
    }

    @Test func `a still image that fills the canvas is held once`() throws {
        let size = PixelSize(width: 40, height: 30)
        let buffer = try #require(PixelBuffer.byteCount(size: size, format: .rgba8))
        func bytes(_ image: [UInt8]) throws -> Int {
            try decoder.decodingByteCount(file(width: 40, height: 30, [image]), options: DecodingOptions())
        }
        let whole = GIFWriter.image(width: 40, height: 30, indices: Array(repeating: 1, count: 1_200))
        let shifted = GIFWriter.image(left: 1, width: 40, height: 30, indices: Array(repeating: 1, count: 1_200))

        #expect(try bytes(whole) == buffer)
        #expect(try bytes(shifted) == 2 * buffer)
    }

    @Test(arguments: [
        // Without a palette and the size of codes; without codes; with a clear code and an end code only.
        "R0lGODlhAQABAAAAACwAAAAAAQABAAA=", "R0lGODlhAQABAAD/ACwAAAAAAQABAAACADs=",
        "R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACASwAOw==",
    ])
    func `a placeholder without pixels is transparent`(text: String) throws {
        let data = try #require(Data(base64Encoded: text))

        let image = try decoder.decode(data, options: strict)

        #expect(image.pixels.tightBytes == clear)
        #expect(image.pixels.alphaMode == .straight)
        #expect(image.damage?.kind == .harmless)
        try DecoderChecks(decoder).checkRows(data)
        try DecoderChecks(decoder).checkPieces(data)
    }

    @Test func `one pixel without data on a larger screen is no placeholder, unless other images follow`() throws {
        let empty = GIFWriter.image(width: 1, height: 1, indices: [])
        for tolerance in DamageTolerance.allCases {
            let options = DecodingOptions(tolerance: tolerance)
            for data in [file(width: 9, height: 9, [empty]), file(width: 9, height: 9, [empty], trailer: false)] {
                #expect(decoder.errorCode(data, options: options) == .corrupt)
            }
            let image = try decoder.decode(file(width: 9, height: 9, [empty, other]), options: options)
            #expect(image.damage?.kind == .harmless)
            #expect(image.frames?.frameCount == 2)
        }
        try DecoderChecks(decoder).checkPieces(file(width: 9, height: 9, [empty, other]))
    }

    @Test func `a frame without a palette is transparent`() throws {
        let data = GIFWriter.file(width: 1, height: 1, palette: nil, [pixel])

        let image = try decoder.decode(data, options: DecodingOptions())

        #expect(image.pixels.tightBytes == clear)
        #expect(image.damage?.kind == .wrongPixels)
        #expect(decoder.errorCode(data, options: strict) == .corrupt)
    }

    /// A file of 16 × 16 pixels whose codes, of one byte each, are changed.
    private func pattern(_ change: (inout [UInt8]) -> Void) -> Data {
        var image = GIFWriter.image(
            width: 16, height: 16, indices: (0..<256).map { UInt8($0 % 7 == 0 ? 1 : 0) })
        // The codes follow after the descriptor, the size of codes and the count of the first sub-block.
        var codes = Array(image[12..<image.count])
        change(&codes)
        image.replaceSubrange(12..., with: codes)
        return file(width: 16, height: 16, [image])
    }

    @Test func `an invalid code gives wrong pixels`() throws {
        let whole = try decoder.decode(pattern { _ in }, options: strict)
        let data = pattern { $0[40] = 0xFF }

        let image = try decoder.decode(data, options: DecodingOptions())

        #expect(whole.damage == nil)
        #expect(image.damage?.kind == .wrongPixels)
        #expect(image.pixels.rgba(9, 0) == whole.pixels.rgba(9, 0))
        #expect(image.pixels != whole.pixels)
        #expect(image.pixels.alphaMode == .opaque)
        #expect(decoder.errorCode(data, options: strict) == .corrupt)
        try DecoderChecks(decoder).checkRows(data)
        try DecoderChecks(decoder).checkPieces(data)
    }

    @Test func `an end code before the end of the data is a wrong code`() throws {
        let image = try decoder.decode(pattern { $0[40] = 0x81 }, options: DecodingOptions())

        #expect(image.damage?.kind == .wrongPixels)
        #expect(image.pixels.alphaMode == .opaque)
    }

    @Test func `missing rows are missing pixels, unless the data is complete and few are missing`() throws {
        func data(_ count: Int) -> Data {
            file(
                width: 4, height: 16,
                [GIFWriter.image(width: 4, height: 16, indices: Array(repeating: 1, count: count))])
        }
        let few = try decoder.decode(data(4 * 15 + 1), options: DecodingOptions())
        let half = try decoder.decode(data(4 * 8), options: DecodingOptions(tolerance: .missingPixels))

        #expect(few.damage?.kind == .wrongPixels)
        #expect(few.pixels.rgba(0, 15) == [4, 5, 6, 255])
        #expect(half.damage?.kind == .missingPixels)
        #expect(half.pixels.rgba(0, 7) == [4, 5, 6, 255])
        #expect(half.pixels.rgba(0, 8) == clear)
        #expect(decoder.errorCode(data(4 * 8)) == .corrupt)
    }
}
