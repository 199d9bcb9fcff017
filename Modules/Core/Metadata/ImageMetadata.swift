public import FoundationEssentials

/// The metadata of an image file, with the original bytes.
public struct ImageMetadata: Sendable, Hashable {
    /// The ICC profile that describes the colors of the pixels; nil for sRGB.
    public var colorProfile: Data?
    /// Whether the file has an ICC profile that its decoder ignores, because the profile is damaged, does not fit the
    /// kind of the image or exceeds the limits. ``colorProfile`` is then nil. Default: false.
    public var hasIgnoredColorProfile = false
    /// The EXIF data, starting with the TIFF header.
    public var exif: Data?
    /// The XMP packet: XML in UTF-8.
    public var xmp: Data?
    /// The IPTC record: the datasets of the Information Interchange Model, without the image resources around them.
    public var iptc: Data?
    /// The MD5 digest of the IPTC record that had the same texts as XMP. Programs that write both store it beside the
    /// record. If ``iptc`` has another digest, its texts are newer than those of ``xmp``. Default: nil.
    public var iptcDigest: Data?
    /// The resolution for print in the header of the file, or that in EXIF if the header has none. In JPEG, that in
    /// EXIF takes precedence, as in libvips, because many programs write a default into the header.
    public var resolution: ImageResolution?
    /// The texts of a PNG file by their keywords, such as `Author` and `Copyright`. Encoders of other formats write
    /// these two as the tags of EXIF, unless EXIF has them, and omit the others.
    public var texts: [String: String]

    /// Creates metadata. All parts are absent by default.
    public init(
        colorProfile: Data? = nil, exif: Data? = nil, xmp: Data? = nil, iptc: Data? = nil, iptcDigest: Data? = nil,
        resolution: ImageResolution? = nil, texts: [String: String] = [:]
    ) {
        self.colorProfile = colorProfile
        self.exif = exif
        self.xmp = xmp
        self.iptc = iptc
        self.iptcDigest = iptcDigest
        self.resolution = resolution
        self.texts = texts
    }
}

extension ImageOrientation {
    /// Creates an orientation from the orientation tag in the first directory of EXIF data.
    ///
    /// The type of the tag is a SHORT. Like browsers, this function reads the other integer types too, because some
    /// cameras write them. The result is `.up` when the data is damaged, the tag is absent or not an integer, or its
    /// value is not from 1 to 8. Reads only bytes inside `tiff`, and at most 65,535 entries. Source: CIPA DC-008 (Exif
    /// 2.32), section 4.6.4; TIFF 6.0, section 2.
    ///
    /// - Parameter tiff: The bytes starting with the TIFF byte order mark, without the `Exif\0\0` that precedes it in
    ///   JPEG.
    package init(exif tiff: RawSpan) {
        self = Self.value(in: tiff).flatMap(ImageOrientation.init(rawValue:)) ?? .up
    }

    private static func value(in tiff: RawSpan) -> Int? {
        guard let bigEndian = TIFF.isBigEndian(tiff),
            let image = TIFF.number(in: tiff, at: 4, bytes: 4, bigEndian: bigEndian)
        else { return nil }
        return TIFF.integer(0x0112, of: image, in: tiff, bigEndian: bigEndian)
    }
}

extension ImageOrientation {
    /// Returns EXIF data with this orientation. Empty when there is nothing to write. Encoders use
    /// ``written(in:size:)``.
    ///
    /// If `exif` has an orientation tag of an integer type, the result is `exif` with this orientation in the tag, as a
    /// SHORT. Otherwise the
    /// result for an upright image is `exif` unchanged. For any other orientation, the result is `exif` with a new
    /// orientation tag, or data with only this tag if `exif` is nil, empty or has no intact first directory.
    ///
    /// - Parameter exif: The data to write; nil for none.
    package func written(in exif: Data?) -> [UInt8] {
        guard var bytes = exif.map({ [UInt8]($0) }), !bytes.isEmpty else { return self == .up ? [] : self.exif }
        guard let bigEndian = TIFF.isBigEndian(bytes.span.bytes),
            let image = TIFF.number(in: bytes.span.bytes, at: 4, bytes: 4, bigEndian: bigEndian),
            let entry = TIFF.integerEntry(0x0112, of: image, in: bytes.span.bytes, bigEndian: bigEndian)
        else {
            guard self != .up else { return bytes }
            return TIFF.inserting([.short(0x0112, rawValue)], into: bytes) ?? self.exif
        }
        TIFF.setShort(rawValue, at: entry, of: &bytes, bigEndian: bigEndian)
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
