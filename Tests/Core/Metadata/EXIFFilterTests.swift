import FoundationEssentials
import Testing

@testable import AlcedoCore

@Suite struct EXIFFilterTests {
    /// Returns big-endian data with one directory. Values of more than four bytes follow it.
    private func exif(_ entries: [(tag: Int, type: UInt8, count: UInt8, value: [UInt8])]) -> Data {
        var directory: [UInt8] = [0, UInt8(entries.count)]
        var values: [UInt8] = []
        for entry in entries {
            let place = 8 + 2 + 12 * entries.count + 4 + values.count
            let padding = [UInt8](repeating: 0, count: max(0, 4 - entry.value.count))
            directory += [UInt8(entry.tag >> 8), UInt8(entry.tag & 255), 0, entry.type, 0, 0, 0, entry.count]
            directory += entry.value.count > 4 ? [0, 0, 0, UInt8(place)] : entry.value + padding
            if entry.value.count > 4 { values += entry.value }
        }
        return Data(Array("MM\0*".utf8) + [0, 0, 0, 8] + directory + [0, 0, 0, 0] + values)
    }

    private let artist = Array("Zo\u{E9} Ph\0".utf8)

    /// Exif 3.0 allows it for texts.
    @Test func `texts in UTF-8 are kept`() throws {
        let data = exif([
            (0x010E, 129, 3, Array("\u{E9}\0".utf8)), (0x013B, 129, UInt8(artist.count), artist),
            (0x8298, 129, 4, Array("Ada\0".utf8)),
        ])
        let metadata = ImageMetadata(exif: data)

        #expect(metadata.selected(.withoutLocation).exif == data)
        let copyright = metadata.selected(.copyright)
        #expect(copyright.holds("Zo\u{E9} Ph", of: "Author"))
        #expect(copyright.holds("Ada", of: "Copyright"))
        #expect(!copyright.holds("\u{E9}", of: "Description"))
    }

    @Test func `an unknown type is removed`() {
        let data = exif([(0x013B, 130, UInt8(artist.count), artist)])

        #expect(ImageMetadata(exif: data).selected(.withoutLocation).exif == nil)
    }

    @Test func `a count of 0 is one value, which is read and kept`() throws {
        let data = exif([(0x0112, 3, 0, [0, 6])])

        #expect(data.withUnsafeBytes { ImageOrientation(exif: $0.bytes) } == .right)
        let kept = try #require(ImageMetadata(exif: data).selected(.withoutLocation).exif)
        #expect(kept.withUnsafeBytes { ImageOrientation(exif: $0.bytes) } == .right)
        #expect(kept == exif([(0x0112, 3, 1, [0, 6])]))
    }

    @Test func `a text that extends over the GPS directory or its values is removed`() throws {
        // The directory of the image ends at 50. The GPS directory with one entry follows, and its value is at 68.
        func data(textAt offset: UInt8, count: UInt8) -> Data {
            var bytes = Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 3]
            bytes += [0x01, 0x0F, 0, 2, 0, 0, 0, 4] + Array("Cam\0".utf8)
            bytes += [0x01, 0x3B, 0, 2, 0, 0, 0, count, 0, 0, 0, offset]
            bytes += [0x88, 0x25, 0, 4, 0, 0, 0, 1, 0, 0, 0, 50, 0, 0, 0, 0]
            bytes += [0, 1, 0, 2, 0, 2, 0, 0, 0, 6, 0, 0, 0, 68, 0, 0, 0, 0]
            return Data(bytes + Array("N52.5\0".utf8) + Array("Ada B\0".utf8))
        }
        func kept(_ data: Data) throws -> Data {
            try #require(ImageMetadata(exif: data).selected(.withoutLocation).exif)
        }
        let outside = try kept(data(textAt: 74, count: 6))
        #expect(outside.suffix(6) == Data("Ada B\0".utf8))

        for data in [data(textAt: 68, count: 6), data(textAt: 60, count: 12), data(textAt: 46, count: 6)] {
            let filtered = try kept(data)
            #expect(filtered == exif([(0x010F, 2, 4, Array("Cam\0".utf8))]))
        }
        #expect(ImageMetadata(exif: data(textAt: 68, count: 6)).selected(.copyright).exif == nil)
    }
}
