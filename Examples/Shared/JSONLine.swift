import FoundationEssentials

/// One line of JSON, for scripts: keys in order, so that lines can be compared.
public enum JSONLine {
    /// The value with the end of its line.
    public static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
    }
}
