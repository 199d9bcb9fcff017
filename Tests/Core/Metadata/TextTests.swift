import FoundationEssentials
import Testing

@testable import AlcedoCore

@Suite struct TextTests {
    @Test func `texts that EXIF has tags for are moved there once`() throws {
        var metadata = ImageMetadata()
        metadata.texts = ["author": "b", "Author": "a", "Copyright": "c", "Title": "t"]

        metadata.moveTextsToEXIF()

        #expect(metadata.texts.isEmpty)
        #expect(metadata.holds("a", of: "Author"))
        #expect(!metadata.holds("b", of: "author"))
        #expect(metadata.holds("c", of: "Copyright"))
        let exif = try #require(metadata.exif)
        #expect(exif.count(where: { $0 == UInt8(ascii: "b") }) == 0)
    }

    @Test func `a text with which EXIF would not fit in JPEG leaves EXIF as it is`() {
        var metadata = ImageMetadata()
        metadata.texts = ["Author": "a"]
        metadata.moveTextsToEXIF()
        let exif = metadata.exif
        metadata.texts = ["Copyright": String(repeating: "c", count: 70_000)]

        metadata.moveTextsToEXIF()

        #expect(metadata.exif == exif)
        #expect(metadata.texts.isEmpty)
        // Nor does it prevent another text.
        var both = ImageMetadata()
        both.texts = ["Author": String(repeating: "a", count: 70_000), "Copyright": "c"]
        both.moveTextsToEXIF()
        #expect(both.holds("c", of: "Copyright"))
    }
}
