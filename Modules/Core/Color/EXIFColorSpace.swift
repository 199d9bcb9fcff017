package import FoundationEssentials

extension OutputColorSpace {
    /// Returns EXIF data that declares this color space, for pixels that were converted to it. Without the change, a
    /// reader would take the pixels for those of the original, for example in Adobe RGB.
    ///
    /// Only existing tags are changed: the color space becomes sRGB, or uncalibrated for a color space that only a
    /// profile describes. For sRGB, the interoperability index of Adobe RGB (`R03`) becomes that of sRGB (`R98`). Data
    /// without these tags, and damaged data, is returned unchanged, as is all data for `embedded`. O(bytes).
    ///
    /// Source: CIPA DC-008 (Exif 2.32), sections 4.6.5 (ColorSpace) and 4.6.7 (InteroperabilityIndex).
    package func written(in exif: Data) -> Data {
        var bytes = [UInt8](exif)
        guard self != .embedded, let bigEndian = TIFF.isBigEndian(bytes.span.bytes),
            let image = TIFF.number(in: bytes.span.bytes, at: 4, bytes: 4, bigEndian: bigEndian),
            let photo = TIFF.directory(0x8769, of: image, in: bytes.span.bytes, bigEndian: bigEndian)
        else { return exif }
        if let entry = TIFF.integerEntry(0xA001, of: photo, in: bytes.span.bytes, bigEndian: bigEndian) {
            TIFF.setShort(self == .sRGB ? 1 : 0xFFFF, at: entry, of: &bytes, bigEndian: bigEndian)
        }
        if self == .sRGB,
            let index = TIFF.directory(0xA005, of: photo, in: bytes.span.bytes, bigEndian: bigEndian),
            let entry = TIFF.entry(0x0001, of: index, in: bytes.span.bytes, bigEndian: bigEndian),
            bytes[entry.values...].starts(with: "R03\0".utf8)
        {
            bytes.replaceSubrange(entry.values..<entry.values + 4, with: "R98\0".utf8)
        }
        return Data(bytes)
    }
}
