public import FoundationEssentials

/// What a file says about its picture, byte for byte.
public struct ImageMetadata: Sendable, Hashable {
    /// The ICC profile.
    public var colorProfile: Data?
    /// EXIF, from the TIFF header on.
    public var exif: Data?
    /// The XMP packet, XML in UTF-8.
    public var xmp: Data?

    /// What a file says; by default nothing.
    public init(colorProfile: Data? = nil, exif: Data? = nil, xmp: Data? = nil) {
        self.colorProfile = colorProfile
        self.exif = exif
        self.xmp = xmp
    }
}

extension ImageOrientation {
    /// Reads the orientation tag of EXIF data: a TIFF header and its first directory.
    ///
    /// Damaged data, an absent tag and the values 0 and above 8 mean `.up`. Reads nothing outside `tiff` and at most
    /// 65,535 entries. Source: CIPA DC-008 (Exif 2.32) section 4.6.4; TIFF 6.0 section 2.
    ///
    /// - Parameter tiff: The bytes from the byte order mark on, without the `Exif\0\0` that JPEG puts before it.
    public init(exif tiff: RawSpan) {
        self = Self.value(in: tiff).flatMap(ImageOrientation.init(rawValue:)) ?? .up
    }

    private static func value(in tiff: RawSpan) -> Int? {
        guard let bigEndian = TIFF.isBigEndian(tiff), let offset = TIFF.orientationOffset(in: tiff) else { return nil }
        return TIFF.number(in: tiff, at: offset, bytes: 2, bigEndian: bigEndian)
    }
}

extension ImageOrientation {
    /// Returns the EXIF data that an encoder writes with an image of this orientation; empty when it writes none.
    ///
    /// - Parameter exif: The data to write, with the value of its orientation tag replaced. Without data, and when an image
    ///   that is not upright has data without that tag, the result is the tag alone.
    package func written(in exif: Data?) -> [UInt8] {
        guard var bytes = exif.map({ [UInt8]($0) }), !bytes.isEmpty else { return self == .up ? [] : self.exif }
        guard let bigEndian = TIFF.isBigEndian(bytes.span.bytes),
            let offset = TIFF.orientationOffset(in: bytes.span.bytes)
        else { return self == .up ? bytes : self.exif }
        bytes[offset] = bigEndian ? 0 : UInt8(rawValue)
        bytes[offset + 1] = bigEndian ? UInt8(rawValue) : 0
        return bytes
    }

    /// EXIF that says this and nothing else: a TIFF header and one directory of one entry, 26 bytes.
    ///
    /// Source: TIFF 6.0 section 2; CIPA DC-008 (Exif 2.32) section 4.6.4.
    package var exif: [UInt8] {
        var bytes = Array("MM\0*".utf8)
        bytes += [0, 0, 0, 8]  // where the directory begins
        bytes += [0, 1]  // its entries
        bytes += [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(rawValue), 0, 0]  // Orientation, one SHORT
        bytes += [0, 0, 0, 0]  // no further directory
        return bytes
    }
}

/// Facts about the bytes of an ICC profile that encoders need.
package enum ICCProfile {
    /// Whether the data color space in a profile's header is gray, or RGB when `gray` is false.
    ///
    /// Source: ICC.1:2022, section 7.2.6.
    package static func describes(gray: Bool, _ profile: Data) -> Bool {
        profile.count >= 128 && profile.dropFirst(16).prefix(4).elementsEqual((gray ? "GRAY" : "RGB ").utf8)
    }
}

extension RawSpan {
    /// Whether the bytes from `offset` on begin with `expected`.
    package func contains(_ expected: [UInt8], at offset: Int = 0) -> Bool {
        guard offset >= 0, byteCount >= offset, byteCount - offset >= expected.count else { return false }
        return expected.indices.allSatisfy { index in
            unsafeLoad(fromByteOffset: offset + index, as: UInt8.self) == expected[index]
        }
    }
}

/// Numbers in TIFF data, of which EXIF consists. Source: TIFF 6.0 section 2.
enum TIFF {
    /// Whether numbers begin with their highest byte; nil when the data does not begin as TIFF does.
    static func isBigEndian(_ tiff: RawSpan) -> Bool? {
        if tiff.contains(Array("II*\0".utf8)) { return false }
        return tiff.contains(Array("MM\0*".utf8)) ? true : nil
    }

    /// The number at an offset; nil when it is not within the data.
    static func number(in tiff: RawSpan, at offset: Int, bytes: Int, bigEndian: Bool) -> Int? {
        guard offset >= 0, offset <= tiff.byteCount - bytes else { return nil }
        return (0..<bytes).reduce(0) { value, index in
            let byte = Int(tiff.unsafeLoad(fromByteOffset: offset + index, as: UInt8.self))
            return bigEndian ? value << 8 | byte : value | byte << (8 * index)
        }
    }

    /// Where the two bytes of the orientation are; nil when the first directory has no such tag.
    static func orientationOffset(in tiff: RawSpan) -> Int? {
        guard let bigEndian = isBigEndian(tiff) else { return nil }
        func number(at offset: Int, bytes: Int) -> Int? {
            Self.number(in: tiff, at: offset, bytes: bytes, bigEndian: bigEndian)
        }
        guard let directory = number(at: 4, bytes: 4), let count = number(at: directory, bytes: 2) else { return nil }
        for index in 0..<count {
            let entry = directory + 2 + 12 * index
            guard let tag = number(at: entry, bytes: 2) else { return nil }
            // Tag 0x0112, one value of type SHORT, stored in the first two bytes of the value field.
            if tag == 0x0112 {
                guard number(at: entry + 2, bytes: 2) == 3, number(at: entry + 8, bytes: 2) != nil else { return nil }
                return entry + 8
            }
        }
        return nil
    }
}
