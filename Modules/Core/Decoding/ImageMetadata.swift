public import FoundationEssentials

/// The metadata of an image file, with the original bytes.
public struct ImageMetadata: Sendable, Hashable {
    /// The ICC profile.
    public var colorProfile: Data?
    /// Whether the file has an ICC profile that its decoder ignores, because the profile is damaged, does not fit the
    /// kind of the image or exceeds the limits. ``colorProfile`` is then nil. Default: false.
    public var hasIgnoredColorProfile = false
    /// The EXIF data, starting with the TIFF header.
    public var exif: Data?
    /// The XMP packet: XML in UTF-8.
    public var xmp: Data?

    /// Creates metadata. All parts are absent by default.
    public init(colorProfile: Data? = nil, exif: Data? = nil, xmp: Data? = nil) {
        self.colorProfile = colorProfile
        self.exif = exif
        self.xmp = xmp
    }
}

extension ImageOrientation {
    /// Creates an orientation from the orientation tag in the first directory of EXIF data.
    ///
    /// The result is `.up` when the data is damaged, the tag is absent or not of the type SHORT, or its value is 0 or
    /// greater than 8. Reads only bytes inside `tiff`, and at most 65,535 entries. Source: CIPA DC-008 (Exif 2.32),
    /// section 4.6.4; TIFF 6.0, section 2.
    ///
    /// - Parameter tiff: The bytes starting with the TIFF byte order mark, without the `Exif\0\0` that precedes it in
    ///   JPEG.
    package init(exif tiff: RawSpan) {
        self = Self.value(in: tiff).flatMap(ImageOrientation.init(rawValue:)) ?? .up
    }

    private static func value(in tiff: RawSpan) -> Int? {
        guard let bigEndian = TIFF.isBigEndian(tiff), let offset = TIFF.orientationOffset(in: tiff) else { return nil }
        return TIFF.number(in: tiff, at: offset, bytes: 2, bigEndian: bigEndian)
    }
}

extension ImageOrientation {
    /// Returns EXIF data with this orientation. Empty when there is nothing to write. Encoders use
    /// ``written(in:size:)``.
    ///
    /// If `exif` has a valid orientation tag, the result is `exif` with this orientation in the tag. Otherwise the
    /// result for an upright image is `exif` unchanged. For any other orientation, the result is `exif` with a new
    /// orientation tag, or data with only this tag if `exif` is nil, empty or has no intact first directory.
    ///
    /// - Parameter exif: The data to write; nil for none.
    package func written(in exif: Data?) -> [UInt8] {
        guard var bytes = exif.map({ [UInt8]($0) }), !bytes.isEmpty else { return self == .up ? [] : self.exif }
        guard let bigEndian = TIFF.isBigEndian(bytes.span.bytes),
            let offset = TIFF.orientationOffset(in: bytes.span.bytes)
        else { return self == .up ? bytes : TIFF.inserting(self, into: bytes) ?? self.exif }
        bytes.replaceSubrange(offset..<offset + 2, with: TIFF.bytes(rawValue, count: 2, bigEndian: bigEndian))
        return bytes
    }

    /// EXIF data with this orientation as its only tag: a TIFF header and one directory with one entry, 26 bytes.
    ///
    /// Source: TIFF 6.0, section 2; CIPA DC-008 (Exif 2.32), section 4.6.4.
    package var exif: [UInt8] {
        var bytes = Array("MM\0*".utf8)
        bytes += [0, 0, 0, 8]  // offset of the directory
        bytes += [0, 1]  // number of entries
        bytes += [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(rawValue), 0, 0]  // Orientation, one SHORT
        bytes += [0, 0, 0, 0]  // no further directory
        return bytes
    }
}

extension RawSpan {
    /// Whether the bytes at `offset` equal `expected`.
    package func contains(_ expected: [UInt8], at offset: Int = 0) -> Bool {
        guard offset >= 0, byteCount >= offset, byteCount - offset >= expected.count else { return false }
        return expected.indices.allSatisfy { index in
            unsafeLoad(fromByteOffset: offset + index, as: UInt8.self) == expected[index]
        }
    }
}

/// Parsing of TIFF data, the format of EXIF. Source: TIFF 6.0, section 2.
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

    /// Returns the offset of the two-byte orientation value, or nil when the first directory has no valid orientation
    /// tag.
    static func orientationOffset(in tiff: RawSpan) -> Int? {
        guard let bigEndian = isBigEndian(tiff),
            let directory = number(in: tiff, at: 4, bytes: 4, bigEndian: bigEndian)
        else { return nil }
        return valueOffset(of: 0x0112, type: 3, in: tiff, directory: directory, bigEndian: bigEndian)
    }

    /// Returns the offset of a tag's value field, of which at least two bytes are within the data. The result is nil
    /// when the directory is damaged before the tag, has no such tag, or has it with another type.
    ///
    /// - Parameters:
    ///   - tag: The number of the tag.
    ///   - type: The number of the type: 2 for text, 3 for a SHORT, 4 for a LONG. Values of at most four bytes are
    ///     stored in the field, at its start.
    ///   - tiff: The data.
    ///   - directory: The offset of the directory.
    ///   - bigEndian: The byte order of the data.
    static func valueOffset(of tag: Int, type: Int, in tiff: RawSpan, directory: Int, bigEndian: Bool) -> Int? {
        func number(at offset: Int, bytes: Int) -> Int? {
            Self.number(in: tiff, at: offset, bytes: bytes, bigEndian: bigEndian)
        }
        guard let count = number(at: directory, bytes: 2) else { return nil }
        for index in 0..<count {
            let entry = directory + 2 + 12 * index
            guard let found = number(at: entry, bytes: 2) else { return nil }
            if found == tag {
                guard number(at: entry + 2, bytes: 2) == type, number(at: entry + 8, bytes: 2) != nil else {
                    return nil
                }
                return entry + 8
            }
        }
        return nil
    }

    /// Returns the offset of the directory that a tag of another directory points to, or nil if there is none.
    static func directory(_ tag: Int, of directory: Int, in tiff: RawSpan, bigEndian: Bool) -> Int? {
        guard let offset = valueOffset(of: tag, type: 4, in: tiff, directory: directory, bigEndian: bigEndian) else {
            return nil
        }
        return number(in: tiff, at: offset, bytes: 4, bigEndian: bigEndian)
    }

    /// Returns the data with an orientation tag in its first directory. The tag replaces existing orientation tags. The
    /// directory is copied to the end of the data, because offsets are absolute and the other values must not move.
    /// Returns nil when the data has no TIFF header, or the directory is not within the data.
    static func inserting(_ orientation: ImageOrientation, into tiff: [UInt8]) -> [UInt8]? {
        let span = tiff.span.bytes
        guard let bigEndian = isBigEndian(span),
            let directory = number(in: span, at: 4, bytes: 4, bigEndian: bigEndian),
            let count = number(in: span, at: directory, bytes: 2, bigEndian: bigEndian),
            number(in: span, at: directory + 2 + 12 * count, bytes: 4, bigEndian: bigEndian) != nil
        else { return nil }
        func bytes(_ value: Int, _ count: Int) -> [UInt8] { Self.bytes(value, count: count, bigEndian: bigEndian) }
        let end = directory + 2 + 12 * count
        var entries = stride(from: directory + 2, to: end, by: 12).map { Array(tiff[$0..<$0 + 12]) }
        entries.removeAll { $0.starts(with: bytes(0x0112, 2)) }
        // The tags of a directory are in ascending order.
        let place = entries.firstIndex {
            number(in: $0.span.bytes, at: 0, bytes: 2, bigEndian: bigEndian).map { $0 > 0x0112 } == true
        }
        let entry = bytes(0x0112, 2) + bytes(3, 2) + bytes(1, 4) + bytes(orientation.rawValue, 2) + [0, 0]
        entries.insert(entry, at: place ?? entries.endIndex)
        // A directory begins at an even offset.
        var result = tiff + Array(repeating: 0, count: tiff.count % 2)
        result.replaceSubrange(4..<8, with: bytes(result.count, 4))
        result += bytes(entries.count, 2) + entries.joined() + tiff[end..<end + 4]
        return result
    }

    /// Returns the bytes of a number.
    static func bytes(_ value: Int, count: Int, bigEndian: Bool) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (bigEndian ? count - 1 - $0 : $0))) }
    }
}
