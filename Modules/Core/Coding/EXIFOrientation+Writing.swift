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
