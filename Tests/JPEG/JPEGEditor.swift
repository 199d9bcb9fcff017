import Foundation

/// Changes JPEG files segment by segment.
enum JPEGEditor {
    /// Returns a marker and its segment.
    static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = content.count + 2
        return [0xFF, marker, UInt8(length >> 8), UInt8(length & 0xFF)] + content
    }

    static func exif(orientation: UInt8) -> [UInt8] {
        let directory: [UInt8] = [1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0]
        return segment(0xE1, Array("Exif\0\0II*\0".utf8) + [8, 0, 0, 0] + directory)
    }

    /// Returns one part of a profile of `count` parts.
    static func profile(_ part: some Sequence<UInt8>, number: UInt8, of count: UInt8) -> [UInt8] {
        segment(0xE2, Array("ICC_PROFILE\0".utf8) + [number, count] + Array(part))
    }

    /// Returns the file with more segments after the start of the image.
    static func inserting(_ segments: [UInt8], into file: Data) -> Data {
        Data(file.prefix(2)) + Data(segments) + Data(file.dropFirst(2))
    }

    /// Returns the range of the `index`th segment with this marker, including the marker, and for a scan its data.
    static func range(of marker: UInt8, _ index: Int = 0, in file: Data) -> Range<Int>? {
        let bytes = Array(file)
        var seen = 0
        var start = 2
        while start + 4 <= bytes.count, bytes[start] == 0xFF, bytes[start + 1] != 0xD9 {
            var end = start + 2 + Int(bytes[start + 2]) << 8 + Int(bytes[start + 3])
            if bytes[start + 1] == 0xDA {
                while end + 1 < bytes.count, !(bytes[end] == 0xFF && isMarker(bytes[end + 1])) { end += 1 }
            }
            if bytes[start + 1] == marker {
                if seen == index { return start..<end }
                seen += 1
            }
            start = end
        }
        return nil
    }

    /// Returns the range of the entropy-coded data of the first scan.
    static func data(in file: Data) -> Range<Int>? {
        guard let scan = range(of: 0xDA, in: file) else { return nil }
        return scan.lowerBound + 4 + Int(file[scan.lowerBound + 3]) - 2..<scan.upperBound
    }

    /// Returns the file with another size in its frame header.
    static func resizing(_ file: Data, to width: UInt16, _ height: UInt16) -> Data {
        guard let frame = range(of: 0xC0, in: file) ?? range(of: 0xC2, in: file) else { return file }
        var changed = file
        let sides = [height >> 8, height & 0xFF, width >> 8, width & 0xFF].map { UInt8($0) }
        changed.replaceSubrange(frame.lowerBound + 5..<frame.lowerBound + 9, with: sides)
        return changed
    }

    /// Returns whether a byte after FF ends entropy-coded data, that is, is neither a stuffed zero nor a restart.
    private static func isMarker(_ byte: UInt8) -> Bool { byte != 0 && !(0xD0...0xD7).contains(byte) }
}
