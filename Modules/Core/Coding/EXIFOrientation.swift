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
