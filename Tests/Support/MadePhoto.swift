package import Foundation

/// Files with the EXIF of a camera, and with XMP, IPTC and comments that repeat its location.
package enum MadePhoto {
    /// XMP as cameras and editors write it.
    package static let xmp = Data(
        """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
        <rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:GPSLatitude="47,11.22N"
        exif:GPSLongitude="8,30.5E"/></rdf:RDF></x:xmpmeta>
        """.utf8)
    /// The city and the country, datasets 2:90 and 2:101 of IPTC IIM.
    package static let iptc =
        Data([0x1C, 2, 90, 0, 9]) + Data("Affoltern".utf8) + Data([0x1C, 2, 101, 0, 11]) + Data("Switzerland".utf8)
    package static let comment = Data("shot at 47.187N 8.508E".utf8)
    /// The second part of XMP that is too large for one segment of a JPEG.
    private static let furtherXMP = Data("<exif:GPSLatitude>47,11.22N</exif:GPSLatitude>".utf8)
    private static let hexadecimalIPTC = Data(
        iptc.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined().utf8)

    /// The parts of the files outside EXIF that have a location.
    package static let secrets = [xmp, iptc, comment, furtherXMP, hexadecimalIPTC]

    /// Returns a JPEG with the metadata in its segments.
    package static func jpeg(_ file: Data, exif: Data) -> Data {
        func segment(_ marker: UInt8, _ name: String, _ content: Data) -> Data {
            let count = name.utf8.count + content.count + 2
            return Data([0xFF, marker, UInt8(count >> 8), UInt8(count & 255)]) + Data(name.utf8) + content
        }
        // An image resource with the identifier of IPTC, an empty name, and its size.
        let resource = Data("8BIM".utf8) + Data([4, 4, 0, 0, 0, 0, 0, UInt8(iptc.count)]) + iptc
        let segments = [
            segment(0xE1, "Exif\0\0", exif), segment(0xE1, "http://ns.adobe.com/xap/1.0/\0", xmp),
            segment(
                0xE1, "http://ns.adobe.com/xmp/extension/\0",
                Data(repeating: 0x41, count: 32) + Data([0, 0, 0, UInt8(furtherXMP.count), 0, 0, 0, 0]) + furtherXMP),
            segment(0xED, "Photoshop 3.0\0", resource), segment(0xFE, "", comment),
        ]
        // After the marker of the start of the image.
        return Data(file.prefix(2)) + Data(segments.joined()) + Data(file.dropFirst(2))
    }

    /// Returns a PNG with the metadata in its chunks. IPTC is in the text of ImageMagick.
    package static func png(_ file: Data, exif: Data) -> Data {
        let text = Data("Raw profile type iptc\0\niptc\n \(iptc.count)\n".utf8) + hexadecimalIPTC + Data("\n".utf8)
        return png(
            file,
            adding: [
                ("eXIf", exif), ("iTXt", Data("XML:com.adobe.xmp\0\0\0\0\0".utf8) + xmp), ("tEXt", text),
                ("tEXt", Data("Comment\0".utf8) + comment),
            ])
    }

    /// Returns a PNG with more chunks after its header.
    package static func png(_ file: Data, adding chunks: [(name: String, content: Data)]) -> Data {
        func number(_ value: UInt32) -> Data { Data([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }) }
        func chunk(_ name: String, _ content: Data) -> Data {
            let body = Data(name.utf8) + content
            let checksum = body.reduce(UInt32.max) { sum, byte in
                (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
            }
            return number(UInt32(content.count)) + body + number(~checksum)
        }
        // After the signature and the header.
        return Data(file.prefix(33)) + Data(chunks.map(chunk).joined()) + Data(file.dropFirst(33))
    }
}
