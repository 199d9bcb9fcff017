import TestSupport
import AlcedoCore
import AlcedoPNG
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
        // The first stored column, from the bottom up, is the first row; the last one is the last.
        #expect(right.pixels.rgba(0, 0) == Samples.rgba(0, 8).map { UInt8($0) })
        #expect(right.pixels.rgba(8, 0) == Samples.rgba(0, 0).map { UInt8($0) })
        #expect(right.pixels.rgba(0, 12) == Samples.rgba(12, 8).map { UInt8($0) })
        #expect(down.orientation == .up)
        #expect(down.pixels.tightBytes == Samples.rows { Samples.rgba(12 - $0, 8 - $1) })
    }

    @Test(arguments: 0...9) func `all values of the tag are read`(value: UInt8) throws {
        let exif = PNGWriter.chunk("eXIf", PNGWriter.exif(orientation: value))
        let attribute = PNGWriter.xmp("<rdf:Description tiff:Orientation=\"\(value)\" x='8'/>")
        let element = PNGWriter.xmp("<tiff:Orientation>\(value)</tiff:Orientation>")
        let expected = ImageOrientation(rawValue: Int(value)) ?? .up

        for chunk in [exif, attribute, element] {
            #expect(try orientation(PNGWriter.inserting(chunk, into: fixture("rgb.png"))) == expected)
        }
    }

    @Test func `EXIF is preferred to XMP`() throws {
        let both = PNGWriter.inserting(
            PNGWriter.chunk("eXIf", PNGWriter.exif(orientation: 1)), into: try fixture("xmp.png"))

        #expect(try orientation(both) == .up)
    }

    @Test(arguments: [
        "", "tiff:Orientation", "tiff:Orientation=", "tiff:Orientation='3", "tiff:Orientation='36'",
        "tiff:Orientation=\"x\"", "tiff:Orientationx='3'", "tiff:Orientatio='3'",
    ])
    func `XMP without an orientation means upright`(text: String) throws {
        #expect(try orientation(PNGWriter.inserting(PNGWriter.xmp(text), into: fixture("rgb.png"))) == .up)
    }

    @Test func `other text is not taken for XMP`() throws {
        let comment = PNGWriter.chunk("iTXt", Array("Comment\0\0\0\0\0tiff:Orientation='3'".utf8))
        let short = PNGWriter.chunk("iTXt", Array("XML:com.adobe".utf8))

        for chunk in [comment, short] {
            #expect(try orientation(PNGWriter.inserting(chunk, into: fixture("rgb.png"))) == .up)
        }
    }

    @Test(arguments: [[], [1], Array("MM\0*".utf8), Array("II*\0\u{FF}\u{FF}".utf8), [UInt8](repeating: 0, count: 40)])
    func `damaged EXIF means upright`(content: [UInt8]) throws {
        let data = PNGWriter.inserting(PNGWriter.chunk("eXIf", content), into: try fixture("rgb.png"))

        #expect(try orientation(data) == .up)
        #expect(errorCode(data) == nil)
    }

    @Test func `EXIF with a wrong checksum is not believed`() throws {
        var chunk = PNGWriter.chunk("eXIf", PNGWriter.exif(orientation: 6))
        chunk[chunk.count - 1] ^= 1

        #expect(try orientation(PNGWriter.inserting(chunk, into: fixture("rgb.png"))) == .up)
    }

    @Test func `a profile comes with the image, byte for byte`() throws {
        let image = try decoder.decode(fixture("profile.png"), options: DecodingOptions())

        #expect(image.colorProfile == (try fixture("profile.icc")))
        #expect(image.pixels.tightBytes == Samples.rows(Samples.rgb))
    }

    @Test func `metadata over the limit are left out`() throws {
        let exif = try fixture("exif.png")
        func profile(limit: Int) throws -> Data? {
            let limits = DecodingLimits(maximumMetadataByteCount: limit)
            return try decoder.decode(fixture("profile.png"), options: DecodingOptions(limits: limits)).colorProfile
        }

        #expect(try profile(limit: 588)?.count == 588)
        #expect(try profile(limit: 587) == nil)
        #expect(try orientation(exif, limits: DecodingLimits(maximumMetadataByteCount: 90)) == .right)
        #expect(try orientation(exif, limits: DecodingLimits(maximumMetadataByteCount: 89)) == .up)
        #expect(try orientation(fixture("xmp.png"), limits: DecodingLimits(maximumMetadataByteCount: 393)) == .down)
        #expect(try orientation(fixture("xmp.png"), limits: DecodingLimits(maximumMetadataByteCount: 392)) == .up)
        #expect(try orientation(exif, limits: DecodingLimits(maximumMetadataByteCount: -1)) == .up)
    }
}
