import AlcedoCore

extension ImageOrientation {
    /// Reads `tiff:Orientation` of an XMP packet, written as an attribute or as an element.
    ///
    /// PNG had no EXIF before 2017, so older tools put the orientation here. Absence and values other than 1 to 8 mean
    /// `.up`. O(bytes). Source: XMP specification part 2, section 3.1, "TIFF properties".
    init(xmp: RawSpan) {
        self = Self.value(in: xmp).flatMap(ImageOrientation.init(rawValue:)) ?? .up
    }

    private static func value(in xmp: RawSpan) -> Int? {
        let name = Array("tiff:Orientation".utf8)
        let openings = ["=\"", "='", ">"].map { Array($0.utf8) }
        let closings = Array("\"'<".utf8)
        func byte(at offset: Int) -> UInt8? {
            offset < xmp.byteCount ? xmp.unsafeLoad(fromByteOffset: offset, as: UInt8.self) : nil
        }
        for start in 0..<xmp.byteCount where byte(at: start) == name[0] && xmp.contains(name, at: start) {
            let end = start + name.count
            guard let opening = openings.first(where: { xmp.contains($0, at: end) }),
                let digit = byte(at: end + opening.count), let next = byte(at: end + opening.count + 1),
                closings.contains(next)
            else { continue }
            return Int(digit) - Int(UInt8(ascii: "0"))
        }
        return nil
    }
}
