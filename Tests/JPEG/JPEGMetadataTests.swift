import TestSupport
import AlcedoCore
import AlcedoJPEG
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
