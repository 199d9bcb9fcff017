import FoundationEssentials

/// One line of JSON, for scripts: keys in order, so that lines can be compared.
package enum JSONLine {
    /// The value with the end of its line.
    package static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return printable(String(decoding: try encoder.encode(value), as: UTF8.self)) + "\n"
    }

    /// With escapes for the controls that JSON allows as they are, and terminals obey. The encoder has escaped those below
    /// the space. Source: RFC 8259 section 7.
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

/// What an object of a ``JSONLine`` holds.
package enum JSONValue: Encodable {
    case text(String)
    case texts([String])
    case number(Int)
    case null

    /// ``null`` for nil.
    package init(_ text: String?) { self = text.map { .text($0) } ?? .null }

    /// ``null`` for nil.
    package init(_ number: Int?) { self = number.map { .number($0) } ?? .null }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .texts(let texts): try container.encode(texts)
        case .number(let number): try container.encode(number)
        case .null: try container.encodeNil()
        }
    }
}
