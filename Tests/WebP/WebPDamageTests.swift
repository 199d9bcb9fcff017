import TestSupport
import AlcedoCore
import AlcedoTesting
import AlcedoWebP
import Foundation
import Testing

@Suite struct WebPDamageTests {
    private static let names = [
        "lossless.webp", "lossless-alpha.webp", "lossy.webp", "lossy-alpha.webp", "animated.webp", "offset.webp",
        "metadata.webp",
    ]
    private let decoder = WebPDecoder()

    @Test(arguments: names, DecoderConformance.checks)
    func `the decoder passes each conformance check`(name: String, check: DecoderConformance.Check) async throws {
        let file = try fixture(name)
        try await check { [decoder] _ in (decoder, file) }
    }

    @Test(arguments: ["lossless.webp", "lossless-alpha.webp", "lossy.webp"])
    func `pixel data that ends early in a complete file is an error`(name: String) throws {
        let image = RIFFWriter.image(of: try fixture(name))
        let id = String(decoding: image[0..<4], as: UTF8.self)

        // The last bytes of a bitstream may be padding.
        for count in 0..<image.count - 8 - 8 {
            let file = RIFFWriter.file([RIFFWriter.chunk(id, Array(image[8..<8 + count]))])
            #expect(errorCode(file) != nil, "\(count) bytes")
        }
    }

    @Test func `a size over the limit is refused before pixels are read`() throws {
        // The header of a lossless image of 16,384 by 16,384 pixels, and no pixels.
        let huge = RIFFWriter.file([RIFFWriter.chunk("VP8L", [0x2F, 0xFF, 0xFF, 0xFF, 0x0F] + [0, 0, 0, 0, 0])])
        let file = try fixture("lossless.webp")

        #expect(errorCode(huge) == .exceedsLimit)
        #expect(errorCode(file, limits: DecodingLimits(maximumPixelCount: 14 * 18 - 1)) == .exceedsLimit)
        #expect(errorCode(file, limits: DecodingLimits(maximumByteCount: 64 * 18 - 1)) == .exceedsLimit)
        #expect(errorCode(file, limits: DecodingLimits(maximumPixelCount: 14 * 18, maximumByteCount: 64 * 18)) == nil)
    }

    @Test func `a huge canvas around a small frame is refused`() throws {
        let header = RIFFWriter.animation(width: 1 << 24, height: 1 << 24)
        let frame = RIFFWriter.frame(width: 6, height: 4, [RIFFWriter.image(of: try fixture("part.webp"))])

        #expect(errorCode(RIFFWriter.file([header, frame])) == .exceedsLimit)
    }

    @Test func `an inconsistent container throws corrupt`() throws {
        let image = RIFFWriter.image(of: try fixture("lossless.webp"))
        let header = RIFFWriter.extendedHeader(flags: 0, width: 14, height: 18)
        let wrongSize = RIFFWriter.extendedHeader(flags: 0, width: 14, height: 19)
        let endless = Array("ICCP".utf8) + [0xFF, 0xFF, 0xFF, 0xFF]

        #expect(errorCode(RIFFWriter.file([header, image])) == nil)
        #expect(errorCode(RIFFWriter.file([])) == .corrupt)
        #expect(errorCode(RIFFWriter.file([header])) == .corrupt)
        #expect(errorCode(RIFFWriter.file([wrongSize, image])) == .corrupt)
        #expect(errorCode(RIFFWriter.file([header, endless, image])) == .corrupt)
        #expect(errorCode(RIFFWriter.file([RIFFWriter.chunk("VP8X", [0, 0]), image])) == .corrupt)
        #expect(errorCode(RIFFWriter.file([RIFFWriter.chunk("EXIF", []), image])) == .corrupt)
        #expect(errorCode(Data("no picture at all".utf8)) == .corrupt)
    }

    @Test func `a bitstream of another kind is an unsupported variant`() {
        #expect(errorCode(RIFFWriter.file([RIFFWriter.chunk("VP8Z", [1, 2, 3, 4])])) == .unsupportedVariant)
    }

    @Test func `a metadata chunk over its limit is omitted`() throws {
        let image = RIFFWriter.image(of: try fixture("lossless.webp"))
        let chunks = ["ICCP", "EXIF", "XMP "].map { RIFFWriter.chunk($0, [UInt8](repeating: 1, count: 100)) }
        let header = RIFFWriter.extendedHeader(flags: 0x2C, width: 14, height: 18)
        let file = RIFFWriter.file([header, chunks[0], image, chunks[1], chunks[2]])
        func metadata(_ limits: DecodingLimits) throws -> [Int?] {
            let metadata = try decoder.inspect(file, limits: limits).metadata
            return [metadata.colorProfile?.count, metadata.exif?.count, metadata.xmp?.count]
        }

        #expect(try metadata(DecodingLimits()) == [100, 100, 100])
        #expect(try metadata(DecodingLimits(maximumMetadataByteCount: 250)) == [100, 100, nil])
        #expect(try metadata(DecodingLimits(maximumChunkByteCount: 99)) == [nil, nil, nil])
    }

    @Test func `a wrong size of the file is harmless`() throws {
        let image = RIFFWriter.image(of: try fixture("lossy.webp"))
        let whole = try decoder.decode(fixture("lossy.webp"), options: DecodingOptions())
        for extra in [-image.count - 1, -image.count - 4, -9, -2, 2, 1_000] {
            let file = RIFFWriter.file([image], announcing: extra)
            let options = DecodingOptions(tolerance: .harmless)

            let decoded = try decoder.decode(file, options: options)

            #expect(decoded.pixels == whole.pixels, "\(extra)")
            #expect(extra == -2 || decoded.damage?.kind == .harmless, "\(extra)")
            try DecoderChecks(decoder).checkRows(file)
            try DecoderChecks(decoder).checkPieces(file)
        }
    }

    @Test func `broken metadata after the image is harmless`() throws {
        let image = RIFFWriter.image(of: try fixture("lossless.webp"))
        let header = RIFFWriter.extendedHeader(flags: 0x2C, width: 14, height: 18)
        let junk = RIFFWriter.chunk("EXIF", [9, 9, 9]) + RIFFWriter.chunk("XMP ", [0xFF])
        let endless = Array("EXIF".utf8) + [0xFF, 0xFF, 0xFF, 0xFF, 1, 2]
        let profile = RIFFWriter.chunk("ICCP", [1, 2, 3])
        let whole = try decoder.decode(fixture("lossless.webp"), options: DecodingOptions())

        for chunks in [[header, image, endless], [header, profile, image, junk], [header, image, Array("EX".utf8)]] {
            let decoded = try decoder.decode(
                RIFFWriter.file(chunks), options: DecodingOptions(tolerance: .harmless))

            #expect(decoded.pixels == whole.pixels)
            #expect(decoded.damage?.kind == (chunks.last == Array("EX".utf8) ? nil : .harmless))
        }
        // EXIF is declared, but missing.
        let cut = Data(RIFFWriter.file([header, image, junk]).dropLast(20))
        #expect(try decoder.decode(cut, options: DecodingOptions()).damage?.kind == .harmless)
    }

    @Test func `a broken later frame ends the animation before it`() throws {
        let part = RIFFWriter.image(of: try fixture("part.webp"))
        let header = RIFFWriter.animation(width: 6, height: 4)
        let frame = RIFFWriter.frame(width: 6, height: 4, [part])
        let broken = [
            RIFFWriter.frame(width: 6, height: 4, []), RIFFWriter.frame(left: 2, width: 6, height: 4, [part]),
            RIFFWriter.frame(width: 4, height: 4, [part]), RIFFWriter.chunk("ANMF", [1, 2, 3]),
            Array(frame.dropLast(part.count / 2)), RIFFWriter.frame(width: 6, height: 4, [Array(part.prefix(10))]),
        ]

        for last in broken {
            let file = RIFFWriter.file([header, frame, frame, last])
            let image = try decoder.decode(file, options: DecodingOptions(tolerance: .harmless))

            #expect(image.frames?.frameCount == 2)
            #expect(image.damage?.kind == .harmless)
            #expect(try decoder.inspect(file, limits: DecodingLimits()).frameCount == 2)
        }
    }

    @Test func `a damaged alpha chunk makes the image opaque`() throws {
        let file = try fixture("lossy-alpha.webp")
        let alpha = try #require(file.range(of: Data("ALPH".utf8)))
        var damaged = file
        // An unknown compression of alpha.
        damaged[alpha.upperBound + 4] = 0x03
        let whole = try decoder.decode(file, options: DecodingOptions())

        let image = try decoder.decode(damaged, options: DecodingOptions())

        #expect(image.damage?.kind == .wrongPixels)
        #expect(image.pixels.alphaMode == .opaque)
        #expect(image.pixels.rgba(3, 3)[..<3] == whole.pixels.rgba(3, 3)[..<3])
        #expect(decoder.errorCode(damaged, options: DecodingOptions(tolerance: .harmless)) != nil)
        try DecoderChecks(decoder).checkRows(damaged)
        try DecoderChecks(decoder).checkPieces(damaged)
    }

    @Test func `a damaged alpha chunk makes a later frame opaque, or ends the animation`() throws {
        let file = try fixture("lossy-alpha.webp")
        let alpha = try #require(file.range(of: Data("ALPH".utf8)))
        let image = Array(file[alpha.lowerBound...])
        var damaged = image
        // An unknown compression of alpha.
        damaged[8] = 0x03
        let frames = [image, damaged, image].map { RIFFWriter.frame(width: 14, height: 18, [$0]) }
        let data = RIFFWriter.file([RIFFWriter.animation(width: 14, height: 18)] + frames)

        let shown = try #require(decoder.decode(data, options: DecodingOptions()).frames)
        let strict = try #require(decoder.decode(data, options: DecodingOptions(tolerance: .harmless)).frames)

        #expect(try shown.frame(at: 1).rgba(0, 0)[3] == 255)
        #expect(shown.damage?.kind == .wrongPixels)
        #expect(shown.frameCount == 3)
        #expect(throws: ImageDecodingError.self) { try strict.frame(at: 1) }
        #expect(strict.damage?.kind == .harmless)
        #expect(strict.frameCount == 1)
    }

    @Test func `bytes after the file are ignored`() throws {
        #expect(errorCode(try fixture("lossless.webp") + Data([1, 2, 3])) == nil)
    }
}
