package import FoundationEssentials

/// Parsing and editing of TIFF data, the format of EXIF. Source: TIFF 6.0, section 2.
enum TIFF {
    /// Returns whether numbers are big-endian, or nil when the data has no TIFF header.
    static func isBigEndian(_ tiff: RawSpan) -> Bool? {
        if tiff.contains(Array("II*\0".utf8)) { return false }
        return tiff.contains(Array("MM\0*".utf8)) ? true : nil
    }

    /// Returns the number at an offset, or nil when it is not within the data.
    static func number(in tiff: RawSpan, at offset: Int, bytes: Int, bigEndian: Bool) -> Int? {
        guard offset >= 0, offset <= tiff.byteCount - bytes else { return nil }
        return (0..<bytes).reduce(0) { value, index in
            let byte = Int(tiff.unsafeLoad(fromByteOffset: offset + index, as: UInt8.self))
            return bigEndian ? value << 8 | byte : value | byte << (8 * index)
        }
    }

    /// An entry of a directory, whose values are within the data.
    struct Entry {
        var offset: Int
        /// The number of the type: 2 or 129 for text, 3 for a SHORT, 4 for a LONG.
        var type: Int
        var count: Int
        /// The offset of the values. Values of at most four bytes are stored in the entry.
        var values: Int
    }

    /// Returns the number of bytes of one value of a type, or nil for an unknown type. Type 13, IFD, is a LONG that
    /// points to a directory, and 129 is text in UTF-8. Source: also CIPA DC-008 (Exif 3.0), section 4.6.2.
    static func byteCount(ofType type: Int) -> Int? {
        switch type {
        case 1, 2, 6, 7, 129: 1
        case 3, 8: 2
        case 4, 9, 11, 13: 4
        case 5, 10, 12: 8
        default: nil
        }
    }

    /// Returns the number of values for the count that an entry stores. Some writers store a count of 0 with one value.
    static func valueCount(_ storedCount: Int) -> Int { max(1, storedCount) }

    /// Returns the first entry of a tag, or nil when the directory is damaged before it, has no such tag, or the values
    /// are not within the data.
    static func entry(_ tag: Int, of directory: Int, in tiff: RawSpan, bigEndian: Bool) -> Entry? {
        func number(at offset: Int, bytes: Int) -> Int? {
            Self.number(in: tiff, at: offset, bytes: bytes, bigEndian: bigEndian)
        }
        guard let count = number(at: directory, bytes: 2) else { return nil }
        for index in 0..<count {
            let entry = directory + 2 + 12 * index
            guard let found = number(at: entry, bytes: 2) else { return nil }
            guard found == tag else { continue }
            guard let type = number(at: entry + 2, bytes: 2), let typeSize = byteCount(ofType: type),
                let storedCount = number(at: entry + 4, bytes: 4)
            else { return nil }
            let valueCount = valueCount(storedCount)
            // At most 2^32 × 8, so the product cannot overflow.
            let size = valueCount * typeSize
            guard let values = size <= 4 ? entry + 8 : number(at: entry + 8, bytes: 4),
                values <= tiff.byteCount, size <= tiff.byteCount - values
            else { return nil }
            return Entry(offset: entry, type: type, count: valueCount, values: values)
        }
        return nil
    }

    /// Returns the entry of a tag if its values are integers.
    static func integerEntry(_ tag: Int, of directory: Int, in tiff: RawSpan, bigEndian: Bool) -> Entry? {
        guard let entry = entry(tag, of: directory, in: tiff, bigEndian: bigEndian),
            [1, 3, 4, 6, 8, 9, 13].contains(entry.type)
        else { return nil }
        return entry
    }

    /// Returns the first value of a tag, or nil if it is not an integer. Writers do not agree on the type, so every
    /// integer type is read: BYTE, SHORT, LONG, SBYTE, SSHORT, SLONG and IFD.
    static func integer(_ tag: Int, of directory: Int, in tiff: RawSpan, bigEndian: Bool) -> Int? {
        integerEntry(tag, of: directory, in: tiff, bigEndian: bigEndian).flatMap {
            integer(0, of: $0, in: tiff, bigEndian: bigEndian)
        }
    }

    /// Returns one of the values of an integer entry.
    static func integer(_ index: Int, of entry: Entry, in tiff: RawSpan, bigEndian: Bool) -> Int? {
        guard let size = byteCount(ofType: entry.type) else { return nil }
        let value = number(in: tiff, at: entry.values + index * size, bytes: size, bigEndian: bigEndian)
        let isSigned = [6, 8, 9].contains(entry.type)
        return value.map { isSigned && $0 >> (8 * size - 1) == 1 ? $0 - 1 << (8 * size) : $0 }
    }

    /// Returns the first value of a tag of any type of number: RATIONAL, SRATIONAL, FLOAT, DOUBLE or an integer. Nil
    /// for other types, and when the denominator is 0.
    static func rational(_ tag: Int, of directory: Int, in tiff: RawSpan, bigEndian: Bool) -> Double? {
        entry(tag, of: directory, in: tiff, bigEndian: bigEndian).flatMap {
            rational(0, of: $0, in: tiff, bigEndian: bigEndian)
        }
    }

    /// Returns one of the values of an entry of any type of number. Nil for other types, and when the denominator is 0.
    static func rational(_ index: Int, of entry: Entry, in tiff: RawSpan, bigEndian: Bool) -> Double? {
        func bits(_ count: Int) -> Int? {
            number(in: tiff, at: entry.values + index * count, bytes: count, bigEndian: bigEndian)
        }
        switch entry.type {
        case 5, 10: break
        case 11: return bits(4).map { Double(Float(bitPattern: UInt32(truncatingIfNeeded: $0))) }
        case 12: return bits(8).map { Double(bitPattern: UInt64(bitPattern: Int64($0))) }
        case 1, 3, 4, 6, 8, 9, 13: return integer(index, of: entry, in: tiff, bigEndian: bigEndian).map(Double.init)
        default: return nil
        }
        func part(at offset: Int) -> Double {
            let bits = number(in: tiff, at: entry.values + 8 * index + offset, bytes: 4, bigEndian: bigEndian) ?? 0
            return entry.type == 10 ? Double(Int32(truncatingIfNeeded: bits)) : Double(bits)
        }
        let denominator = part(at: 4)
        return denominator == 0 ? nil : part(at: 0) / denominator
    }

    /// Returns the offset of the directory that a tag of another directory points to, or nil if there is none.
    static func directory(_ tag: Int, of directory: Int, in tiff: RawSpan, bigEndian: Bool) -> Int? {
        integer(tag, of: directory, in: tiff, bigEndian: bigEndian).flatMap { $0 >= 0 ? $0 : nil }
    }

    /// Replaces the values of an entry by one SHORT.
    static func setShort(_ value: Int, at entry: Entry, of tiff: inout [UInt8], bigEndian: Bool) {
        let new =
            TIFF.bytes(3, count: 2, bigEndian: bigEndian) + TIFF.bytes(1, count: 4, bigEndian: bigEndian)
            + TIFF.bytes(value, count: 2, bigEndian: bigEndian) + [0, 0]
        // In truncated data, the entry may end before its last bytes.
        let range = entry.offset + 2..<min(entry.offset + 12, tiff.count)
        tiff.replaceSubrange(range, with: new.prefix(range.count))
    }

    /// A tag to be inserted into a directory.
    struct NewEntry {
        var tag: Int
        var type: Int
        var count: Int
        /// The number in the entry: a value of at most four bytes.
        var value: Int
        /// The values that do not fit into the entry, two LONGs.
        var rational: (numerator: Int, denominator: Int)?
        /// The bytes of a text with its final zero. Nil for other types.
        var text: [UInt8]?

        static func short(_ tag: Int, _ value: Int) -> Self { Self(tag: tag, type: 3, count: 1, value: value) }

        static func rational(_ tag: Int, _ numerator: Int, _ denominator: Int) -> Self {
            Self(tag: tag, type: 5, count: 1, value: 0, rational: (numerator, denominator))
        }

        static func text(_ tag: Int, _ bytes: [UInt8]) -> Self {
            Self(tag: tag, type: 2, count: bytes.count, value: 0, text: bytes)
        }
    }

    /// Data without tags: a header and a directory without entries.
    static let empty = Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 0, 0, 0, 0, 0]

    /// Returns the data with new tags in its first directory. They replace existing tags of the same numbers. The
    /// directory is copied to the end of the data, because offsets are absolute and the other values must not move.
    /// Returns nil when the data has no TIFF header, or the directory is not within the data.
    static func inserting(_ new: [NewEntry], into tiff: [UInt8]) -> [UInt8]? {
        let span = tiff.span.bytes
        guard let bigEndian = isBigEndian(span),
            let directory = number(in: span, at: 4, bytes: 4, bigEndian: bigEndian),
            let count = number(in: span, at: directory, bytes: 2, bigEndian: bigEndian),
            number(in: span, at: directory + 2 + 12 * count, bytes: 4, bigEndian: bigEndian) != nil
        else { return nil }
        func bytes(_ value: Int, _ count: Int) -> [UInt8] { Self.bytes(value, count: count, bigEndian: bigEndian) }
        let end = directory + 2 + 12 * count
        var entries = stride(from: directory + 2, to: end, by: 12).map { Array(tiff[$0..<$0 + 12]) }
        func tag(_ entry: [UInt8]) -> Int { number(in: entry.span.bytes, at: 0, bytes: 2, bigEndian: bigEndian) ?? 0 }
        let tags = Set(new.map(\.tag))
        entries.removeAll { tags.contains(tag($0)) }
        // A directory begins at an even offset.
        var result = tiff + Array(repeating: 0, count: tiff.count % 2)
        result.replaceSubrange(4..<8, with: bytes(result.count, 4))
        // The values that do not fit into entries follow the directory.
        let values = result.count + 2 + 12 * (entries.count + new.count) + 4
        var content: [UInt8] = []
        for entry in new {
            var field = bytes(entry.value, entry.type == 3 ? 2 : 4)
            if let rational = entry.rational {
                field = bytes(values + content.count, 4)
                content += bytes(rational.numerator, 4) + bytes(rational.denominator, 4)
            }
            if let text = entry.text {
                field = text.count > 4 ? bytes(values + content.count, 4) : text
                // Values begin at even offsets.
                if text.count > 4 { content += text + Array(repeating: 0, count: text.count % 2) }
            }
            field += Array(repeating: 0, count: 4 - field.count)
            // The tags of a directory are in ascending order.
            let place = entries.firstIndex { tag($0) > entry.tag } ?? entries.endIndex
            entries.insert(bytes(entry.tag, 2) + bytes(entry.type, 2) + bytes(entry.count, 4) + field, at: place)
        }
        // A SHORT would not hold the number.
        guard entries.count <= 0xFFFF else { return nil }
        result += bytes(entries.count, 2) + entries.joined() + tiff[end..<end + 4] + content
        return result
    }

    static func bytes(_ value: Int, count: Int, bigEndian: Bool) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (bigEndian ? count - 1 - $0 : $0))) }
    }
}

extension ImageMetadata {
    /// Returns EXIF data that begins with the TIFF header. Many writers copy the prefix `Exif` and two zeros, which
    /// only JPEG requires, into the containers of other formats. The second zero may have another value.
    package static func tiff<Bytes: Collection>(_ exif: Bytes) -> Data where Bytes.Element == UInt8 {
        Data(exif.starts(with: "Exif\0".utf8) ? exif.dropFirst(6) : exif[...])
    }
}
