import Foundation
import TestSupport
import Testing

@testable import AlcedoCore

/// Properties that unusual, damaged and hostile metadata has.
@Suite struct PhotoMetadataTests {
    private typealias Value = (tag: Int, type: Int, bytes: [UInt8])

    /// Returns little-endian EXIF data. The tags from 0x8000 on, except the copyright, are in the photo directory.
    private func exif(_ values: [Value], gps: [Value] = []) -> Data {
        func number(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
        func directory(_ values: [Value], at start: Int) -> [UInt8] {
            var (entries, content) = (number(values.count, 2), [UInt8]())
            for value in values {
                let size = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 10: 8][value.type] ?? 1
                entries += number(value.tag, 2) + number(value.type, 2) + number(value.bytes.count / size, 4)
                let place = start + 2 + 12 * values.count + 4 + content.count
                entries += value.bytes.count > 4 ? number(place, 4) : Array((value.bytes + [0, 0, 0, 0]).prefix(4))
                if value.bytes.count > 4 { content += value.bytes }
            }
            return entries + [0, 0, 0, 0] + content
        }
        let isPhoto = { (value: Value) in value.tag > 0x8298 }
        func image(_ photo: Int, _ place: Int) -> [UInt8] {
            let pointers: [Value] = [(0x8769, 4, number(photo, 4)), (0x8825, 4, number(place, 4))]
            return directory(values.filter { !isPhoto($0) } + pointers, at: 8)
        }
        let photoStart = 8 + image(0, 0).count
        let photo = directory(values.filter(isPhoto), at: photoStart)
        let place = photoStart + photo.count
        return Data(Array("II*\0".utf8) + [8, 0, 0, 0] + image(photoStart, place) + photo + directory(gps, at: place))
    }

    private func text(_ tag: Int, _ text: String) -> Value { (tag, 2, Array(text.utf8) + [0]) }

    private func short(_ tag: Int, _ value: Int) -> Value { (tag, 3, [UInt8(value & 255), UInt8(value >> 8)]) }

    private func fraction(_ tag: Int, _ numbers: UInt32..., isSigned: Bool = false) -> Value {
        let bytes = numbers.flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        return (tag, isSigned ? 10 : 5, bytes)
    }

    private func photo(_ values: [Value]) -> PhotoProperties { PhotoProperties(ImageMetadata(exif: exif(values))) }

    private func packet(_ attributes: String, _ elements: String = "") -> Data {
        let namespaces =
            "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:dc='http://purl.org/dc/elements/1.1/' "
            + "xmlns:exif='http://ns.adobe.com/exif/1.0/' xmlns:tiff='http://ns.adobe.com/tiff/1.0/' "
            + "xmlns:xmp='http://ns.adobe.com/xap/1.0/'"
        return Data(
            "<rdf:RDF \(namespaces)><rdf:Description \(attributes)>\(elements)</rdf:Description></rdf:RDF>".utf8)
    }

    private func dataset(_ record: UInt8, _ number: UInt8, _ content: [UInt8]) -> Data {
        Data([0x1C, record, number, UInt8(content.count >> 8), UInt8(content.count & 255)] + content)
    }

    @Test func `metadata without properties has none`() {
        #expect(PhotoProperties(ImageMetadata()) == PhotoProperties())
        for damaged in [Data(), Data("II*\0".utf8), Data("no TIFF".utf8), Data([0x1C]), Data("<".utf8)] {
            let metadata = ImageMetadata(exif: damaged, xmp: damaged, iptc: damaged, iptcDigest: damaged)
            #expect(PhotoProperties(metadata) == PhotoProperties())
            #expect(GPSCoordinates(metadata) == nil)
        }
    }

    @Test(arguments: [true, false])
    func `both byte orders are read, and a location without a longitude counts as GPS`(isLittleEndian: Bool) {
        let metadata = ImageMetadata(exif: MadeEXIF.made(orientation: 6, isLittleEndian: isLittleEndian))

        let photo = PhotoProperties(metadata)

        #expect(photo.make == "Alcedo Cameras")
        #expect(photo.dateTimeOriginal?.description == "2026-01-02T03:04:05")
        #expect(photo.orientation == .right)
        #expect(photo.artists == ["Ada Photographer"])
        #expect(photo.copyright == "All rights: Ada")
        #expect(photo.hasGPS)
        #expect(GPSCoordinates(metadata) == nil)
    }

    @Test func `values in the units of APEX replace missing ones`() throws {
        // 2 to the power of −8, and the square root of 2 to the power of 5.
        let photo = photo([fraction(0x9201, 8, 1, isSigned: true), fraction(0x9202, 5, 1)])
        #expect(photo.exposureTime == 1.0 / 256)
        #expect(abs(try #require(photo.fNumber) - 5.656854) < 1e-6)
        let both = self.photo([fraction(0x829A, 1, 30), fraction(0x9201, 8, 1, isSigned: true)])
        #expect(both.exposureTime == 1.0 / 30)
        // Impossible and unknown values.
        let none = self.photo([
            fraction(0x829A, 1, 0), fraction(0x829D, 0, 1), fraction(0x9201, 1 << 31, 1, isSigned: true),
            fraction(0x920A, 0, 1), fraction(0x9204, 1, 0, isSigned: true), short(0xA405, 0), short(0x0112, 9),
        ])
        #expect(none == PhotoProperties())
    }

    @Test func `a sensitivity that a SHORT does not hold is in another tag`() {
        let long: Value = (0x8832, 4, [0, 0x90, 0x01, 0])
        #expect(photo([short(0x8827, 800)]).isoSpeed == 800)
        #expect(photo([short(0x8827, 800), long]).isoSpeed == 800)
        #expect(photo([short(0x8827, 65_535), long]).isoSpeed == 102_400)
        #expect(photo([short(0x8827, 65_535)]).isoSpeed == 65_535)
        #expect(photo([short(0x8827, 0)]).isoSpeed == nil)
        #expect(photo([(0x8833, 4, [255, 255, 255, 255])]).isoSpeed == nil)
    }

    @Test(arguments: [(0, false), (1, true), (0x10, false), (0x20, false), (0x5F, true)])
    func `the lowest bit tells whether the flash fired`(value: Int, fired: Bool) {
        #expect(photo([short(0x9209, value)]).flashFired == fired)
    }

    @Test func `texts are read in UTF-8 and in Windows-1252, up to the first zero`() {
        #expect(photo([text(0x010F, "  Zo\u{E9} \0rest")]).make == "Zoé")
        #expect(photo([(0x010F, 2, [0x93, 0x5A, 0x6F, 0xE9, 0x94, 0])]).make == "“Zoé”")
        #expect(photo([(0x010F, 7, Array("Maker".utf8))]).make == "Maker")
        #expect(photo([text(0x010F, " \0")]).make == nil)
        #expect(photo([short(0x010F, 9)]).make == nil)
        // A text of more than 64 KiB is ignored.
        #expect(photo([text(0x010E, String(repeating: "a", count: 65_535))]).description?.utf8.count == 65_535)
        #expect(photo([text(0x010E, String(repeating: "a", count: 65_536))]).description == nil)
    }

    @Test func `the notices of the photographer and of the editor are lines`() {
        #expect(photo([text(0x8298, "Ada\0Bob")]).copyright == "Ada\nBob")
        #expect(photo([text(0x8298, " \0Bob")]).copyright == "Bob")
        #expect(photo([text(0x8298, "Ada\0")]).copyright == "Ada")
        #expect(photo([text(0x8298, " \0 ")]).copyright == nil)
    }

    @Test(arguments: [
        ("Ada", ["Ada"]), ("Ada; Bob ;", ["Ada", "Bob"]), ("\"Ada; Co\"; Bob", ["Ada; Co", "Bob"]),
        ("\"a \"\"b\"\"\";c", ["a \"b\"", "c"]), ("Ada \"the\" B", ["Ada \"the\" B"]), ("\"Ada", ["\"Ada"]),
        (" ; ", []),
    ])
    func `artists are separated by semicolons, and quoted`(stored: String, names: [String]) {
        #expect(photo([text(0x013B, stored)]).artists == names)
    }

    @Test func `a blank text or an invalid date in EXIF gives way to XMP`() {
        let exif = exif([text(0x010E, "   "), text(0x9003, "0000:00:00 00:00:00"), text(0x013B, ";")])
        let xmp = packet(
            "dc:description='In XMP' exif:DateTimeOriginal='2024-05-17' dc:creator='Ada' tiff:Make=' Maker '",
            "<exif:Flash exif:Fired='false'/><exif:ISOSpeedRatings><rdf:Seq><rdf:li>64</rdf:li></rdf:Seq>"
                + "</exif:ISOSpeedRatings><dc:title><rdf:Alt><rdf:li xml:lang='de'>Titel</rdf:li>"
                + "<rdf:li xml:lang='x-default'>Title</rdf:li></rdf:Alt></dc:title><exif:FNumber>inf</exif:FNumber>")

        let photo = PhotoProperties(ImageMetadata(exif: exif, xmp: xmp))

        var expected = PhotoProperties()
        (expected.description, expected.artists, expected.make) = ("In XMP", ["Ada"], "Maker")
        expected.dateTimeOriginal = PhotoDate("2024-05-17")
        (expected.flashFired, expected.isoSpeed, expected.title) = (false, 64, "Title")
        #expect(photo == expected)
    }

    @Test func `any GPS tag but the version is a location`() {
        func hasGPS(_ gps: [Value]) -> Bool { PhotoProperties(ImageMetadata(exif: exif([], gps: gps))).hasGPS }
        #expect(!hasGPS([]))
        #expect(!hasGPS([(0x0000, 1, [2, 3, 0, 0])]))
        #expect(hasGPS([(0x0000, 1, [2, 3, 0, 0]), text(0x001D, "2024:05:17")]))
        #expect(hasGPS([(0x0002, 99, [1])]))
        #expect(PhotoProperties(ImageMetadata(xmp: packet("exif:GPSAltitude='9'"))).hasGPS)
        #expect(!PhotoProperties(ImageMetadata(xmp: packet("exif:GPSVersionID='2.3.0.0'"))).hasGPS)
        for part in ["<dc:coverage exif:GPSLatitude='1,2N'/>", "<dc:a><rdf:Bag><exif:GPSAltitude/></rdf:Bag></dc:a>"] {
            #expect(PhotoProperties(ImageMetadata(xmp: packet("", part))).hasGPS)
        }
    }

    @Test func `coordinates need a direction and valid numbers`() {
        func place(_ latitude: Value, _ north: String, altitude: Value? = nil, _ below: UInt8 = 0) -> GPSCoordinates? {
            var gps = [text(0x0001, north), latitude, text(0x0003, "E"), fraction(0x0004, 8, 1, 0, 0, 0, 0)]
            if let altitude { gps += [(0x0005, 1, [below]), altitude] }
            return GPSCoordinates(ImageMetadata(exif: exif([], gps: gps)))
        }
        let latitude = fraction(0x0002, 47, 1, 30, 1, 36, 1)
        #expect(place(latitude, "N") == GPSCoordinates(latitude: 47.51, longitude: 8))
        #expect(place(latitude, "S")?.latitude == -47.51)
        #expect(place(fraction(0x0002, 475, 10), "N")?.latitude == 47.5)
        #expect(place(latitude, "N", altitude: fraction(0x0006, 45, 10))?.altitude == 4.5)
        #expect(place(latitude, "N", altitude: fraction(0x0006, 45, 10), 1)?.altitude == -4.5)
        #expect(place(latitude, "") == nil)
        #expect(place(latitude, "x") == nil)
        #expect(place(fraction(0x0002, 91, 1, 0, 1, 0, 1), "N") == nil)
        #expect(place(fraction(0x0002, 0, 0, 0, 0, 0, 0), "N") == nil)
        func inXMP(_ latitude: String) -> GPSCoordinates? {
            GPSCoordinates(
                ImageMetadata(xmp: packet("exif:GPSLatitude='\(latitude)' exif:GPSLongitude='8,0,0.0W'")))
        }
        #expect(inXMP("47,30.6N") == GPSCoordinates(latitude: 47.51, longitude: -8))
        #expect(inXMP("47,30,36S")?.latitude == -47.51)
        for damaged in ["", "N", "47", "47,xN", "47,1,2,3N", "91,0N", "nanN"] { #expect(inXMP(damaged) == nil) }
    }

    @Test func `IPTC is read by its character set`() {
        func title(_ record: Data) -> String? { PhotoProperties(ImageMetadata(iptc: record)).title }
        let utf8 = dataset(1, 90, [0x1B, 0x25, 0x47])
        #expect(title(utf8 + dataset(2, 5, Array("Zoé".utf8))) == "Zoé")
        #expect(title(utf8 + dataset(2, 5, [0x5A, 0xE9])) == "Z\u{FFFD}")
        #expect(title(dataset(2, 5, Array("Zoé".utf8))) == "Zoé")
        #expect(title(dataset(2, 5, [0x5A, 0x6F, 0xE9])) == "Zoé")
        let artists = (0..<100).map { dataset(2, 80, Array("\($0)".utf8)) }.joined()
        #expect(PhotoProperties(ImageMetadata(iptc: Data(artists))).artists.count == 64)
    }

    @Test func `a text that newer IPTC has cut is completed from XMP`() {
        let (cut, whole) = (String(repeating: "a", count: 64), String(repeating: "a", count: 70))
        func title(_ iptc: String, digest: Data?) -> String? {
            PhotoProperties(
                ImageMetadata(
                    xmp: packet("dc:title='\(whole)'"), iptc: dataset(2, 5, Array(iptc.utf8)), iptcDigest: digest)
            ).title
        }
        #expect(title(cut, digest: Data(count: 16)) == whole)
        #expect(title("other", digest: Data(count: 16)) == "other")
        #expect(title("other", digest: nil) == whole)
    }

    @Test func `texts of PNG come last`() {
        var metadata = ImageMetadata()
        metadata.texts = ["author": " Ada ", "Title": "In PNG", "Copyright": "", "Description": "Text"]
        metadata.xmp = packet("dc:title='In XMP'")

        let photo = PhotoProperties(metadata)

        #expect(photo.artists == ["Ada"])
        #expect(photo.title == "In XMP")
        #expect(photo.description == "Text")
        #expect(photo.copyright == nil)
    }

    @Test func `directories in a circle and huge counts end`() {
        var data = [UInt8](exif([text(0x010F, "Maker")], gps: [text(0x0001, "N")]))
        // Every directory and every link is the first directory.
        for tag: [UInt8] in [[0x69, 0x87], [0x25, 0x88]] {
            guard let entry = data.indices.dropLast(12).first(where: { Array(data[$0..<$0 + 2]) == tag }) else {
                Issue.record("no pointer")
                return
            }
            data.replaceSubrange(entry + 8..<entry + 12, with: [8, 0, 0, 0])
        }
        #expect(PhotoProperties(ImageMetadata(exif: Data(data))).make == "Maker")
        for count: [UInt8] in [[255, 255, 255, 255], [255, 255, 255, 127], [0, 0, 0, 128]] {
            let value = Data(Array("II*\0".utf8) + [8, 0, 0, 0, 255, 255, 0x0F, 1, 2, 0] + count + [8, 0, 0, 0])
            #expect(PhotoProperties(ImageMetadata(exif: value)) == PhotoProperties())
        }
    }

    @Test func `changed and missing bytes never trap`() {
        let exif = exif(
            [
                text(0x010E, "Text"), text(0x013B, "\"A;\"; B"), text(0x8298, "Ada\0Bob"), short(0x8827, 100),
                fraction(0x829A, 1, 60), text(0x9003, "2024:05:17 18:04:05"), text(0x9011, "+02:00"),
                text(0x9291, "25"),
            ],
            gps: [
                text(0x0001, "N"), fraction(0x0002, 47, 1, 30, 1, 36, 1), text(0x0003, "E"),
                fraction(0x0004, 8, 1, 0, 1, 0, 1), fraction(0x0006, 45, 10),
            ])
        let xmp = packet("exif:ExposureTime='1/250' exif:GPSLatitude='47,30.6N' xmp:CreateDate='2024-05-17T18:04:05Z'")
        let iptc =
            dataset(1, 90, [0x1B, 0x25, 0x47]) + dataset(2, 80, Array("Ada".utf8))
            + dataset(2, 55, Array("20240517".utf8))
        func read(_ exif: Data?, _ xmp: Data?, _ iptc: Data?) {
            let metadata = ImageMetadata(exif: exif, xmp: xmp, iptc: iptc, iptcDigest: Data(count: 16))
            let photo = PhotoProperties(metadata)
            #expect(photo.exposureTime.map { $0 > 0 && $0.isFinite } != false)
            guard let place = GPSCoordinates(metadata) else { return }
            #expect(abs(place.latitude) <= 90 && abs(place.longitude) <= 180)
        }
        for (index, source) in [exif, xmp, iptc].enumerated() {
            func readPart(_ data: [UInt8]) {
                let data = Data(data)
                read(index == 0 ? data : nil, index == 1 ? data : nil, index == 2 ? data : nil)
            }
            let bytes = [UInt8](source)
            for count in bytes.indices { readPart(Array(bytes[..<count])) }
            for index in bytes.indices {
                for value in [0, 1, 0x22, 0x2F, 0x3B, 0x7F, 0x80, 0xFF] as [UInt8] {
                    var changed = bytes
                    changed[index] = value
                    readPart(changed)
                }
            }
        }
    }

    @Test func `the time is linear in the number of quotation marks and datasets`() {
        func properties(_ count: Int) -> ImageMetadata {
            ImageMetadata(
                exif: exif([text(0x013B, String(repeating: " \"", count: count))]),
                iptc: Data((0..<count).map { _ in dataset(2, 80, []) }.joined()), iptcDigest: Data(count: 16))
        }
        let (short, long) = (properties(8_000), properties(32_000))
        LinearTime.expect({ _ = PhotoProperties(short) }, fourTimes: { _ = PhotoProperties(long) })
    }
}
