/// A dictionary of a structured field, as far as targeted cache control needs it. Inner lists and parameters are
/// validated and discarded.
///
/// One error invalidates the whole field, as the specification requires. Source: RFC 9651 section 4.2.2.
struct StructuredDictionary {
    /// The maximum number of members. A field with more is invalid.
    private static let limit = 256

    /// The members in the order of the field. A repeated key keeps its first position and gets its last value.
    private(set) var members: [(key: String, value: StructuredValue)] = []

    init?(_ text: String) {
        var parser = StructuredFieldParser(text)
        parser.skipSpaces()
        while !parser.isAtEnd {
            guard members.count < Self.limit, let key = parser.key(), let value = parser.memberValue() else {
                return nil
            }
            if let index = members.firstIndex(where: { $0.key == key }) {
                members[index].value = value
            } else {
                members.append((key, value))
            }
            parser.skipBlanks()
            if parser.isAtEnd { return }
            guard parser.take(UInt8(ascii: ",")) else { return nil }
            parser.skipBlanks()
            // A trailing comma is an error.
            if parser.isAtEnd { return nil }
        }
    }
}

/// The value of a member of a structured dictionary, as far as targeted cache control needs it.
enum StructuredValue: Equatable {
    case integer(Int)
    case boolean(Bool)
    case token(String)
    case string(String)
    /// A decimal, a byte sequence, a date, a display string or an inner list. No directive has such an argument.
    case other

    /// The equivalent argument in `Cache-Control`; nil for a directive without an argument.
    var directiveArgument: String? {
        switch self {
        case .integer(let number): String(number)
        case .token(let text), .string(let text): text
        case .boolean: nil
        // An argument that is not a valid number of seconds.
        case .other: "?"
        }
    }
}

/// A parser of the parts of a structured field. Its methods return nil on an error. Source: RFC 9651 section 4.2.
private struct StructuredFieldParser {
    private var rest: ArraySlice<UInt8>

    init(_ text: String) { rest = ArraySlice(text.utf8) }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skipSpaces() { rest = rest.drop { $0 == 0x20 } }

    /// Skips spaces and tabs.
    mutating func skipBlanks() { rest = rest.drop { $0 == 0x20 || $0 == 0x09 } }

    mutating func take(_ byte: UInt8) -> Bool {
        guard rest.first == byte else { return false }
        rest = rest.dropFirst()
        return true
    }

    mutating func key() -> String? {
        guard let first = rest.first, Self.isLower(first) || first == UInt8(ascii: "*") else { return nil }
        return text { Self.isLower($0) || Self.isDigit($0) || "_-.*".utf8.contains($0) }
    }

    /// Parses the value after a key: `=` and a value, or nothing, which means true; then parameters.
    mutating func memberValue() -> StructuredValue? {
        guard take(UInt8(ascii: "=")) else { return parameters() ? .boolean(true) : nil }
        guard let value = rest.first == UInt8(ascii: "(") ? innerList() : bareItem(), parameters() else { return nil }
        return value
    }

    private mutating func innerList() -> StructuredValue? {
        rest = rest.dropFirst()
        while true {
            skipSpaces()
            if take(UInt8(ascii: ")")) { return .other }
            guard bareItem() != nil, parameters() else { return nil }
            guard rest.first == 0x20 || rest.first == UInt8(ascii: ")") else { return nil }
        }
    }

    private mutating func parameters() -> Bool {
        while take(UInt8(ascii: ";")) {
            skipSpaces()
            guard key() != nil else { return false }
            if take(UInt8(ascii: "=")), bareItem() == nil { return false }
        }
        return true
    }

    private mutating func bareItem() -> StructuredValue? {
        guard let first = rest.first else { return nil }
        switch first {
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: ":"): return delimited(by: UInt8(ascii: ":")) { $0 > 0x20 && $0 < 0x7F } ? .other : nil
        case UInt8(ascii: "?"):
            rest = rest.dropFirst()
            if take(UInt8(ascii: "1")) { return .boolean(true) }
            return take(UInt8(ascii: "0")) ? .boolean(false) : nil
        case UInt8(ascii: "@"):
            rest = rest.dropFirst()
            if case .integer = number() { return .other }
            return nil
        case UInt8(ascii: "%"):
            rest = rest.dropFirst()
            return string() == nil ? nil : .other
        case _ where Self.isDigit(first) || first == UInt8(ascii: "-"): return number()
        case _ where Self.isAlpha(first) || first == UInt8(ascii: "*"):
            return .token(text { Self.isAlpha($0) || Self.isDigit($0) || "!#$%&'*+-.^_`|~:/".utf8.contains($0) })
        default: return nil
        }
    }

    /// Parses an integer of up to 15 digits, or a decimal of up to 12 digits before and 3 after the point.
    private mutating func number() -> StructuredValue? {
        let sign = take(UInt8(ascii: "-")) ? -1 : 1
        let whole = text(Self.isDigit)
        guard !whole.isEmpty, whole.utf8.count <= 15, let number = Int(whole) else { return nil }
        guard take(UInt8(ascii: ".")) else { return .integer(sign * number) }
        let fraction = text(Self.isDigit)
        return (1...3).contains(fraction.utf8.count) && whole.utf8.count <= 12 ? .other : nil
    }

    private mutating func string() -> String? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let next = rest.popFirst(), next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\") else {
                    return nil
                }
                bytes.append(next)
            case 0x20...0x7E: bytes.append(byte)
            default: return nil
            }
        }
        return nil
    }

    private mutating func delimited(by delimiter: UInt8, _ isAllowed: (UInt8) -> Bool) -> Bool {
        rest = rest.dropFirst()
        while let byte = rest.popFirst() {
            if byte == delimiter { return true }
            guard isAllowed(byte) else { return false }
        }
        return false
    }

    private mutating func text(_ isPart: (UInt8) -> Bool) -> String {
        let found = rest.prefix(while: isPart)
        rest = rest[found.endIndex...]
        return String(decoding: found, as: UTF8.self)
    }

    private static func isLower(_ byte: UInt8) -> Bool { byte >= 0x61 && byte <= 0x7A }
    private static func isAlpha(_ byte: UInt8) -> Bool { isLower(byte | 0x20) }
    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
}
