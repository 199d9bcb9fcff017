package import FoundationEssentials

extension ImageMetadata {
    /// Returns the EXIF data that an encoder writes with an image, as ``ImageOrientation/written(in:size:)`` does, and
    /// with the resolution. Empty when there is nothing to write. O(bytes).
    ///
    /// - Parameters:
    ///   - orientation: The orientation of the encoded rows.
    ///   - size: The size of the encoded rows, before the orientation is applied.
    ///   - holdsResolution: Whether the format stores the resolution outside EXIF, too. Tags for it are then changed,
    ///     but not added.
    package func writtenEXIF(_ orientation: ImageOrientation, _ size: PixelSize, holdsResolution: Bool) -> [UInt8] {
        let bytes = orientation.written(in: exif, size: size)
        guard let resolution, resolution.isValid else { return bytes }
        if let old = ImageResolution(exif: bytes.span.bytes) {
            guard !resolution.keeps(old) else { return bytes }
        } else if holdsResolution {
            return bytes
        }
        return TIFF.inserting(resolution.exifEntries, into: bytes.isEmpty ? TIFF.empty : bytes) ?? bytes
    }
}

extension ImageOrientation {
    /// Returns the EXIF data that an encoder writes with an image of this orientation and size. Empty when there is
    /// nothing to write.
    ///
    /// The tags of the width and the height, if there are any, get those of the image. The preview image is removed,
    /// because it shows the original instead of the encoded image: no directory follows the first one, and the bytes of
    /// the preview are zero or cut off. The orientation is written as by ``written(in:)``. O(bytes).
    ///
    /// - Parameters:
    ///   - exif: The data to write; nil for none.
    ///   - size: The size of the encoded rows, before the orientation is applied.
    package func written(in exif: Data?, size: PixelSize) -> [UInt8] {
        guard let exif, var editor = EXIFEditor(exif) else { return written(in: exif) }
        editor.setSize(size)
        editor.removePreview()
        return written(in: Data(editor.bytes))
    }
}

/// EXIF data that is changed in place, because the offsets in maker notes may be absolute. Entries and values that are
/// not within the data are ignored.
///
/// Source: CIPA DC-008 (Exif 2.32), sections 4.5, 4.6.4 and 4.6.5; TIFF 6.0, section 2.
private struct EXIFEditor {
    private(set) var bytes: [UInt8]
    private let bigEndian: Bool
    /// The offset of the first directory, which describes the image.
    private let image: Int

    /// Creates an editor. Returns nil when the data has no TIFF header.
    init?(_ exif: Data) {
        let bytes = [UInt8](exif)
        guard let bigEndian = TIFF.isBigEndian(bytes.span.bytes),
            let image = TIFF.number(in: bytes.span.bytes, at: 4, bytes: 4, bigEndian: bigEndian)
        else { return nil }
        (self.bytes, self.bigEndian, self.image) = (bytes, bigEndian, image)
    }

    /// Sets the tags of the width and the height.
    mutating func setSize(_ size: PixelSize) {
        set(0x0100, of: image, to: size.width)
        set(0x0101, of: image, to: size.height)
        let photo = TIFF.directory(0x8769, of: image, in: bytes.span.bytes, bigEndian: bigEndian)
        guard let photo else { return }
        set(0xA002, of: photo, to: size.width)
        set(0xA003, of: photo, to: size.height)
    }

    /// Removes the link to the second directory, which describes the preview, and the bytes of the preview.
    mutating func removePreview() {
        guard let count = TIFF.number(in: bytes.span.bytes, at: image, bytes: 2, bigEndian: bigEndian) else { return }
        let link = image + 2 + 12 * count
        let preview = TIFF.number(in: bytes.span.bytes, at: link, bytes: 4, bigEndian: bigEndian)
        guard let preview, preview != 0 else { return }
        // The bytes of a JPEG, or the strips of an uncompressed preview.
        let parts = ranges(0x0201, lengths: 0x0202, of: preview) + ranges(0x0111, lengths: 0x0117, of: preview)
        bytes.replaceSubrange(link..<link + 4, with: [0, 0, 0, 0])
        // Parts of damaged data may overlap. The header and the first directory are kept.
        var cleared = 8..<8
        for part in parts.sorted(by: { $0.lowerBound < $1.lowerBound }) where !part.overlaps(image..<link + 4) {
            let start = max(part.lowerBound, cleared.upperBound)
            cleared = start..<max(part.upperBound, start)
            for index in cleared { bytes[index] = 0 }
        }
        if cleared.upperBound == bytes.count { bytes.removeSubrange(cleared) }
    }

    /// Sets a tag to a number if the directory has the tag. A SHORT stays a SHORT if the number fits, and every other
    /// type becomes a LONG.
    private mutating func set(_ tag: Int, of directory: Int, to value: Int) {
        guard let entry = TIFF.entry(tag, of: directory, in: bytes.span.bytes, bigEndian: bigEndian),
            entry.offset + 12 <= bytes.count
        else { return }
        if entry.type == 3, value <= 0xFFFF {
            TIFF.setShort(value, at: entry, of: &bytes, bigEndian: bigEndian)
        } else {
            let content =
                TIFF.bytes(4, count: 2, bigEndian: bigEndian) + TIFF.bytes(1, count: 4, bigEndian: bigEndian)
                + TIFF.bytes(value, count: 4, bigEndian: bigEndian)
            bytes.replaceSubrange(entry.offset + 2..<entry.offset + 12, with: content)
        }
    }

    /// Returns the parts of the data whose offsets and lengths are the values of two tags.
    private func ranges(_ offsets: Int, lengths: Int, of directory: Int) -> [Range<Int>] {
        zip(numbers(offsets, of: directory), numbers(lengths, of: directory)).map { offset, length in
            min(offset, bytes.count)..<min(offset + length, bytes.count)
        }
    }

    /// Returns the values of a tag of an integer type, or an empty array if there is no such tag.
    private func numbers(_ tag: Int, of directory: Int) -> [Int] {
        let span = bytes.span.bytes
        guard let entry = TIFF.integerEntry(tag, of: directory, in: span, bigEndian: bigEndian) else { return [] }
        return (0..<entry.count).compactMap { index in
            TIFF.integer(index, of: entry, in: span, bigEndian: bigEndian).flatMap { $0 >= 0 ? $0 : nil }
        }
    }
}
