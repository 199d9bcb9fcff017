import FoundationEssentials

extension ImageInfo {
    /// The harmless damage of metadata that cannot be used; nil when none was found. An ICC profile can be damaged or
    /// not fit the image. EXIF can lack a valid first directory, XMP can be no XML, and a text can lack its keyword or
    /// be compressed wrongly.
    ///
    /// - Complexity: O(tags of the profile). Packets of XMP of at most 2 KiB are parsed, and of larger ones only the
    ///   ends are read, so that the check takes no time beside decoding.
    package var metadataDamage: ImageDamage? {
        let isProfileUsable =
            metadata.colorProfile.map { ICCProfile.fits($0, colorModel) } ?? !metadata.hasIgnoredColorProfile
        let problem: String? =
            if !isProfileUsable {
                "the ICC profile is damaged or does not fit the image"
            } else if hasDamagedMetadata || !isMetadataReadable {
                // The same for decoders that keep the metadata and those that only check it.
                "the EXIF data, the XMP data or a text is damaged"
            } else {
                nil
            }
        return problem.map { ImageDamage(.harmless, ImageDecodingError(.corrupt, "\(format): \($0)")) }
    }

    private var isMetadataReadable: Bool {
        metadata.exif?.withUnsafeBytes { ImageMetadata.isReadable(exif: $0.bytes) } != false
            && metadata.xmp?.withUnsafeBytes { ImageMetadata.isReadable(xmp: $0.bytes) } != false
    }
}

extension ImageMetadata {
    /// The maximum number of bytes of a packet that ``isReadable(xmp:)`` parses.
    private static let maximumParsedByteCount = 2 << 10

    /// Whether EXIF data has a TIFF header and a whole first directory.
    package static func isReadable(exif: RawSpan) -> Bool {
        guard let bigEndian = TIFF.isBigEndian(exif),
            let directory = TIFF.number(in: exif, at: 4, bytes: 4, bigEndian: bigEndian),
            let count = TIFF.number(in: exif, at: directory, bytes: 2, bigEndian: bigEndian)
        else { return false }
        return directory >= 8 && count <= (exif.byteCount - directory - 2) / 12
    }

    /// Whether a packet is XML. A long packet only has to begin and end like XML. A packet in UTF-16 counts as XML
    /// unread.
    package static func isReadable(xmp: RawSpan) -> Bool {
        func byte(_ index: Int) -> UInt8 { xmp.unsafeLoad(fromByteOffset: index, as: UInt8.self) }
        func isPadding(_ index: Int) -> Bool { [0, 0x09, 0x0A, 0x0D, 0x20].contains(byte(index)) }
        var (start, end) = (0, xmp.byteCount)
        while start < end, isPadding(end - 1) { end -= 1 }
        while start < end, isPadding(start) { start += 1 }
        guard start < end else { return false }
        let isWide = end - start >= 2 && (byte(start) >= 0xFE || byte(start + 1) == 0)
        if isWide { return true }
        guard end - start > Self.maximumParsedByteCount else {
            return XMPDocument((start..<end).map(byte)) != nil
        }
        if xmp.contains([0xEF, 0xBB, 0xBF], at: start) { start += 3 }
        return byte(start) == UInt8(ascii: "<") && byte(end - 1) == UInt8(ascii: ">")
    }
}
