import AlcedoCore
import AlcedoHTTP

/// The directives of a `Cache-Control` field, or of a targeted field. Source: RFC 9111 section 5.2, RFC 9213.
///
/// Unknown directives are kept and have no effect. An invalid value is interpreted in the stricter of its meanings.
struct CacheControl {
    private struct Directive {
        /// The name in lower case.
        var name: String
        /// The argument without quotes; nil if there is none.
        var argument: String?
    }

    /// The maximum number of directives. A field with more is malformed.
    static let limit = 256

    /// Whether a quoted string is unterminated or does not follow an equals sign, so that it may hide directives, or
    /// there are too many directives.
    private(set) var isMalformed = false
    private var directives: [Directive] = []

    init(_ fields: HTTPFields) {
        for line in fields.values(of: "Cache-Control") { read(line) }
    }

    /// Creates the directives of a targeted field. Returns nil if the field is missing, empty or not a dictionary: RFC
    /// 9213 section 2.1 requires ignoring such a field.
    init?(targeted name: String, of fields: HTTPFields) {
        guard let text = fields[name], let members = StructuredDictionary(text)?.members, !members.isEmpty else {
            return nil
        }
        for member in members where member.value != .boolean(false) {
            directives.append(Directive(name: member.key, argument: member.value.directiveArgument))
        }
    }

    /// Whether the field has no directives and is not malformed.
    var isEmpty: Bool { directives.isEmpty && !isMalformed }

    /// Whether the directive is present, with any argument.
    func contains(_ name: String) -> Bool { directives.contains { $0.name == name } }

    /// Whether the directives forbid storage.
    var forbidsStoring: Bool { isMalformed || contains("no-store") }

    /// Whether the directive is present with an argument.
    func hasArgument(_ name: String) -> Bool { directives.contains { $0.name == name && $0.argument != nil } }

    /// Whether the directive is present and applies to the whole response: it has no argument, or an argument without
    /// valid field names.
    func containsUnqualified(_ name: String) -> Bool {
        directives.contains { $0.name == name && Self.fieldNames(in: $0.argument).isEmpty }
    }

    /// Returns the fields that a directive is limited to, such as `no-cache="Set-Cookie"`, in lower case.
    func fieldNames(of name: String) -> [String] {
        directives.filter { $0.name == name }.flatMap { Self.fieldNames(in: $0.argument) }
    }

    private static func fieldNames(in argument: String?) -> [String] {
        guard let argument else { return [] }
        let names = argument.split(separator: ",").map { $0.trimmingBlanks.lowercased() }.filter { !$0.isEmpty }
        // An argument that is not a list of names limits nothing.
        return names.allSatisfy(\.isToken) ? names : []
    }

    /// Returns the number of seconds of a directive; nil if the directive is missing.
    ///
    /// Several different values are invalid: section 4.2.1 lets a cache use the first value or treat the response as
    /// stale.
    func seconds(_ name: String) -> DeltaSeconds? {
        let found = directives.filter { $0.name == name }.map { DeltaSeconds($0.argument ?? "") }
        guard let first = found.first else { return nil }
        return found.allSatisfy { $0 == first } ? first : .invalid
    }

    private mutating func read(_ line: String) {
        if !QuotedList.parse(line).isUnambiguous { isMalformed = true }
        var rest = Substring(line)
        while !rest.isEmpty {
            guard directives.count < Self.limit else {
                isMalformed = true
                return
            }
            let name = rest.prefix { $0 != "," && $0 != "=" }
            rest = rest[name.endIndex...]
            var argument: String?
            if rest.first == "=" {
                rest = rest.dropFirst()
                argument = rest.first == "\"" ? readQuoted(&rest) : readToken(&rest)
            }
            rest = rest.drop { $0 != "," }.dropFirst()
            let trimmed = name.trimmingBlanks
            guard !trimmed.isEmpty else { continue }
            // White space around "=" is not in the grammar, so the argument is invalid.
            let hasBlank = argument != nil && name.last.map(Substring.isBlank) == true
            directives.append(Directive(name: trimmed.lowercased(), argument: hasBlank ? "" : argument))
        }
    }

    private func readToken(_ rest: inout Substring) -> String {
        let token = rest.prefix { $0 != "," }
        rest = rest[token.endIndex...]
        // Trailing blanks belong to the list. Leading blanks make the argument invalid.
        return String(token.reversed().drop(while: Substring.isBlank).reversed())
    }

    private mutating func readQuoted(_ rest: inout Substring) -> String {
        rest = rest.dropFirst()
        var text = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"":
                let tail = rest.prefix { $0 != "," }
                // Text between the closing quote and the comma makes the argument invalid.
                return tail.allSatisfy(Substring.isBlank) ? text : text + "\"" + tail
            case "\\": if let next = rest.popFirst() { text.append(next) }
            default: text.append(character)
            }
        }
        isMalformed = true
        return text
    }
}
