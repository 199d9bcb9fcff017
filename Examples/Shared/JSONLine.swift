import FoundationEssentials

/// One line of JSON, for scripts: keys in order, so that lines can be compared.
public enum JSONLine {
    /// The value with the end of its line.
    public static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return printable(String(decoding: try encoder.encode(value), as: UTF8.self)) + "\n"
    }

    /// With escapes for the controls that JSON allows as they are, and terminals obey. Source: RFC 8259 section 7.
    private static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var printable = ""
        for scalar in text.unicodeScalars {
            if isControl(scalar) {
                printable += "\\u00" + String(scalar.value, radix: 16)
            } else {
                printable.unicodeScalars.append(scalar)
            }
        }
        return printable
    }

    /// Whether it is DEL or one of C1; the encoder escapes those below the space.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { (0x7F...0x9F).contains(scalar.value) }
}
