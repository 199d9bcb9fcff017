import AlcedoCore
import Foundation
import Testing

/// IPTC records that are reduced to the datasets that a policy keeps, and the image resources around them.
@Suite struct IPTCRecordTests {
    private func dataset(_ record: UInt8, _ number: UInt8, _ text: String) -> Data {
        Data([0x1C, record, number, 0, UInt8(text.utf8.count)]) + Data(text.utf8)
    }

    private func filtered(_ record: Data, _ selection: MetadataSelection) -> Data? {
        ImageMetadata(iptc: record).selected(selection).iptc
    }

    @Test func `the creator, the credit and the notice of copyright remain with their character set`() {
        let characters = dataset(1, 90, "\u{1B}%G")
        let (byline, credit, notice) = (dataset(2, 80, "Ada"), dataset(2, 110, "Agency"), dataset(2, 116, "(c)"))
        let record = characters + byline + dataset(2, 90, "Zurich") + credit + dataset(3, 80, "x") + notice

        #expect(filtered(record, .copyright) == characters + byline + credit + notice)
        #expect(filtered(record, .all) == record)
        #expect(filtered(characters + dataset(2, 90, "Zurich"), .copyright) == nil)
    }

    @Test func `titles and descriptions remain without a location, and places, keywords and times do not`() {
        let kept = Data([5, 55, 105, 120].map { dataset(2, $0, "kept") }.joined())
        let lost = Data([25, 26, 27, 60, 90, 92, 95, 100, 101, 118].map { dataset(2, $0, "lost") }.joined())

        #expect(filtered(kept + lost, .withoutLocation) == kept)
    }

    @Test func `long datasets are read, and damaged ones end the record`() {
        let long = Data([0x1C, 2, 80, 0x80, 4, 0, 0, 0, 3]) + Data("Ada".utf8)
        #expect(filtered(long, .copyright) == long)
        let damaged: [[UInt8]] = [
            [0x1C, 2, 80, 0, 9, 1], [0x1C, 2, 80, 0x80, 4, 0xFF, 0xFF, 0xFF, 0xFF], [0x1C, 2, 80, 0xFF, 0xFF, 1],
            [0x1D, 2, 80, 0, 0], [0x1C], [],
        ]
        for bytes in damaged {
            #expect(filtered(Data(bytes), .copyright) == nil)
            #expect(filtered(long + Data(bytes), .copyright) == long)
        }
    }

    @Test func `a record is found among other resources with names`() {
        let record = dataset(2, 80, "Ada")
        let name: [UInt8] = Array("8BIM".utf8) + [4, 0x0A, 3] + Array("abc".utf8) + [0, 0, 0, 1, 7, 0]
        let written = PhotoshopResources.resources(of: ImageMetadata(iptc: record))

        #expect(PhotoshopResources.iptc(in: name + written).record == record)
        #expect(PhotoshopResources.iptc(in: written).record == record)
        for count in 0..<written.count { _ = PhotoshopResources.iptc(in: written[..<count]) }
        for index in written.indices {
            for value in [0, 1, 0x7F, 0xFF] as [UInt8] {
                var changed = name + written
                changed[index] = value
                _ = PhotoshopResources.iptc(in: changed)
            }
        }
    }

    @Test func `the digest of a record is read and written beside it`() {
        let metadata = ImageMetadata(iptc: dataset(2, 80, "Ada"), iptcDigest: Data(0..<16))
        let written = PhotoshopResources.resources(of: metadata)

        let found = PhotoshopResources.iptc(in: written)
        #expect(found.record == metadata.iptc)
        #expect(found.digest == metadata.iptcDigest)
        // A truncated digest is none, and a digest without a record is not written.
        #expect(PhotoshopResources.iptc(in: written.dropLast(1)).digest == nil)
        #expect(PhotoshopResources.iptc(in: written.dropLast(1)).record == metadata.iptc)
        #expect(PhotoshopResources.resources(of: ImageMetadata(iptcDigest: Data(0..<16))).isEmpty)
        // The record is newer than XMP, and stays so. A digest of the record itself is not needed.
        for selection in [MetadataSelection.copyright, .withoutLocation, .all] {
            #expect(metadata.selected(selection).iptcDigest == metadata.iptcDigest)
            #expect(ImageMetadata(iptcDigest: Data(0..<16)).selected(selection).iptcDigest == nil)
        }
    }
}
