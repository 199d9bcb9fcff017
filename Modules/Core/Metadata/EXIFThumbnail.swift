package import FoundationEssentials

/// The thumbnail in EXIF data: a JPEG that the second directory describes.
///
/// Source: CIPA DC-008 (Exif 2.32), sections 4.5.5 and 4.6.4.
extension ImageMetadata {
    /// Returns EXIF data with a thumbnail. A second directory of the data is replaced; its bytes stay.
    ///
    /// - Parameters:
    ///   - exif: The EXIF data, starting with the TIFF header, or an empty array.
    ///   - thumbnail: A JPEG.
    /// - Returns: nil if the first directory is not within the data, and if the result would have more than
    ///   ``maximumEXIFByteCount`` bytes.
    package static func exif(_ exif: [UInt8], adding thumbnail: Data) -> [UInt8]? {
        // A directory has at least one entry.
        var bytes = exif.isEmpty ? ImageOrientation.up.exif : exif
        guard let (bigEndian, link) = thumbnailLink(in: bytes.span.bytes) else { return nil }
        func number(_ value: Int, _ count: Int) -> [UInt8] { TIFF.bytes(value, count: count, bigEndian: bigEndian) }
        func short(_ tag: Int, _ value: Int) -> [UInt8] {
            number(tag, 2) + number(3, 2) + number(1, 4) + number(value, 2) + [0, 0]
        }
        func entry(_ tag: Int, type: Int, _ value: Int) -> [UInt8] {
            number(tag, 2) + number(type, 2) + number(1, 4) + number(value, 4)
        }
        // A directory begins at an even offset.
        bytes += Array(repeating: 0, count: bytes.count % 2)
        let start = bytes.count
        let entryCount = 6
        let resolution = start + 2 + 12 * entryCount + 4
        let content = resolution + 8
        guard content + thumbnail.count <= maximumEXIFByteCount else { return nil }
        bytes.replaceSubrange(link..<link + 4, with: number(start, 4))
        bytes += number(entryCount, 2)
        bytes += short(0x0103, 6)  // compression: JPEG
        bytes += entry(0x011A, type: 5, resolution) + entry(0x011B, type: 5, resolution)  // 72 pixels per inch
        bytes += short(0x0128, 2)
        bytes += entry(0x0201, type: 4, content) + entry(0x0202, type: 4, thumbnail.count)
        bytes += number(0, 4)  // no further directory
        bytes += number(72, 4) + number(1, 4)
        bytes += thumbnail
        return bytes
    }

    /// Returns the bytes of the thumbnail in EXIF data if it begins like a JPEG, or nil.
    package static func thumbnail(in exif: Data) -> Data? {
        exif.withUnsafeBytes { memory -> Data? in
            let tiff = memory.bytes
            guard let (bigEndian, link) = thumbnailLink(in: tiff),
                let directory = TIFF.number(in: tiff, at: link, bytes: 4, bigEndian: bigEndian), directory > 0,
                let start = TIFF.integer(0x0201, of: directory, in: tiff, bigEndian: bigEndian),
                let count = TIFF.integer(0x0202, of: directory, in: tiff, bigEndian: bigEndian),
                tiff.contains([0xFF, 0xD8, 0xFF], at: start), count > 3, count <= tiff.byteCount - start
            else { return nil }
            return Data(memory[start..<start + count])
        }
    }

    /// Returns the byte order, and the offset of the link from the first directory to the second one.
    private static func thumbnailLink(in tiff: RawSpan) -> (bigEndian: Bool, offset: Int)? {
        guard let bigEndian = TIFF.isBigEndian(tiff),
            let image = TIFF.number(in: tiff, at: 4, bytes: 4, bigEndian: bigEndian),
            let count = TIFF.number(in: tiff, at: image, bytes: 2, bigEndian: bigEndian)
        else { return nil }
        let link = image + 2 + 12 * count
        guard link <= tiff.byteCount - 4 else { return nil }
        return (bigEndian, link)
    }
}
