package import AlcedoCore
package import Foundation

/// EXIF data of a photo with a location.
package enum MadeEXIF {
    package static let maker = Data("Alcedo Cameras\0\0".utf8)
    package static let date = Data("2026:01:02 03:04:05\0".utf8)
    package static let artist = Data("Ada Photographer\0\0".utf8)
    package static let copyright = Data("All rights: Ada\0".utf8)
    package static let comment = Data("ASCII\0\0\0in the garden at home\0".utf8)
    /// The latitude in big-endian data.
    package static let latitude = TIFFMaker().latitude
    /// Camera makers repeat the location in their own tag.
    package static let makerNote = Data("maker knows the place\0".utf8) + latitude
    /// A comment in the preview image.
    package static let preview = Data("a preview of the garden\0".utf8)
    package static let photo = made(orientation: 6)

    /// The parts that are a location or may contain one, in both byte orders.
    package static let secrets = [latitude, TIFFMaker(isLittleEndian: true).latitude, makerNote, comment, preview]

    /// Returns the data as a camera writes it.
    ///
    /// - Parameters:
    ///   - orientation: The value of the orientation tag.
    ///   - size: The values of the tags of the width and the height.
    ///   - isLittleEndian: Whether the byte order is that of most cameras. Default: false.
    ///   - hasPreview: Whether the preview image is linked and present. Without it, the data is that of an encoder.
    ///     Default: true.
    package static func made(
        orientation: Int, size: PixelSize = PixelSize(width: 4000, height: 3000), isLittleEndian: Bool = false,
        hasPreview: Bool = true
    ) -> Data {
        let maker = TIFFMaker(isLittleEndian: isLittleEndian)
        func first(photo: Int, place: Int, preview: Int) -> Data {
            maker.directory(
                [
                    maker.long(0x0100, size.width), maker.long(0x0101, size.height), .text(0x010F, Self.maker),
                    maker.short(0x0112, orientation), .text(0x013B, artist), .text(0x8298, copyright),
                    maker.long(0x8769, photo), maker.long(0x8825, place),
                ], at: 8, next: hasPreview ? preview : 0)
        }
        let photoStart = 8 + first(photo: 0, place: 0, preview: 0).count
        let photo = maker.directory(
            [
                .text(0x9003, date), .bytes(0x927C, makerNote), .bytes(0x9286, comment), maker.short(0xA001, 1),
                maker.short(0xA002, size.width), maker.short(0xA003, size.height),
            ], at: photoStart)
        let placeStart = photoStart + photo.count
        let place = maker.place(at: placeStart)
        let previewStart = placeStart + place.count
        let preview = maker.preview
        func thumbnail(image: Int) -> Data {
            maker.directory(
                [maker.short(0x0103, 6), maker.long(0x0201, image), maker.long(0x0202, preview.count)],
                at: previewStart)
        }
        let end = previewStart + thumbnail(image: 0).count
        let parts = [
            maker.header, first(photo: photoStart, place: placeStart, preview: previewStart), photo, place,
            thumbnail(image: end), hasPreview ? preview : Data(),
        ]
        return Data(parts.joined())
    }

    /// Returns the tags of a directory in big-endian data, each with its value or the value's offset.
    package static func tags(of exif: Data, at start: Int) -> [(tag: Int, value: Int)] {
        let bytes = [UInt8](exif)
        func number(_ offset: Int, _ count: Int) -> Int {
            bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
        }
        return (0..<number(start, 2)).map { index in
            (number(start + 2 + 12 * index, 2), number(start + 2 + 12 * index + 8, 4))
        }
    }
}

/// Writes the parts of TIFF data in one byte order.
private struct TIFFMaker {
    struct Value {
        var tag: Int
        var type: Int
        var count: Int
        var bytes: Data

        static func text(_ tag: Int, _ bytes: Data) -> Value {
            Value(tag: tag, type: 2, count: bytes.count, bytes: bytes)
        }

        static func bytes(_ tag: Int, _ bytes: Data) -> Value {
            Value(tag: tag, type: 7, count: bytes.count, bytes: bytes)
        }
    }

    var isLittleEndian = false

    var header: Data { Data((isLittleEndian ? "II*\0" : "MM\0*").utf8) + number(8, 4) }

    /// Degrees, minutes and seconds as three fractions.
    var latitude: Data { [47, 1, 11, 13, 59, 1].reduce(Data()) { $0 + number($1, 4) } }

    /// A JPEG with EXIF of its own, which repeats the location.
    var preview: Data {
        let exif = Data("Exif\0\0".utf8) + header + directory([long(0x8825, 26)], at: 8) + place(at: 26)
        let content = exif + MadeEXIF.preview
        return Data([0xFF, 0xD8, 0xFF, 0xE1, 0, UInt8(content.count + 2)]) + content + Data([0xFF, 0xD9])
    }

    /// Returns the directory of the location.
    func place(at start: Int) -> Data {
        directory([.text(0x0001, Data("N\0".utf8)), Value(tag: 0x0002, type: 5, count: 3, bytes: latitude)], at: start)
    }

    func short(_ tag: Int, _ value: Int) -> Value { Value(tag: tag, type: 3, count: 1, bytes: number(value, 2)) }

    func long(_ tag: Int, _ value: Int) -> Value { Value(tag: tag, type: 4, count: 1, bytes: number(value, 4)) }

    func directory(_ values: [Value], at start: Int, next: Int = 0) -> Data {
        var (bytes, long) = (number(values.count, 2), Data())
        for value in values {
            bytes += number(value.tag, 2) + number(value.type, 2) + number(value.count, 4)
            if value.bytes.count <= 4 {
                bytes += value.bytes + Data(repeating: 0, count: 4 - value.bytes.count)
            } else {
                bytes += number(start + 2 + 12 * values.count + 4 + long.count, 4)
                long += value.bytes
            }
        }
        return bytes + number(next, 4) + long
    }

    private func number(_ value: Int, _ count: Int) -> Data {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return Data(isLittleEndian ? bytes : bytes.reversed())
    }
}
