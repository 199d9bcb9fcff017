import AlcedoProgramSupport
import FoundationEssentials

/// Encoding of a value as one line of JSON, with sorted keys so that lines can be compared.
enum JSONLine {
    /// Returns the encoded value with a line feed.
    static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return printable(String(decoding: try encoder.encode(value), as: UTF8.self)) + "\n"
    }

    /// Returns the text with escapes for control characters that JSON permits unescaped but that terminals interpret.
    /// The encoder has escaped the characters below U+0020. Source: RFC 8259, section 7.
    private static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isTerminalControl) else { return text }
        var printable = ""
        for scalar in text.unicodeScalars {
            if scalar.isTerminalControl {
                let digits = String(scalar.value, radix: 16)
                printable += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                printable.unicodeScalars.append(scalar)
            }
        }
        return printable
    }
}

/// A value in the object of a ``JSONLine``.
enum JSONValue: Encodable {
    case text(String)
    case texts([String])
    case number(Int)
    case null

    /// Creates a value, which is ``null`` for nil.
    init(_ text: String?) { self = text.map { .text($0) } ?? .null }

    /// Creates a value, which is ``null`` for nil.
    init(_ number: Int?) { self = number.map { .number($0) } ?? .null }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .texts(let texts): try container.encode(texts)
        case .number(let number): try container.encode(number)
        case .null: try container.encodeNil()
        }
    }
}
