import TestSupport
import AlcedoCore
import AlcedoJPEG
import AlcedoPNG
import AlcedoTesting
import Foundation
import Testing

@Suite struct PNGDamageTests {
    private static let names = [
        "gray1.png", "rgba.png", "rgb16-interlaced.png", "palette-alpha.png", "profile.png", "exif.png", "xmp.png",
    ]
    private let decoder = PNGDecoder()
    private let registry = CodecRegistry([.png, .jpeg])

    @Test(arguments: names, DecoderConformance.checks)
    func `the decoder passes each conformance check`(name: String, check: DecoderConformance.Check) async throws {
        let file = try fixture(name)
        try await check { [decoder] _ in (decoder, file) }
    }

    /// Inputs found by a fuzzer, for which the two readers of libpng once disagreed.
    @Test func `damage gives the same result at once, in pieces and by rows`() throws {
        let checks = DecoderChecks(decoder)
        let small = PNGWriter.header(width: 2, height: 2, colorType: 0)
        // Only the first byte of a short signature is wrong.
        let signature = Data("PN\0\0".utf8)
        // Pixel data that is wrong at its beginning and ends early.
        let pixels = PNGWriter.file([PNGWriter.header(width: 13, height: 9)]) + [0, 0, 0, 34]
        let zlib = pixels + Data("IDAT".utf8) + [0x80, 4, 1, 0]
        // A chunk with an invalid name and a missing end.
        let name = PNGWriter.file([small, Self.stored]) + [0, 0, 0, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82]
        // All rows and more, in an unterminated stream of pixel data.
        let openEnd = PNGWriter.file([small, Self.stored, PNGWriter.end])

        #expect([signature, zlib].map { errorCode($0) } == [.corrupt, .corrupt])
        for data in [signature, zlib, name] { try checks.checkFlippedBits(data, rounds: 100) }
        try checks.checkTruncation(name)
        try checks.checkRows(openEnd)
        try checks.checkPieces(openEnd)
    }

    /// Two rows of two gray pixels, and three bytes, in a stored block that is not the last of its stream.
    private static let stored = PNGWriter.chunk(
        "IDAT", [0x78, 1, 0, 9, 0, 0xF6, 0xFF, 0, 0x10, 0x20, 0, 0x30, 0x40, 1, 2, 3])

    /// Chunks have checksums of their own. From libpng 1.6.45 on most builds cannot be told to ignore the stream's.
    @Test(arguments: ["gray1.png", "rgba.png", "rgb16-interlaced.png", "palette-alpha.png"])
    func `a wrong checksum of the compressed pixels is ignored for any pieces`(name: String) throws {
        let data = try fixture(name)
        let nameRange = try #require(data.firstRange(of: Data("IDAT".utf8)))
        let start = nameRange.lowerBound - 4
        let length = data[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        var pixels = data[nameRange.upperBound...].prefix(length)
        for index in pixels.indices.suffix(4) { pixels[index] ^= 0xFF }
        let end = nameRange.upperBound + length + 4
        let damaged = data[..<start] + PNGWriter.chunk("IDAT", Array(pixels)) + data[end...]

        let image = try decoder.decode(damaged, options: DecodingOptions(tolerance: .harmless))
        #expect(try image.pixels == decoder.decode(data, options: DecodingOptions()).pixels)
        #expect(image.damage?.kind == .harmless)
        let checks = DecoderChecks(decoder)
        try checks.checkPieces(damaged)
        try checks.checkRows(damaged)
        try checks.checkFlippedBits(damaged, rounds: 200)
    }

    @Test(arguments: ["gray1.png", "rgba.png", "rgb16-interlaced.png", "palette-alpha.png"])
    func `a flipped bit of pixel data misses rows, or gives all rows and is reported`(name: String) throws {
        let data = try fixture(name)
        let whole = try decoder.decode(data, options: DecodingOptions())
        let start = try #require(data.firstRange(of: Data("IDAT".utf8))).upperBound
        var kinds: Set<DamageTolerance> = []

        for index in start..<data.count - 12 {
            var damaged = data
            damaged[index] ^= 0x10
            guard let image = try? decoder.decode(damaged, options: DecodingOptions(allowsPartial: true)) else {
                continue
            }
            let kind = try #require(image.damage?.kind, "byte \(index)")
            kinds.insert(kind)
            #expect(kind != .harmless || image.pixels == whole.pixels, "byte \(index)")
            let code = errorCode(damaged)
            #expect(code == (kind == .missingPixels ? .corrupt : nil), "byte \(index)")
        }
        #expect(kinds.isSuperset(of: [.wrongPixels, .missingPixels]))
    }

    @Test(arguments: ["gray1.png", "rgba.png", "rgb16.png", "rgb16-interlaced.png", "palette-alpha.png"])
    func `what follows the pixels changes none of them`(name: String) throws {
        let data = try fixture(name)
        let whole = try decoder.decode(data, options: DecodingOptions())
        let file = data.dropLast(12)
        var text = PNGWriter.chunk("tEXt", Array("a\0b".utf8))
        text[text.count - 1] ^= 1
        var last = PNGWriter.end
        last[last.count - 1] ^= 1
        let ends: [[UInt8]] = [
            [], [0], Array(PNGWriter.end.dropLast()), last, text + PNGWriter.end, PNGWriter.chunk("ABCD", [1]),
            Array(repeating: 0, count: 70_000), PNGWriter.chunk("tEXt", [65], claimed: 5_000),
        ]

        for (index, end) in ends.enumerated() {
            let damaged = file + end
            let image = try decoder.decode(damaged, options: DecodingOptions(tolerance: .harmless))
            #expect(image.pixels == whole.pixels, "end \(index)")
            #expect(image.damage?.kind == .harmless, "end \(index)")
            try DecoderChecks(decoder).checkPieces(damaged)
            try DecoderChecks(decoder).checkRows(damaged)
        }
        #expect(whole.damage == nil)
    }

    @Test func `a wrong checksum of the header or the palette is an error, and of transparency is reported`() throws {
        func damaging(_ name: String, in file: String) throws -> Data {
            var data = try fixture(file)
            let start = try #require(data.firstRange(of: Data(name.utf8))).lowerBound - 4
            let length = data[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            data[start + 8 + length] ^= 1
            return data
        }
        #expect(errorCode(try damaging("IHDR", in: "palette-alpha.png")) == .corrupt)
        #expect(errorCode(try damaging("PLTE", in: "palette-alpha.png")) == .corrupt)
        for (name, file, kind) in [
            ("tRNS", "palette-alpha.png", DamageTolerance.wrongPixels), ("IDAT", "rgb.png", .harmless),
            ("iCCP", "profile.png", .harmless), ("eXIf", "exif.png", .harmless),
        ] {
            let data = try damaging(name, in: file)
            #expect(try decoder.decode(data, options: DecodingOptions()).damage?.kind == kind, "\(name)")
            try DecoderChecks(decoder).checkPieces(data)
            try DecoderChecks(decoder).checkRows(data)
        }
    }

    /// With valid checksums.
    @Test(
        arguments: [
            ("tRNS", [0, 1]), ("gAMA", [0, 0, 1]), ("bKGD", [0, 0]), ("sBIT", [9, 9, 9]),
            ("pHYs", Array(repeating: 0, count: 8)),
            ("cHRM", Array(repeating: 0, count: 31)), ("tEXt", Array("no keyword".utf8)),
            ("iTXt", Array("Title\0\0\0de".utf8)),
        ] as [(String, [UInt8])])
    func `an invalid chunk beside the image is reported, and a valid one is not`(
        name: String, content: [UInt8]
    ) throws {
        let file = try fixture("rgb.png")
        let invalid = PNGWriter.inserting(PNGWriter.chunk(name, content), into: file)
        let whole = try decoder.decode(file, options: DecodingOptions())

        let image = try decoder.decode(invalid, options: DecodingOptions(tolerance: .harmless))

        #expect(whole.damage == nil)
        #expect(image.pixels == whole.pixels)
        #expect(image.damage?.kind == .harmless)
        try DecoderChecks(decoder).checkPieces(invalid)
        try DecoderChecks(decoder).checkRows(invalid)
        let valid: [[UInt8]] = [
            PNGWriter.chunk("gAMA", [0, 0, 0xB1, 0x8F]), PNGWriter.chunk("sBIT", [8, 8, 8]),
            PNGWriter.chunk("bKGD", [0, 1, 0, 2, 0, 3]), PNGWriter.chunk("tEXt", Array("Title\0text".utf8)),
            PNGWriter.chunk("iTXt", Array("Title\0\0\0de\0Titel\0Text".utf8)),
        ]
        for chunk in valid {
            #expect(
                try decoder.decode(PNGWriter.inserting(chunk, into: file), options: DecodingOptions()).damage == nil)
        }
    }

    /// The compressed stream has a checksum of its own, which proves that the pixels are right.
    @Test(arguments: ["gray1.png", "rgba.png", "rgb16-interlaced.png", "palette-alpha.png"])
    func `pixels are wrong only if the checksums of the chunk and of the stream are wrong`(name: String) throws {
        let data = try fixture(name)
        let whole = try decoder.decode(data, options: DecodingOptions())
        let start = try #require(data.firstRange(of: Data("IDAT".utf8))).lowerBound - 4
        let end = start + 8 + data[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        var file = data
        file[end] ^= 1

        let image = try decoder.decode(file, options: DecodingOptions(tolerance: .harmless))
        #expect(image.pixels == whole.pixels)
        #expect(image.damage?.kind == .harmless)
        try DecoderChecks(decoder).checkPieces(file)
        try DecoderChecks(decoder).checkRows(file)

        file[end - 1] ^= 1
        #expect(try decoder.decode(file, options: DecodingOptions()).damage?.kind == .wrongPixels)
        #expect(decoder.errorCode(file, options: DecodingOptions(tolerance: .harmless)) == .corrupt)
        try DecoderChecks(decoder).checkPieces(file)
    }

    @Test(.timeLimit(.minutes(10)), arguments: [(UInt32(50_000), UInt32(50_000)), (0x7FFF_FFFF, 0x7FFF_FFFF)])
    func `a huge size is refused before anything is allocated`(width: UInt32, height: UInt32) throws {
        let pixels = PNGWriter.chunk("IDAT", [])
        let data = PNGWriter.file([PNGWriter.header(width: width, height: height), pixels, PNGWriter.end])

        #expect(errorCode(data) == .exceedsLimit)
        #expect(try decoder.inspect(data, limits: DecodingLimits()).size.width == Int(width))
    }

    @Test func `limits apply to the decoded image`() throws {
        let file = try fixture("gray1.png")

        #expect(errorCode(file, limits: DecodingLimits(maximumPixelCount: 13 * 9 - 1)) == .exceedsLimit)
        #expect(errorCode(file, limits: DecodingLimits(maximumByteCount: 64 * 9 - 1)) == .exceedsLimit)
        #expect(errorCode(file, limits: DecodingLimits(maximumPixelCount: 13 * 9, maximumByteCount: 64 * 9)) == nil)
    }

    @Test(.spawnsProcesses, .timeLimit(.minutes(10))) func `a chunk that declares gigabytes allocates nothing`() async {
        // In its own process, because other tests use memory too.
        await #expect(processExitsWith: .success) {
            for name in ["sPLT", "sCAL", "pCAL", "eXIf", "iCCP", "zTXt", "iTXt", "juNk"] {
                let claim = PNGWriter.chunk(name, Array("abc".utf8), claimed: 0x7FFF_FFF0)
                let data = PNGWriter.inserting(claim, into: try fixture("rgb.png"))
                let before = try peakMemory()
                #expect(errorCode(data) == .truncated, "\(name)")
                #expect(try peakMemory() - before < 100 << 20, "\(name)")
            }
        }
    }

    @Test func `compressed text is not decompressed`() throws {
        let bomb = PNGWriter.chunk("zTXt", Array("Comment\0\0".utf8) + [UInt8](repeating: 0, count: 1_000))

        #expect(errorCode(PNGWriter.inserting(bomb, into: try fixture("rgb.png"))) == nil)
    }

    @Test func `an inconsistent file throws corrupt`() throws {
        let file = try fixture("rgb.png")
        var wrongChecksum = file
        wrongChecksum[8 + 8 + 13] ^= 1
        let header = PNGWriter.header(width: 13, height: 9)
        let pixels = PNGWriter.chunk("IDAT", [])

        #expect(errorCode(wrongChecksum) == .corrupt)
        #expect(errorCode(PNGWriter.file([PNGWriter.header(width: 0, height: 9), pixels])) == .corrupt)
        #expect(errorCode(PNGWriter.file([PNGWriter.header(width: 1 << 31, height: 1), pixels])) == .corrupt)
        #expect(errorCode(PNGWriter.file([PNGWriter.header(width: 1, height: 1, depth: 3), pixels])) == .corrupt)
        #expect(errorCode(PNGWriter.file([PNGWriter.header(width: 1, height: 1, colorType: 5), pixels])) == .corrupt)
        #expect(errorCode(PNGWriter.file([pixels, header])) == .corrupt)
        #expect(errorCode(PNGWriter.file([header, PNGWriter.end])) == .corrupt)
        #expect(errorCode(PNGWriter.inserting(PNGWriter.chunk("CRIT", [1]), into: file)) == .corrupt)
        #expect(errorCode(PNGWriter.file([header, pixels, PNGWriter.end])) == .corrupt)
        #expect(errorCode(Data("no picture at all".utf8)) == .corrupt)
    }

    @Test func `pixel data that ends early in a complete file is an error`() throws {
        let file = try fixture("rgb.png")
        let compressed = Array(file[8 + 25 + 8..<file.count - 12 - 4])

        for count in 0..<compressed.count {
            let short = PNGWriter.chunk("IDAT", Array(compressed.prefix(count)))
            let data = PNGWriter.file([PNGWriter.header(width: 13, height: 9), short, PNGWriter.end])
            // The checksum of the stream has four bytes.
            let isComplete = try? decoder.decode(data, options: DecodingOptions()).damage?.kind == .harmless
            #expect(
                count >= compressed.count - 6 && isComplete == true || errorCode(data) == .corrupt, "\(count) bytes")
        }
    }

    @Test func `bytes after the file are ignored`() throws {
        #expect(errorCode(try fixture("rgba.png") + Data([1, 2, 3])) == nil)
    }

    @Test func `data that is not an image has a readable error`() throws {
        func error(_ data: Data) -> ImageDecodingError? {
            do throws(ImageDecodingError) {
                _ = try registry.decode(data)
                return nil
            } catch { return error }
        }
        var random = SeededGenerator(seed: 31)
        let unrecognized = "cannot decode the data: no registered codec recognizes it (registered: png, jpeg)"
        let noise = Data((0..<500).map { _ in UInt8.random(in: 0...0x7F, using: &random) })

        #expect(
            error(Data("<!DOCTYPE html><title>Not found</title>".utf8))
                == ImageDecodingError(
                    .unknownFormat, "\(unrecognized); the data is text, possibly an HTML page"))
        #expect(
            error(noise)
                == ImageDecodingError(
                    .unknownFormat, "\(unrecognized); add its codec to the CodecRegistry"))
        #expect(error(Data()) == ImageDecodingError(.empty, "cannot decode the data: it is empty"))
        #expect(error(Data(PNGWriter.signature)) == ImageDecodingError(.truncated, "PNG: the file is truncated"))
        #expect(registry.entry(for: Data(PNGWriter.signature.prefix(7))) == nil)
    }
}
