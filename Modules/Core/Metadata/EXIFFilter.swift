package import FoundationEssentials

extension ImageMetadata {
    /// EXIF data that contains only tags without location information, such as camera, exposure, dates, author, owner
    /// and copyright.
    ///
    /// Only tags listed in `EXIFFilter` are kept, because an unknown tag may hold a location. The GPS directory, time
    /// zones, maker notes, comments, IPTC and XMP records, private tags and the preview image of the original are
    /// removed. Damaged entries are removed too, as are entries whose values share bytes with the GPS directory. The
    /// value is nil when there is no EXIF data, or when the data has no valid header or no valid entry with one of
    /// these tags. It is also nil when the result would be longer than the data, for example because entries of the
    /// data share bytes. O(bytes).
    var exifWithoutLocation: Data? {
        filteredEXIF(imageTags: EXIFFilter.imageTags, photoTags: EXIFFilter.photoTags)
    }

    /// EXIF data that contains only the artist, the copyright and the color space. Nil under the same conditions as
    /// ``exifWithoutLocation``. O(bytes).
    var exifWithCopyright: Data? { filteredEXIF(imageTags: [0x013B, 0x8298], photoTags: [0xA001]) }

    /// Returns whether EXIF data has the values of other data in its directories, with the same byte order. Damaged
    /// entries, previews and what TIFF has outside EXIF do not count: the size, the form of the pixels, the orientation
    /// and the resolution. O(bytes), unless entries share bytes.
    package static func hasValues(of other: Data, in exif: Data) -> Bool {
        let (bytes, otherBytes) = ([UInt8](exif), [UInt8](other))
        guard let filter = EXIFFilter(bytes.span.bytes), let otherFilter = EXIFFilter(otherBytes.span.bytes) else {
            return false
        }
        return filter.hasValues(of: otherFilter)
    }

    private func filteredEXIF(imageTags: Set<Int>, photoTags: Set<Int>) -> Data? {
        exif.flatMap { data in
            data.withUnsafeBytes { EXIFFilter($0.bytes)?.filtered(imageTags: imageTags, photoTags: photoTags) }
        }
    }
}

/// A filter that copies known tags of EXIF data. It reads only bytes inside the data. Its result is never longer than
/// the data.
///
/// Source: CIPA DC-008 (Exif 2.32), sections 4.6.4 and 4.6.5; TIFF 6.0, section 2.
private struct EXIFFilter: ~Escapable {
    /// One entry of a directory. The value has the byte order of the data.
    private struct Entry {
        var tag: Int
        var type: Int
        var count: Int
        var value: [UInt8]
    }

    /// One entry of a directory as it is stored.
    private struct StoredEntry {
        var tag: Int
        var type: Int
        var count: Int
        /// The bytes of the value; nil for an unknown type, and for a value that is not within the data.
        var value: Range<Int>?
        /// The bytes of a value that is not in the entry itself.
        var longValue: Range<Int>? { value.flatMap { $0.count > 4 ? $0 : nil } }
    }

    /// Description, maker, model, orientation, resolution, software, date, artist, copyright.
    static let imageTags: Set = [
        0x010E, 0x010F, 0x0110, 0x0112, 0x011A, 0x011B, 0x0128, 0x0131, 0x0132, 0x013B, 0x8298,
    ]
    /// Exposure, sensitivity, version, dates without time zones, lens, light, color space, scene, the name of the
    /// camera's owner, and the serial numbers of camera and lens.
    static let photoTags: Set = [
        0x829A, 0x829D, 0x8822, 0x8827, 0x8830, 0x8831, 0x8832, 0x8833, 0x8834, 0x8835, 0x9000, 0x9003, 0x9004, 0x9201,
        0x9202, 0x9203, 0x9204, 0x9205, 0x9206, 0x9207, 0x9208, 0x9209, 0x920A, 0x9290, 0x9291, 0x9292, 0xA001, 0xA217,
        0xA300, 0xA301, 0xA401, 0xA402, 0xA403, 0xA404, 0xA405, 0xA406, 0xA408, 0xA409, 0xA40A, 0xA40C, 0xA430, 0xA431,
        0xA432, 0xA433, 0xA434, 0xA435,
    ]
    /// The tag that points to the directory of the photo tags.
    private static let photoDirectory = 0x8769
    /// The tag that points to the GPS directory.
    private static let locationDirectory = 0x8825
    /// The tag of the photo directory that points to a third one.
    private static let interoperabilityDirectory = 0xA005

    private let tiff: RawSpan
    private let bigEndian: Bool

    /// Creates a filter. Returns nil when the data has no TIFF header.
    @_lifetime(copy tiff)
    init?(_ tiff: RawSpan) {
        guard let bigEndian = TIFF.isBigEndian(tiff) else { return nil }
        self.tiff = tiff
        self.bigEndian = bigEndian
    }

    /// Returns the data with only these tags of the image and of its photo directory.
    func filtered(imageTags: Set<Int>, photoTags: Set<Int>) -> Data? {
        guard let first = number(at: 4, bytes: 4), first >= 8 else { return nil }
        let location = locationBytes(of: first)
        var image = entries(at: first, in: imageTags, outside: location)
        let photoStart = TIFF.directory(Self.photoDirectory, of: first, in: tiff, bigEndian: bigEndian)
        let photo = photoStart.map { entries(at: $0, in: photoTags, outside: location) } ?? []
        guard !image.isEmpty || !photo.isEmpty else { return nil }
        var bytes = Array((0..<4).map { tiff.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }) + encoded(8, bytes: 4)
        if !photo.isEmpty {
            image.append(Entry(tag: Self.photoDirectory, type: 4, count: 1, value: encoded(0, bytes: 4)))
            image.sort { $0.tag < $1.tag }
            // The photo directory follows the image directory, whose length does not depend on the value of the
            // pointer.
            let start = 8 + directory(image, at: 8).count
            image = image.map { entry in
                var entry = entry
                if entry.tag == Self.photoDirectory { entry.value = encoded(start, bytes: 4) }
                return entry
            }
        }
        bytes += directory(image, at: 8)
        if !photo.isEmpty { bytes += directory(photo, at: bytes.count) }
        // Entries can refer to overlapping values, which are written once for each entry, so the result can be longer
        // than the data.
        return bytes.count <= tiff.byteCount ? Data(bytes) : nil
    }

    /// The tags of the first directory that TIFF has outside EXIF.
    private static let pixelTags: Set = [
        0x0100, 0x0101, 0x0102, 0x0103, 0x0106, 0x0112, 0x0115, 0x011A, 0x011B, 0x011C, 0x0128, 0x012D, 0x013E, 0x013F,
        0x0211, 0x0212, 0x0213, 0x0214,
    ]

    /// Returns whether the data has the values of other data, as `ImageMetadata.hasValues(of:in:)` tells.
    func hasValues(of other: EXIFFilter) -> Bool {
        guard bigEndian == other.bigEndian, let first = number(at: 4, bytes: 4),
            let otherFirst = other.number(at: 4, bytes: 4)
        else { return false }
        return hasValues(of: other, at: otherFirst, in: first, except: Self.pixelTags, depth: 0)
    }

    private func hasValues(
        of other: EXIFFilter, at otherStart: Int, in start: Int, except ignored: Set<Int>, depth: Int
    ) -> Bool {
        let found = Dictionary(storedEntries(at: start).map { ($0.tag, $0) }) { first, _ in first }
        var seen = ignored
        for entry in other.storedEntries(at: otherStart) where seen.insert(entry.tag).inserted {
            guard let value = entry.value else { continue }
            guard let copy = found[entry.tag], let copied = copy.value else { return false }
            if [Self.photoDirectory, Self.locationDirectory, Self.interoperabilityDirectory].contains(entry.tag) {
                // Directories refer to at most two others, one after the other.
                guard depth < 2, let next = number(at: copied.lowerBound, bytes: 4),
                    let otherNext = other.number(at: value.lowerBound, bytes: 4),
                    hasValues(of: other, at: otherNext, in: next, except: [], depth: depth + 1)
                else { return false }
                continue
            }
            // A text can have more zeros at its end, and type 129 is text, too.
            let isText = [2, 129].contains(entry.type) && [2, 129].contains(copy.type)
            let (content, copiedContent) = isText ? (other.text(value), text(copied)) : (value, copied)
            guard isText || entry.type == copy.type, content.count == copiedContent.count else { return false }
            for index in 0..<content.count
            where other.byte(content.lowerBound + index) != byte(copiedContent.lowerBound + index) { return false }
        }
        return true
    }

    private func byte(_ offset: Int) -> UInt8 { tiff.unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

    /// Returns the range of a text without the zeros at its end.
    private func text(_ value: Range<Int>) -> Range<Int> {
        var end = value.upperBound
        while end > value.lowerBound, byte(end - 1) == 0 { end -= 1 }
        return value.lowerBound..<end
    }

    /// Returns the bytes of the GPS directory, of its long values, and of nothing else.
    private func locationBytes(of directory: Int) -> [Range<Int>] {
        guard let start = TIFF.directory(Self.locationDirectory, of: directory, in: tiff, bigEndian: bigEndian)
        else { return [] }
        let entries = storedEntries(at: start)
        return [start..<start + 2 + 12 * entries.count] + entries.compactMap(\.longValue)
    }

    /// Returns the entries with one of `tags` in the directory at an offset, sorted by tag, with at most one entry for
    /// each tag. Skips entries of an unknown type, entries whose values are not within the data, and entries whose
    /// long values overlap `hidden`.
    private func entries(at directory: Int, in tags: Set<Int>, outside hidden: [Range<Int>]) -> [Entry] {
        var entries: [Entry] = []
        var rest = tags
        for entry in storedEntries(at: directory) where rest.contains(entry.tag) {
            guard let range = entry.value else { continue }
            if let long = entry.longValue, hidden.contains(where: long.overlaps) { continue }
            rest.remove(entry.tag)
            let value = range.map { tiff.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
            entries.append(Entry(tag: entry.tag, type: entry.type, count: entry.count, value: value))
        }
        return entries.sorted { $0.tag < $1.tag }
    }

    /// Returns the entries of the directory at an offset that are within the data.
    private func storedEntries(at directory: Int) -> [StoredEntry] {
        guard let count = number(at: directory, bytes: 2) else { return [] }
        var entries: [StoredEntry] = []
        for index in 0..<count {
            let start = directory + 2 + 12 * index
            guard let tag = number(at: start, bytes: 2), let type = number(at: start + 2, bytes: 2),
                let storedCount = number(at: start + 4, bytes: 4), number(at: start + 8, bytes: 4) != nil
            else { break }
            var entry = StoredEntry(tag: tag, type: type, count: TIFF.valueCount(storedCount))
            // At most 2^32 × 8, so the product cannot overflow.
            if let size = TIFF.byteCount(ofType: type).map({ entry.count * $0 }),
                let offset = size <= 4 ? start + 8 : number(at: start + 8, bytes: 4),
                offset <= tiff.byteCount, size <= tiff.byteCount - offset
            {
                entry.value = offset..<offset + size
            }
            entries.append(entry)
        }
        return entries
    }

    /// Returns the bytes of a directory that will be at offset `start`, without a next directory. The values that do
    /// not fit into the entries follow the directory.
    private func directory(_ entries: [Entry], at start: Int) -> [UInt8] {
        var bytes = encoded(entries.count, bytes: 2)
        var values: [UInt8] = []
        let valueStart = start + 2 + 12 * entries.count + 4
        for entry in entries {
            bytes += encoded(entry.tag, bytes: 2) + encoded(entry.type, bytes: 2) + encoded(entry.count, bytes: 4)
            if entry.value.count <= 4 {
                bytes += entry.value + [UInt8](repeating: 0, count: 4 - entry.value.count)
            } else {
                bytes += encoded(valueStart + values.count, bytes: 4)
                // Values begin at even offsets.
                values += entry.value + [UInt8](repeating: 0, count: entry.value.count % 2)
            }
        }
        return bytes + [0, 0, 0, 0] + values
    }

    private func number(at offset: Int, bytes: Int) -> Int? {
        TIFF.number(in: tiff, at: offset, bytes: bytes, bigEndian: bigEndian)
    }

    private func encoded(_ number: Int, bytes: Int) -> [UInt8] {
        let little = (0..<bytes).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        return bigEndian ? little.reversed() : little
    }
}
