/// A pattern of the names of output files: a text in which `{name}` stands for the name of the image, and `{size}` for
/// the size, as in `{name}-{size}`. Braces around other letters are an error, and all other braces have no meaning.
struct NamePattern: Sendable {
    private enum Part: Equatable {
        case text(String)
        case name, size
    }

    /// The name of the image.
    static let name = NamePattern("{name}")
    /// The name of the image and the size.
    static let nameAndSize = NamePattern("{name}-{size}")

    private let parts: [Part]

    /// Parses a pattern.
    init(_ text: String) {
        var (parts, rest): ([Part], Substring) = ([], text[...])
        while let brace = rest.firstIndex(of: "{") {
            let word = rest[brace...]
            let part: Part? = word.hasPrefix("{name}") ? .name : word.hasPrefix("{size}") ? .size : nil
            // Both words have six characters.
            let end = part == nil ? rest.index(after: brace) : rest.index(brace, offsetBy: 6)
            parts.append(.text(String(rest[..<(part == nil ? end : brace)])))
            if let part { parts.append(part) }
            rest = rest[end...]
        }
        self.parts = parts + [.text(String(rest))]
    }

    /// Returns whether a text has a part that stands for a name or a size.
    static func isPattern(_ text: String) -> Bool {
        let pattern = NamePattern(text)
        return pattern.hasName || pattern.hasSize
    }

    /// Returns the first part of a text that looks like a field but is none, such as `{nme}`, or nil.
    static func unknownField(in text: String) -> String? {
        for part in text.split(separator: "{", omittingEmptySubsequences: false).dropFirst() {
            guard let end = part.firstIndex(of: "}") else { continue }
            let word = part[..<end]
            if !word.isEmpty, word.allSatisfy({ $0.isASCII && $0.isLetter }), word != "name", word != "size" {
                return "{\(word)}"
            }
        }
        return nil
    }

    var hasName: Bool { parts.contains(.name) }

    var hasSize: Bool { parts.contains(.size) }

    /// Returns the name of a file, without an extension.
    ///
    /// - Parameters:
    ///   - name: The name of the image.
    ///   - size: The size, or nil for an empty text.
    func text(name: String, size: Int?) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .name: name
            case .size: size.map { "\($0)" } ?? ""
            }
        }.joined()
    }
}
