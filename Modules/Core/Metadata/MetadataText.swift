/// The texts of EXIF and IPTC.
enum MetadataText {
    /// The maximum number of bytes of a text that is read.
    static let maximumByteCount = 64 << 10

    /// The characters for the bytes from 0x80 to 0x9F, which Latin-1 does not use. Source: WHATWG Encoding Standard,
    /// index of windows-1252.
    private static let windows: [UInt16] = [
        0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039,
        0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
        0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178,
    ]

    /// Returns the text of bytes up to the first zero, without white space around it. Nil when nothing is left.
    ///
    /// EXIF and IPTC rarely tell the encoding. Bytes that are valid UTF-8, which the Metadata Working Group recommends,
    /// are UTF-8, and others are Windows-1252, which includes Latin-1.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - isUTF8: Whether the file says that the bytes are UTF-8. Invalid sequences are then repaired. Default: false.
    static func decoded(_ bytes: ArraySlice<UInt8>, isUTF8: Bool = false) -> String? {
        let bytes = bytes.prefix { $0 != 0 }
        let text =
            if isUTF8 {
                String(decoding: bytes, as: UTF8.self)
            } else {
                String(validating: bytes, as: UTF8.self)
                    ?? String(
                        decoding: bytes.map { 0x80...0x9F ~= $0 ? windows[Int($0) - 0x80] : UInt16($0) },
                        as: UTF16.self)
            }
        return trimmed(text)
    }

    /// Returns a text without white space around it. Nil when nothing is left.
    static func trimmed(_ text: String) -> String? {
        guard let first = text.firstIndex(where: { !$0.isWhitespace }),
            let last = text.lastIndex(where: { !$0.isWhitespace })
        else { return nil }
        return String(text[first...last])
    }

    /// Returns the names in a text, which are separated by semicolons. A name with a semicolon is in quotation marks,
    /// and each mark inside it is doubled. Source: Metadata Working Group, "Guidelines for Handling Image Metadata",
    /// version 2.0, section on the creator.
    static func names(in text: String) -> [String] {
        var names: [String] = []
        var name = ""
        var (isBlank, isQuoted) = (true, false)
        var rest = text[...]
        while let character = rest.popFirst() {
            switch character {
            case "\"" where isQuoted && rest.first == "\"":
                name.append("\"")
                rest.removeFirst()
            case "\"" where isQuoted: isQuoted = false
            case "\"" where isBlank && rest.contains("\""): isQuoted = true
            case ";" where !isQuoted:
                names.append(name)
                (name, isBlank) = ("", true)
            default:
                name.append(character)
                isBlank = isBlank && character.isWhitespace
            }
        }
        return (names + [name]).compactMap(trimmed)
    }
}
