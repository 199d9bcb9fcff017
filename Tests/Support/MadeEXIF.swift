package import Foundation

/// EXIF data of a photo with a location.
package enum MadeEXIF {
    package static let maker = Data("Alcedo Cameras\0\0".utf8)
    package static let date = Data("2026:01:02 03:04:05\0".utf8)
    package static let artist = Data("Ada Photographer\0\0".utf8)
    package static let copyright = Data("All rights: Ada\0".utf8)
    /// Camera makers repeat the location in their own tag.
    package static let makerNote = Data("maker knows the place\0".utf8) + latitude
    package static let comment = Data("ASCII\0\0\0in the garden at home\0".utf8)
    package static let latitude = Data([0, 0, 0, 47, 0, 0, 0, 1, 0, 0, 0, 11, 0, 0, 0, 13, 0, 0, 0, 59, 0, 0, 0, 1])
    package static let preview = Data("a preview of the garden\0".utf8)
    package static let photo = made(orientation: 6)

    private struct Value {
        var tag: Int
        var type: Int
        var count: Int
        var bytes: Data

        init(_ tag: Int, _ type: Int, _ count: Int, _ bytes: Data) {
            (self.tag, self.type, self.count, self.bytes) = (tag, type, count, bytes)
        }

        init(_ tag: Int, offset: Int) { self.init(tag, 4, 1, number(offset, 4)) }
    }

    private static func number(_ value: Int, _ bytes: Int) -> Data {
        Data((0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
    }

    private static func directory(_ values: [Value], at start: Int, next: Int = 0) -> Data {
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

    package static func made(orientation: Int) -> Data {
        func first(photo: Int, place: Int, preview: Int) -> Data {
            directory(
                [
                    Value(0x010F, 2, maker.count, maker), Value(0x0112, 3, 1, number(orientation, 2)),
                    Value(0x013B, 2, artist.count, artist), Value(0x8298, 2, copyright.count, copyright),
                    Value(0x8769, offset: photo), Value(0x8825, offset: place),
                ], at: 8, next: preview)
        }
        let photoStart = 8 + first(photo: 0, place: 0, preview: 0).count
        let photo = directory(
            [
                Value(0x9003, 2, date.count, date), Value(0x927C, 7, makerNote.count, makerNote),
                Value(0x9286, 7, comment.count, comment), Value(0xA001, 3, 1, number(1, 2)),
            ], at: photoStart)
        let placeStart = photoStart + photo.count
        let place = directory([Value(0x0002, 5, 3, latitude)], at: placeStart)
        let previewStart = placeStart + place.count
        let thumbnail = directory([Value(0x0201, 7, preview.count, preview)], at: previewStart)
        return Data("MM\0*".utf8) + number(8, 4)
            + first(photo: photoStart, place: placeStart, preview: previewStart) + photo + place + thumbnail
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
