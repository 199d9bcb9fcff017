import TestSupport
import AlcedoCore
import AlcedoPNG
import AlcedoTesting
import Foundation
import Testing

@Suite struct PNGMetadataTests {
    private let decoder = PNGDecoder()

    private func orientation(_ data: Data, limits: DecodingLimits = DecodingLimits()) throws -> ImageOrientation {
        try decoder.inspect(data, limits: limits).orientation
    }

    @Test(arguments: [("exif.png", ImageOrientation.right), ("xmp.png", .down)])
    func `an orientation is reported when it is not applied`(name: String, expected: ImageOrientation) throws {
        let image = try decoder.decode(fixture(name), options: DecodingOptions(appliesOrientation: false))

        #expect(image.orientation == expected)
        #expect(try orientation(fixture(name)) == expected)
        #expect(image.pixels.tightBytes == Samples.rows(Samples.rgba))
    }

    @Test func `an orientation is applied once`() throws {
        let right = try decoder.decode(fixture("exif.png"), options: DecodingOptions())
        let down = try decoder.decode(fixture("xmp.png"), options: DecodingOptions())

        #expect(right.orientation == .up)
        #expect(right.size == Samples.size.transposed)
        // The first stored column, from the bottom up, is the first row, and the last one is the last.
        #expect(right.pixels.rgba(0, 0) == Samples.rgba(0, 8).map { UInt8($0) })
        #expect(right.pixels.rgba(8, 0) == Samples.rgba(0, 0).map { UInt8($0) })
        #expect(right.pixels.rgba(0, 12) == Samples.rgba(12, 8).map { UInt8($0) })
        #expect(down.orientation == .up)
        #expect(down.pixels.tightBytes == Samples.rows { Samples.rgba(12 - $0, 8 - $1) })
    }

    /// Rows are padded: a rotated row of pixels uses 64 times its own bytes.
    @Test(arguments: [false, true])
    func `a row that is rotated upright counts toward the limits, too`(isLate: Bool) throws {
        let pixels = try #require(
            PixelBuffer(size: PixelSize(width: 100_000, height: 1), format: .gray8, alphaMode: .opaque) { _, _ in })
        let line = try PNGEncoder().encode(DecodedImage(pixels: pixels))
        let exif = PNGWriter.chunk("eXIf", PNGWriter.exif(orientation: 6))
        let file = isLate ? line.dropLast(12) + exif + line.suffix(12) : PNGWriter.inserting(exif, into: line)
        var options = DecodingOptions(
            limits: DecodingLimits(maximumByteCount: 64 * 100_000 - 1), pixelFormat: .gray8)

        let error = #expect(throws: ImageDecodingError.self) { try decoder.decode(file, options: options) }
        #expect(error?.code == .exceedsLimit)
        let pieces = decoder.makeIncrementalDecoder(options: options)
        let late = #expect(throws: ImageDecodingError.self) {
            try pieces.append(file)
            _ = try pieces.finish()
        }
        #expect(late?.code == .exceedsLimit)

        options.appliesOrientation = false
        #expect(try decoder.decode(file, options: options).size == PixelSize(width: 100_000, height: 1))
        options.appliesOrientation = true
        options.limits.maximumByteCount += 1
        #expect(try decoder.decode(file, options: options).size == PixelSize(width: 1, height: 100_000))
        #expect(try decoder.decodingByteCount(file, options: options) >= 65 * 100_000)
    }

    @Test(arguments: 0...9) func `all values of the orientation tag are read`(value: UInt8) throws {
        let exif = PNGWriter.chunk("eXIf", PNGWriter.exif(orientation: value))
        let attribute = PNGWriter.xmp("<rdf:Description tiff:Orientation=\"\(value)\" x='8'/>")
        let element = PNGWriter.xmp("<tiff:Orientation>\(value)</tiff:Orientation>")
        let expected = ImageOrientation(rawValue: Int(value)) ?? .up

        for chunk in [exif, attribute, element] {
            #expect(try orientation(PNGWriter.inserting(chunk, into: fixture("rgb.png"))) == expected)
        }
    }

    @Test func `EXIF may have the prefix that JPEG requires`() throws {
        let exif = PNGWriter.exif(orientation: 6)
        let file = PNGWriter.inserting(
            PNGWriter.chunk("eXIf", Array("Exif\0\0".utf8) + exif), into: try fixture("rgb.png"))

        #expect(try orientation(file) == .right)
        #expect(try decoder.inspect(file, limits: DecodingLimits()).metadata.exif == Data(exif))
    }

    @Test func `EXIF takes precedence over XMP`() throws {
        let both = PNGWriter.inserting(
            PNGWriter.chunk("eXIf", PNGWriter.exif(orientation: 1)), into: try fixture("xmp.png"))

        #expect(try orientation(both) == .up)
    }

    @Test(arguments: [
        "", "tiff:Orientation", "tiff:Orientation=", "tiff:Orientation='3", "tiff:Orientation='36'",
        "tiff:Orientation=\"x\"", "tiff:Orientationx='3'", "tiff:Orientatio='3'",
    ])
    func `XMP without an orientation yields the orientation up`(text: String) throws {
        #expect(try orientation(PNGWriter.inserting(PNGWriter.xmp(text), into: fixture("rgb.png"))) == .up)
    }

    @Test func `other text is not parsed as XMP`() throws {
        let comment = PNGWriter.chunk("iTXt", Array("Comment\0\0\0\0\0tiff:Orientation='3'".utf8))
        let short = PNGWriter.chunk("iTXt", Array("XML:com.adobe".utf8))

        for chunk in [comment, short] {
            #expect(try orientation(PNGWriter.inserting(chunk, into: fixture("rgb.png"))) == .up)
        }
    }

    @Test(arguments: [[], [1], Array("MM\0*".utf8), Array("II*\0\u{FF}\u{FF}".utf8), [UInt8](repeating: 0, count: 40)])
    func `damaged EXIF yields the orientation up`(content: [UInt8]) throws {
        let data = PNGWriter.inserting(PNGWriter.chunk("eXIf", content), into: try fixture("rgb.png"))

        #expect(try orientation(data) == .up)
        #expect(errorCode(data) == nil)
    }

    @Test func `EXIF with a wrong checksum is ignored`() throws {
        var chunk = PNGWriter.chunk("eXIf", PNGWriter.exif(orientation: 6))
        chunk[chunk.count - 1] ^= 1

        #expect(try orientation(PNGWriter.inserting(chunk, into: fixture("rgb.png"))) == .up)
    }

    @Test func `a color profile is returned byte for byte`() throws {
        let image = try decoder.decode(fixture("profile.png"), options: DecodingOptions())

        #expect(image.colorProfile == (try fixture("profile.icc")))
        #expect(image.pixels.tightBytes == Samples.rows(Samples.rgb))
    }

    @Test func `a damaged profile is ignored, and the properties say so`() throws {
        let damaged = PNGWriter.chunk("iCCP", Array("profile\0\0damaged".utf8))
        for (file, isIgnored) in [
            (PNGWriter.inserting(damaged, into: try fixture("rgb.png")), true), (try fixture("rgb.png"), false),
            (try fixture("profile.png"), false),
        ] {
            let metadata = try decoder.inspect(file, limits: DecodingLimits()).metadata

            #expect(metadata.hasIgnoredColorProfile == isIgnored)
            #expect(!isIgnored || metadata.colorProfile == nil)
        }
    }

    @Test func `metadata over the limit is omitted`() throws {
        let exif = try fixture("exif.png")
        func profile(limit: Int) throws -> Data? {
            let limits = DecodingLimits(maximumMetadataByteCount: limit)
            return try decoder.decode(fixture("profile.png"), options: DecodingOptions(limits: limits)).colorProfile
        }

        #expect(try profile(limit: 588)?.count == 588)
        #expect(try profile(limit: 587) == nil)
        #expect(try orientation(exif, limits: DecodingLimits(maximumMetadataByteCount: 90)) == .right)
        #expect(try orientation(exif, limits: DecodingLimits(maximumMetadataByteCount: 89)) == .up)
        #expect(try orientation(fixture("xmp.png"), limits: DecodingLimits(maximumMetadataByteCount: 371)) == .down)
        #expect(try orientation(fixture("xmp.png"), limits: DecodingLimits(maximumMetadataByteCount: 370)) == .up)
        #expect(try orientation(exif, limits: DecodingLimits(maximumMetadataByteCount: -1)) == .up)
    }

    @Test func `metadata without limits is complete`() throws {
        let limits = DecodingLimits(maximumMetadataByteCount: .max, maximumChunkByteCount: .max)
        for name in ["exif.png", "xmp.png", "profile.png"] {
            let data = try fixture(name)
            let limited = try decoder.inspect(data, limits: DecodingLimits())
            #expect(try decoder.inspect(data, limits: limits) == limited)
        }
    }

    @Test func `EXIF and XMP are found after the pixels`() throws {
        let file = try fixture("rgb.png")
        let exif =
            file.prefix(file.count - 12) + PNGWriter.chunk("eXIf", PNGWriter.exif(orientation: 6)) + PNGWriter.end
        let xmp = file.prefix(file.count - 12) + PNGWriter.xmp("<tiff:Orientation>8</tiff:Orientation>") + PNGWriter.end

        #expect(try orientation(Data(exif)) == .right)
        #expect(try orientation(Data(xmp)) == .left)
        #expect(try decoder.inspect(Data(exif), limits: DecodingLimits()).metadata.exif?.count == 26)
    }

    @Test func `metadata is returned byte for byte`() throws {
        let exif = try decoder.inspect(fixture("exif.png"), limits: DecodingLimits()).metadata.exif
        let xmp = try decoder.inspect(fixture("xmp.png"), limits: DecodingLimits()).metadata.xmp
        let profile = try decoder.inspect(fixture("profile.png"), limits: DecodingLimits()).metadata.colorProfile

        #expect(exif?.starts(with: Data("MM\0*".utf8)) == true)
        #expect(xmp?.starts(with: Data("<?xpacket".utf8)) == true)
        #expect(profile == (try fixture("profile.icc")))
    }

    @Test func `compressed XMP is decompressed within the limits`() throws {
        // zlib's "stored" blocks: the header, the last block, its length twice, the bytes, their Adler-32.
        func compressed(_ text: [UInt8]) -> [UInt8] {
            let (low, high) = (UInt8(text.count & 255), UInt8(text.count >> 8))
            let sums = text.reduce((1, 0)) { sums, byte in
                let first = (sums.0 + Int(byte)) % 65_521
                return (first, (sums.1 + first) % 65_521)
            }
            let adler = [sums.1 >> 8, sums.1 & 255, sums.0 >> 8, sums.0 & 255].map { UInt8($0) }
            return [0x78, 0x01, 1, low, high, ~low, ~high] + text + adler
        }
        let text = Array("<tiff:Orientation>3</tiff:Orientation>".utf8) + [UInt8](repeating: 32, count: 2_000)
        let chunk = PNGWriter.chunk("iTXt", Array("XML:com.adobe.xmp\0\u{1}\0\0\0".utf8) + compressed(text))
        let file = PNGWriter.inserting(chunk, into: try fixture("rgb.png"))

        let xmp = try decoder.inspect(file, limits: DecodingLimits()).metadata.xmp

        #expect(xmp.map { Array($0) } == text)
        #expect(try orientation(file) == .down)
        #expect(try orientation(file, limits: DecodingLimits(maximumMetadataByteCount: text.count - 1)) == .up)
        #expect(try orientation(file, limits: DecodingLimits(maximumChunkByteCount: text.count - 1)) == .up)
    }

    @Test func `EXIF in a text chunk of older programs is read`() throws {
        let exif = Array("Exif\0\0".utf8) + PNGWriter.exif(orientation: 5)
        let digits = exif.map { byte in String(UInt16(byte) + 256, radix: 16).dropFirst() }.joined()
        let text = "Raw profile type exif\0\nexif\n      \(exif.count)\n\(digits.prefix(40))\n\(digits.dropFirst(40))\n"
        let file = PNGWriter.inserting(PNGWriter.chunk("tEXt", Array(text.utf8)), into: try fixture("rgb.png"))

        #expect(try orientation(file) == .leftMirrored)
        #expect(try decoder.inspect(file, limits: DecodingLimits()).metadata.exif == Data(exif.dropFirst(6)))
    }

    @Test func `texts are read from every kind of text chunk, and written`() throws {
        let compressed: [UInt8] = [0x78, 1, 1, 3, 0, 0xFC, 0xFF] + Array("Ada".utf8) + [1, 0xEF, 1, 7]
        let text: [[UInt8]] = [
            PNGWriter.chunk("tEXt", Array("Copyright\0".utf8) + [0xA9, 0x20] + Array("2026".utf8)),
            PNGWriter.chunk("zTXt", Array("Author\0\0".utf8) + compressed),
            PNGWriter.chunk("iTXt", Array("Title\0\0\0de\0Titel\0Gr\u{FC}n".utf8)),
            PNGWriter.chunk("iTXt", Array("Source\0\u{1}\0\0\0".utf8) + compressed),
            PNGWriter.chunk("tEXt", Array("Title\0another".utf8)), PNGWriter.chunk("tEXt", Array("no end".utf8)),
            PNGWriter.chunk("tEXt", Array("\0no keyword".utf8)),
        ]
        let expected = ["Copyright": "\u{A9} 2026", "Author": "Ada", "Title": "Gr\u{FC}n", "Source": "Ada"]
        let file = PNGWriter.inserting(text.flatMap { $0 }, into: try fixture("rgb.png"))

        let metadata = try decoder.inspect(file, limits: DecodingLimits()).metadata
        #expect(metadata.texts == expected)
        let image = try decoder.decode(file, options: DecodingOptions())
        let copy = try PNGEncoder().embedding(metadata).encode(image)
        #expect(try decoder.inspect(copy, limits: DecodingLimits()).metadata.texts == expected)
        let short = DecodingLimits(maximumMetadataByteCount: 20)
        #expect(try decoder.inspect(file, limits: short).metadata.texts.values.reduce(0) { $0 + $1.utf8.count } <= 20)
    }

    @Test func `a compressed text that is broken is harmless damage`() throws {
        let intact: [UInt8] = [0x78, 1, 1, 3, 0, 0xFC, 0xFF] + Array("Ada".utf8) + [1, 0xEF, 1, 7]
        let names = [
            ("zTXt", "Author\0\0"), ("iTXt", "Author\0\u{1}\0\0\0"), ("iTXt", "XML:com.adobe.xmp\0\u{1}\0\0\0"),
            ("zTXt", "Raw profile type iptc\0\0"),
        ]
        for (name, start) in names {
            func file(_ stream: [UInt8]) throws -> Data {
                PNGWriter.inserting(PNGWriter.chunk(name, Array(start.utf8) + stream), into: try fixture("rgb.png"))
            }
            let wrongData = intact.prefix(9) + [0x21] + intact.dropFirst(10)
            for broken in [Array(intact.dropLast(5)), Array(intact.dropLast(1)), Array(wrongData), [0, 0], []] {
                let image = try decoder.decode(file(broken), options: DecodingOptions(tolerance: .harmless))
                #expect(image.damage?.kind == .harmless, "\(name): \(broken)")
                #expect(image.pixels.tightBytes == Samples.rows(Samples.rgb))
                try DecoderChecks(decoder).checkPieces(file(broken))
            }
            // A text that is no XML is damage of its own.
            guard !start.hasPrefix("XML") else { continue }
            #expect(try decoder.decode(file(intact), options: DecodingOptions()).damage == nil)
            let short = DecodingLimits(maximumMetadataByteCount: 2)
            #expect(try decoder.decode(file(intact), options: DecodingOptions(limits: short)).damage == nil)
        }
        let unknown = PNGWriter.chunk("zTXt", Array("Author\0\u{1}".utf8) + intact)
        let image = try decoder.decode(
            PNGWriter.inserting(unknown, into: fixture("rgb.png")), options: DecodingOptions())
        #expect(image.damage?.kind == .harmless)
    }

    @Test func `a text that grows beyond the limits in UTF-8 is left out`() throws {
        let text = PNGWriter.chunk("tEXt", Array("Author\0".utf8) + [UInt8](repeating: 0xE9, count: 60))
        let file = PNGWriter.inserting(text, into: try fixture("rgb.png"))

        for (limit, isRead) in [(119, false), (120, true)] {
            let limits = DecodingLimits(maximumMetadataByteCount: limit)
            #expect(try decoder.inspect(file, limits: limits).metadata.texts.isEmpty != isRead)
        }
    }

    @Test func `the number of texts is bounded`() throws {
        let text = (0..<1_000).flatMap { PNGWriter.chunk("tEXt", Array("Key\($0)\0value".utf8)) }
        let file = PNGWriter.inserting(text, into: try fixture("rgb.png"))

        #expect(try decoder.inspect(file, limits: DecodingLimits()).metadata.texts.count == 64)
    }

    @Test func `IPTC is written and read with its digest`() throws {
        let record = Data([0x1C, 2, 5, 0, 5]) + Data("Title".utf8)
        let image = DecodedImage(pixels: try decoder.decode(fixture("rgb.png"), options: DecodingOptions()).pixels)
        for digest in [nil, Data(0..<16)] {
            let metadata = ImageMetadata(iptc: record, iptcDigest: digest)

            let file = try ImageEncoder.png().embedding(metadata).encode(image)

            let found = try decoder.inspect(file, limits: DecodingLimits()).metadata
            #expect(found.iptc == record)
            #expect(found.iptcDigest == digest)
            #expect(PhotoProperties(found).title == "Title")
        }
    }
}
