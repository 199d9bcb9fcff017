import TestSupport
import AlcedoCore
import AlcedoJPEG
import AlcedoTesting
import Foundation
import Testing

@Suite struct JPEGMetadataTests {
    private let decoder = JPEGDecoder()
    private let size = PixelSize(width: 33, height: 25)

    private func profile(_ data: Data, limit: Int = 1 << 20) throws -> Data? {
        let limits = DecodingLimits(maximumMetadataByteCount: limit)
        return try decoder.decode(data, options: DecodingOptions(limits: limits)).colorProfile
    }

    private func orientation(_ data: Data) throws -> ImageOrientation {
        try decoder.inspect(data, limits: DecodingLimits()).orientation
    }

    /// Returns where a pixel of the upright image is stored, by the EXIF table: "the 0th row is …".
    private func stored(_ x: Int, _ y: Int, _ orientation: UInt8) -> (x: Int, y: Int) {
        let (right, bottom) = (size.width - 1, size.height - 1)
        switch orientation {
        case 2: return (right - x, y)
        case 3: return (right - x, bottom - y)
        case 4: return (x, bottom - y)
        case 5: return (y, x)
        case 6: return (y, bottom - x)
        case 7: return (right - y, bottom - x)
        case 8: return (right - y, x)
        default: return (x, y)
        }
    }

    @Test(arguments: UInt8(0)...9) func `an orientation is applied once, or reported`(value: UInt8) throws {
        let data = JPEGEditor.inserting(JPEGEditor.exif(orientation: value), into: try fixture("420.jpg"))
        let rows = try reference("420.raw")
        let expected = ImageOrientation(rawValue: Int(value)) ?? .up
        let upright = value >= 5 && value <= 8 ? size.transposed : size

        let applied = try decoder.decode(data, options: DecodingOptions())
        let reported = try decoder.decode(data, options: DecodingOptions(appliesOrientation: false))

        #expect(applied.orientation == .up)
        #expect(applied.size == upright)
        let bytes = (0..<upright.height).flatMap { y in
            (0..<upright.width).flatMap { x in
                let from = stored(x, y, value)
                return rows[4 * (from.y * size.width + from.x)..<4 * (from.y * size.width + from.x) + 4]
            }
        }
        #expect(applied.pixels.tightBytes == bytes)
        #expect(reported.orientation == expected)
        #expect(reported.pixels.tightBytes == rows)
        #expect(try orientation(data) == expected)
    }

    /// Browsers ignore the byte.
    @Test func `EXIF is read whatever the byte before its header is`() throws {
        var segment = JPEGEditor.exif(orientation: 6)
        let exif = Data(segment.dropFirst(10))
        segment[9] = 0xFF
        let info = try JPEGDecoder().inspect(
            JPEGEditor.inserting(segment, into: try fixture("420.jpg")), limits: DecodingLimits())

        #expect(info.orientation == .right)
        #expect(info.metadata.exif == exif)
    }

    @Test(arguments: [("exif3.jpg", ImageOrientation.down), ("exif6.jpg", .right)])
    func `EXIF of another tool is read`(name: String, expected: ImageOrientation) throws {
        let image = try decoder.decode(fixture(name), options: DecodingOptions())

        #expect(try orientation(fixture(name)) == expected)
        // The white corner, stored at the lower right.
        let corner = expected == .down ? (0, 0) : (0, 32)
        #expect(image.pixels.rgba(corner.0, corner.1)[..<3].allSatisfy { $0 > 230 })
        #expect(image.pixels.rgba(image.size.width - 1, 0)[0] < 230)
    }

    @Test func `EXIF is found behind other application data`() throws {
        let xmp = JPEGEditor.segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0<x/>".utf8))
        let file = JPEGEditor.inserting(
            xmp + JPEGEditor.segment(0xE1, []) + JPEGEditor.exif(orientation: 8), into: try fixture("420.jpg"))

        #expect(try orientation(file) == .left)
    }

    @Test(arguments: [
        "", "Exif", "Exif\0\0", "Exif\0\0II*\0", "Exif\0\0MM\0*\u{7F}\u{7F}\u{7F}\u{7F}", "Exif\0\0abcdefgh",
    ])
    func `damaged EXIF yields the orientation up`(content: String) throws {
        let data = JPEGEditor.inserting(JPEGEditor.segment(0xE1, Array(content.utf8)), into: try fixture("420.jpg"))

        #expect(try orientation(data) == .up)
        #expect(errorCode(data) == nil)
    }

    private func hasIgnoredProfile(_ file: Data) throws -> Bool {
        try decoder.inspect(file, limits: DecodingLimits()).metadata.hasIgnoredColorProfile
    }

    @Test func `a color profile is returned byte for byte`() throws {
        #expect(try profile(fixture("profile.jpg")) == fixture("profile.icc"))
    }

    @Test func `a profile in parts is joined in order`() throws {
        let icc = try fixture("profile.icc")
        let first = JPEGEditor.profile(icc.prefix(100), number: 1, of: 2)
        let second = JPEGEditor.profile(icc.dropFirst(100), number: 2, of: 2)
        let file = try fixture("420.jpg")

        #expect(try profile(JPEGEditor.inserting(second + first, into: file)) == icc)
        #expect(try profile(JPEGEditor.inserting(first, into: file)) == nil)
        #expect(try profile(JPEGEditor.inserting(first + first, into: file)) == nil)
        #expect(try profile(JPEGEditor.inserting(first + second + second, into: file)) == icc)
        #expect(try profile(JPEGEditor.inserting(first + second + first + second, into: file)) == icc)
        var changed = icc.dropFirst(100)
        changed[changed.startIndex] ^= 1
        let differing = JPEGEditor.profile(changed, number: 2, of: 2)
        #expect(try profile(JPEGEditor.inserting(first + second + differing, into: file)) == nil)
        let other = JPEGEditor.profile(icc.dropFirst(100), number: 2, of: 3)
        #expect(try profile(JPEGEditor.inserting(first + other, into: file)) == nil)
        for (number, count) in [(UInt8(0), UInt8(1)), (0, 0), (2, 1)] {
            let odd = JPEGEditor.profile(icc, number: number, of: count)
            #expect(try profile(JPEGEditor.inserting(odd, into: file)) == nil)
            #expect(try hasIgnoredProfile(JPEGEditor.inserting(odd, into: file)))
        }
        #expect(try hasIgnoredProfile(JPEGEditor.inserting(first, into: file)))
        #expect(try !hasIgnoredProfile(JPEGEditor.inserting(second + first, into: file)))
        #expect(try !hasIgnoredProfile(file))
    }

    @Test func `EXIF, XMP and profile are returned byte for byte, also for single-byte pieces`() throws {
        let exif = JPEGEditor.exif(orientation: 8)
        let packet = Array("<x/>".utf8)
        let xmp = JPEGEditor.segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + packet)
        let second = JPEGEditor.segment(0xE1, Array("Exif\0\0MM\0*".utf8))
        let file = JPEGEditor.inserting(exif + xmp + second, into: try fixture("profile.jpg"))

        let info = try decoder.inspect(file, limits: DecodingLimits())
        let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())
        for byte in file { try pieces.append(Data([byte])) }

        #expect(info.metadata.exif == Data(exif.dropFirst(10)))
        #expect(info.metadata.xmp == Data(packet))
        #expect(try info.metadata.colorProfile == fixture("profile.icc"))
        #expect(pieces.info == info)
    }

    /// Returns a packet with properties of a namespace.
    private func packet(_ properties: String) -> String {
        "<x:xmpmeta xmlns:x='adobe:ns:meta/'><r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
            + "<r:Description xmlns:n='http://ns.adobe.com/xmp/note/' xmlns:o='https://own.example/' \(properties)"
            + "</r:Description></r:RDF></x:xmpmeta>"
    }

    /// Returns the segments of a packet that refers to a rest, and of the parts of the rest.
    private func segments(_ main: String, _ rest: [UInt8], partCount: Int, identifier: String) -> [[UInt8]] {
        func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        let name = Array("http://ns.adobe.com/xmp/extension/\0".utf8) + Array(identifier.utf8)
        let size = (rest.count + partCount - 1) / partCount
        return [JPEGEditor.segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0\(main)".utf8))]
            + stride(from: 0, to: rest.count, by: size).map { offset in
                let part = rest.dropFirst(offset).prefix(size)
                return JPEGEditor.segment(0xE1, name + number(rest.count) + number(offset) + part)
            }
    }

    @Test func `of XMP that is too long for a segment, the statements of rights are written`() throws {
        let space = "http://purl.org/dc/elements/1.1/"
        let packet = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            <rdf:Description rdf:about="" xmlns:dc="\(space)" xmlns:o="http://example.com/o/">\
            <dc:rights><rdf:Alt><rdf:li xml:lang="x-default">Ada</rdf:li></rdf:Alt></dc:rights>\
            <o:d>\(String(repeating: "5", count: 100_000))</o:d></rdf:Description></rdf:RDF></x:xmpmeta>
            """
        let metadata = ImageMetadata(xmp: Data(packet.utf8))
        let image = try decoder.decode(try fixture("420.jpg"), options: DecodingOptions())

        let file = try JPEGEncoder().embedding(metadata).encode(image)

        let xmp = try #require(try decoder.inspect(file, limits: DecodingLimits()).metadata.xmp)
        #expect(String(decoding: xmp, as: UTF8.self).contains("Ada"))
        #expect(xmp.count < 65_504)
    }

    @Test func `XMP in several segments is read as one packet`() throws {
        let identifier = String(repeating: "0A", count: 16)
        let main = packet("n:HasExtendedXMP='\(identifier)' o:a='1' o:b='2'>")
        // A rest longer than a segment.
        let rest = Array(packet("o:b='3' o:c='4'><o:d>\(String(repeating: "5", count: 100_000))</o:d>").utf8)
        let parts = segments(main, rest, partCount: 3, identifier: identifier)
        let other = segments("", [1, 2], partCount: 1, identifier: String(repeating: "FF", count: 16))[1]
        func xmp(_ segments: [[UInt8]], limits: DecodingLimits = DecodingLimits()) throws -> String? {
            let file = JPEGEditor.inserting(segments.flatMap { $0 }, into: try fixture("420.jpg"))
            #expect(try decoder.decode(file, options: DecodingOptions()).damage == nil)
            return try decoder.inspect(file, limits: limits).metadata.xmp.map { String(decoding: $0, as: UTF8.self) }
        }

        for order in [[0, 1, 2, 3], [3, 0, 2, 1]] {
            let joined = try #require(try xmp(order.map { parts[$0] } + [other]))
            for text in ["o:a=\"1\"", "o:b=\"2\"", "o:c=\"4\"", "<o:d>5555"] { #expect(joined.contains(text)) }
            #expect(!joined.contains("HasExtendedXMP"))
            #expect(!joined.contains("\"3\""))
            #expect(joined.utf8.count > 100_000)
        }
        // An incomplete or foreign rest, and one beyond the limits, is left out.
        #expect(try xmp(Array(parts.dropLast())) == main)
        #expect(try xmp([parts[0], other]) == main)
        #expect(try xmp(parts, limits: DecodingLimits(maximumMetadataByteCount: 100_000)) == main)
        let plain = JPEGEditor.segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0<x/>".utf8))
        #expect(try xmp([plain] + parts[1...]) == "<x/>")
    }

    @Test func `IPTC in several segments is read`() throws {
        let record = Data([0x1C, 2, 120, 0x80, 4, 0, 1, 0x86, 0xA0]) + Data(repeating: 0x41, count: 100_000)
        let resources = PhotoshopResources.resources(of: ImageMetadata(iptc: record))
        let name = Array("Photoshop 3.0\0".utf8)
        let segments = stride(from: 0, to: resources.count, by: 60_000).map {
            JPEGEditor.segment(0xED, name + resources.dropFirst($0).prefix(60_000))
        }
        func iptc(_ segments: [[UInt8]], limits: DecodingLimits = DecodingLimits()) throws -> Data? {
            let file = JPEGEditor.inserting(segments.flatMap { $0 }, into: try fixture("420.jpg"))
            return try decoder.inspect(file, limits: limits).metadata.iptc
        }

        #expect(segments.count == 2)
        #expect(try iptc(segments) == record)
        #expect(try iptc([segments[0], JPEGEditor.exif(orientation: 1), [0xFF], segments[1]]) == record)
        #expect(try iptc([segments[0]]) == nil)
        #expect(try iptc(segments, limits: DecodingLimits(maximumMetadataByteCount: 100_000)) == nil)
    }

    @Test(arguments: [(65_478, true, true), (65_480, true, false), (65_506, true, false), (65_508, false, false)])
    func `IPTC that fits only without its digest is written without it`(
        count: Int, hasRecord: Bool, hasDigest: Bool
    ) throws {
        let length = count - 9
        let head: [UInt8] = [0x1C, 2, 120, 0x80, 4, 0, 0, UInt8(length >> 8), UInt8(length & 255)]
        let record = Data(head) + Data(repeating: 0x41, count: length)
        let image = DecodedImage(pixels: try decoder.decode(fixture("420.jpg"), options: DecodingOptions()).pixels)

        let metadata = ImageMetadata(iptc: record, iptcDigest: Data(0..<16))
        let file = try ImageEncoder.jpeg().embedding(metadata).encode(image)

        let found = try decoder.inspect(file, limits: DecodingLimits()).metadata
        #expect(found.iptc == (hasRecord ? record : nil))
        #expect(found.iptcDigest == (hasDigest ? Data(0..<16) : nil))
    }

    @Test func `the resolution in EXIF takes precedence over that of the header`() throws {
        let (header, exif) = (ImageResolution(pixelsPerInch: 72), ImageResolution(pixelsPerInch: 300))
        let image = DecodedImage(pixels: try decoder.decode(fixture("420.jpg"), options: DecodingOptions()).pixels)
        let written = ImageMetadata(resolution: exif).writtenEXIF(.up, image.size, holdsResolution: false)
        let file = try ImageEncoder.jpeg().embedding(ImageMetadata(resolution: header)).encode(image)
        let segment = JPEGEditor.segment(0xE1, Array("Exif\0\0".utf8) + written)

        let metadata = try decoder.inspect(JPEGEditor.inserting(segment, into: file), limits: DecodingLimits()).metadata
        #expect(metadata.resolution == exif)
        // Both are equal in a written file.
        let copy = try ImageEncoder.jpeg().embedding(metadata).encode(image)
        let range = try #require(JPEGEditor.range(of: 0xE0, in: copy))
        #expect(Array(copy[range].dropFirst(11).prefix(5)) == [1, 1, 44, 1, 44])
        #expect(try decoder.inspect(copy, limits: DecodingLimits()).metadata.exif == Data(written))
    }

    @Test(arguments: ["EXIF", "XMP", "profile", "space"])
    func `unusable metadata and bytes between segments are harmless, and reported`(kind: String) throws {
        let file = try fixture("420.jpg")
        let segment: [UInt8] =
            switch kind {
            case "EXIF": JPEGEditor.segment(0xE1, Array("Exif\0\0XXjunk!!".utf8))
            case "XMP": JPEGEditor.segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0<x:xmpmeta".utf8))
            case "profile": JPEGEditor.profile([UInt8](repeating: 0, count: 200), number: 1, of: 1)
            default: [0, 0, 0]
            }
        let damaged = JPEGEditor.inserting(segment, into: file)

        let image = try decoder.decode(damaged, options: DecodingOptions(tolerance: .harmless))

        #expect(try image.pixels == decoder.decode(file, options: DecodingOptions()).pixels)
        #expect(image.damage?.kind == .harmless)
        try DecoderChecks(decoder).checkRows(damaged)
        try DecoderChecks(decoder).checkPieces(damaged)
    }

    @Test func `a profile over the limit is omitted`() throws {
        #expect(try profile(fixture("profile.jpg"), limit: 588)?.count == 588)
        #expect(try profile(fixture("profile.jpg"), limit: 587) == nil)
        #expect(try profile(fixture("profile.jpg"), limit: -1) == nil)
    }

    @Test func `a CMYK profile is not kept for RGB pixels`() throws {
        let part = JPEGEditor.profile(try fixture("profile.icc"), number: 1, of: 1)

        let inks = JPEGEditor.inserting(part, into: try fixture("cmyk.jpg"))
        #expect(try profile(inks) == nil)
        #expect(try decoder.inspect(inks, limits: DecodingLimits()).metadata.colorProfile == fixture("profile.icc"))
        #expect(try profile(JPEGEditor.inserting(part, into: fixture("rgb.jpg"))) != nil)
    }
}
