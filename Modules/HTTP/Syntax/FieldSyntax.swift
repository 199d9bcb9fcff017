/// A comma-separated list whose members may be quoted strings with commas. Source: RFC 9110 sections 5.6.1 and 5.6.4.
package enum QuotedList {
    /// Returns the members without blanks at their ends. Empty members are omitted.
    ///
    /// - Parameters:
    ///   - text: The value of the field.
    ///   - hasEscapes: Whether a backslash escapes the next character in a quoted string. In entity tags it does not.
    package static func members(of text: String, hasEscapes: Bool = true) -> [Substring] {
        parse(text, hasEscapes: hasEscapes).members
    }

    /// Returns the members, and whether every quoted string follows an equals sign and has an end. Otherwise, parsers
    /// disagree about the members that a string hides.
    package static func parse(
        _ text: String, hasEscapes: Bool = true
    ) -> (members: [Substring], isUnambiguous: Bool) {
        var (isUnambiguous, previous) = (true, UInt8(ascii: ","))
        var members: [Substring] = []
        var start = text.startIndex
        var isQuoted = false
        var isEscaped = false
        for index in text.utf8.indices {
            let byte = text.utf8[index]
            defer { previous = byte }
            if isEscaped {
                isEscaped = false
            } else if hasEscapes, isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                if !isQuoted, previous != UInt8(ascii: "=") { isUnambiguous = false }
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ","), !isQuoted {
                members.append(text[start..<index])
                start = text.utf8.index(after: index)
            }
        }
        members.append(text[start...])
        return (members.map(\.trimmingBlanks).filter { !$0.isEmpty }, isUnambiguous && !isQuoted)
    }
}

/// A number of seconds in a field. Source: RFC 9111 section 1.2.2.
package enum DeltaSeconds: Equatable {
    /// A number from 0 to ``limit``.
    case value(Int)
    /// A value that is empty or does not consist of digits only.
    case invalid

    /// The maximum number of seconds, 68 years. Larger numbers are reduced to it.
    package static let limit = 1 << 31

    /// Creates a number of seconds from text. The result is ``invalid`` if the text is empty or does not consist of
    /// digits only.
    package init(_ text: some StringProtocol) {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            self = .invalid
            return
        }
        // The conversion only fails if the number exceeds `Int`.
        self = .value(min(Int(text) ?? Self.limit, Self.limit))
    }

    /// The number; 0 if it is invalid.
    package var orZero: Int { if case .value(let seconds) = self { seconds } else { 0 } }
}

extension Substring {
    package static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }

    /// The text without spaces and tabs at its ends.
    package var trimmingBlanks: Substring {
        var trimmed = drop(while: Self.isBlank)
        while let last = trimmed.last, Self.isBlank(last) { trimmed.removeLast() }
        return trimmed
    }
}

// Conversions between the text and the bytes of an HTTP message. The initializer is inlinable, because other modules
// call it for every line of every head and could not specialize it otherwise.

extension String {
    /// Creates text from bytes, one code point for each byte (ISO-8859-1).
    @inlinable
    package init(latin1 bytes: some Collection<UInt8>) {
        guard bytes.contains(where: { $0 >= 0x80 }) else {
            self.init(decoding: bytes, as: UTF8.self)
            return
        }
        self.init(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
    }

    /// The bytes of the text, one for each code point; nil if a code point is above U+00FF.
    package var latin1: [UInt8]? {
        if utf8.allSatisfy({ $0 < 0x80 }) { return Array(utf8) }
        var bytes: [UInt8] = []
        for scalar in unicodeScalars {
            guard let byte = UInt8(exactly: scalar.value) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}

extension StringProtocol {
    /// Whether the text is a token, such as a method or a field name. Source: RFC 9110 section 5.6.2.
    @inlinable
    package var isToken: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                // !, # to ', *, +, -, ., ^ to `, |, ~
                case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
                default: false
                }
            }
    }
}
