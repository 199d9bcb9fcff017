import AlcedoCore
import AlcedoHTTP

/// The directives of a `Cache-Control` field, or of a targeted one. Source: RFC 9111 section 5.2, RFC 9213.
///
/// Unknown directives are kept and harm nothing. What cannot be read is read as the stricter of its meanings.
struct CacheControl {
    private struct Directive {
        /// In lower case.
        var name: String
        /// Without quotes; nil when there is none.
        var argument: String?
    }

    /// Most directives that are read; no server means more.
    static let limit = 256

    /// A quoted string does not end, so whatever follows it may be hidden in it; or there are too many directives.
    private(set) var isMalformed = false
    private var directives: [Directive] = []

    init(_ fields: HTTPFields) {
        for line in fields.values(of: "Cache-Control") { read(line) }
    }

    /// The directives of a targeted field; nil when it is not there, is empty, or is no dictionary (RFC 9213
    /// section 2.1, which has it ignored then).
    init?(targeted name: String, of fields: HTTPFields) {
        guard let text = fields[name], let members = StructuredDictionary(text)?.members, !members.isEmpty else {
            return nil
        }
        for member in members where member.value != .boolean(false) {
            directives.append(Directive(name: member.key, argument: member.value.directiveArgument))
        }
    }

    /// Whether there is no directive at all.
    var isEmpty: Bool { directives.isEmpty && !isMalformed }

    /// Whether the directive is there, whatever its argument.
    func contains(_ name: String) -> Bool { directives.contains { $0.name == name } }

    /// Whether nothing may be stored.
    var forbidsStoring: Bool { isMalformed || contains("no-store") }

    /// Whether the directive is there with an argument.
    func hasArgument(_ name: String) -> Bool { directives.contains { $0.name == name && $0.argument != nil } }

    /// Whether the directive is there and speaks of the whole answer: without an argument, or with one that names no
    /// field.
    func containsUnqualified(_ name: String) -> Bool {
        directives.contains { $0.name == name && Self.fieldNames(in: $0.argument).isEmpty }
    }

    /// The fields that a directive is limited to, such as `no-cache="Set-Cookie"`, in lower case.
    func fieldNames(of name: String) -> [String] {
        directives.filter { $0.name == name }.flatMap { Self.fieldNames(in: $0.argument) }
    }

    private static func fieldNames(in argument: String?) -> [String] {
        guard let argument else { return [] }
        let names = argument.split(separator: ",").map { $0.trimmingBlanks.lowercased() }.filter { !$0.isEmpty }
        // What is no list of names limits nothing.
        return names.allSatisfy(\.isToken) ? names : []
    }

    /// The number of seconds of a directive; nil when the directive is missing.
    ///
    /// Several that differ are invalid: section 4.2.1 lets a cache take the first or call the answer stale.
    func seconds(_ name: String) -> DeltaSeconds? {
        let found = directives.filter { $0.name == name }.map { DeltaSeconds($0.argument ?? "") }
        guard let first = found.first else { return nil }
        return found.allSatisfy { $0 == first } ? first : .invalid
    }

    private mutating func read(_ line: String) {
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
            // White space around "=" is not in the grammar; the argument then counts as a bad one.
            let isOdd = argument != nil && name.last.map(Substring.isBlank) == true
            directives.append(Directive(name: trimmed.lowercased(), argument: isOdd ? "" : argument))
        }
    }

    private func readToken(_ rest: inout Substring) -> String {
        let token = rest.prefix { $0 != "," }
        rest = rest[token.endIndex...]
        // Blanks at the end belong to the list; those at the start make the argument a bad one.
        return String(token.reversed().drop(while: Substring.isBlank).reversed())
    }

    private mutating func readQuoted(_ rest: inout Substring) -> String {
        rest = rest.dropFirst()
        var text = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"":
                let tail = rest.prefix { $0 != "," }
                // Something between the closing quote and the comma: not one argument.
                return tail.allSatisfy(Substring.isBlank) ? text : text + "\"" + tail
            case "\\": if let next = rest.popFirst() { text.append(next) }
            default: text.append(character)
            }
        }
        isMalformed = true
        return text
    }
}
