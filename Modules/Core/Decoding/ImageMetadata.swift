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
        let bigEndian: Bool
        if tiff.contains(Array("II*\0".utf8)) {
            bigEndian = false
        } else if tiff.contains(Array("MM\0*".utf8)) {
            bigEndian = true
        } else {
            return nil
        }
        func number(at offset: Int, bytes: Int) -> Int? {
            guard offset >= 0, offset <= tiff.byteCount - bytes else { return nil }
            return (0..<bytes).reduce(0) { value, index in
                let byte = Int(tiff.unsafeLoad(fromByteOffset: offset + index, as: UInt8.self))
                return bigEndian ? value << 8 | byte : value | byte << (8 * index)
            }
        }
        guard let directory = number(at: 4, bytes: 4), let count = number(at: directory, bytes: 2) else { return nil }
        for index in 0..<count {
            let entry = directory + 2 + 12 * index
            guard let tag = number(at: entry, bytes: 2) else { return nil }
            // Tag 0x0112, one value of type SHORT, stored in the first two bytes of the value field.
            if tag == 0x0112 {
                guard number(at: entry + 2, bytes: 2) == 3 else { return nil }
                return number(at: entry + 8, bytes: 2)
            }
        }
        return nil
    }
}

extension ImageOrientation {
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
    public func contains(_ expected: [UInt8], at offset: Int = 0) -> Bool {
        guard offset >= 0, byteCount >= offset, byteCount - offset >= expected.count else { return false }
        return expected.indices.allSatisfy { index in
            unsafeLoad(fromByteOffset: offset + index, as: UInt8.self) == expected[index]
        }
    }
}
