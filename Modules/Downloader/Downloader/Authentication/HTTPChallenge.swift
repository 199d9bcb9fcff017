import AlcedoCore
package import AlcedoHTTP

/// One way by which a server lets itself be shown who asks. Source: RFC 9110 section 11.
public struct HTTPChallenge: Sendable, Hashable {
    /// In lower case, such as `basic`, `digest` and `bearer`.
    public var scheme: String
    /// By their names in lower case, without quotes.
    public var parameters: [String: String]

    /// A way; by default without parameters.
    package init(scheme: String, parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.parameters = parameters
    }

    /// What the credential is for, in words for people.
    public var realm: String? { parameters["realm"] }
}

extension HTTPChallenge {
    /// The challenges of an answer 401, in order; what cannot be read is left out.
    package static func challenges(in fields: HTTPFields) -> [HTTPChallenge] {
        fields.values(of: "WWW-Authenticate").flatMap { line in
            var parser = HTTPChallengeParser(line)
            return parser.parse()
        }
    }
}

/// Reads the list of challenges in one line. Source: RFC 9110 sections 5.6 and 11.6.1.
///
/// Commas part challenges and their parameters alike: a name with `=` behind it belongs to the challenge before, one
/// without begins another.
private struct HTTPChallengeParser {
    private var rest: Substring.UnicodeScalarView

    init(_ line: String) { rest = Substring(line).unicodeScalars }

    mutating func parse() -> [HTTPChallenge] {
        var challenges: [HTTPChallenge] = []
        while true {
            rest = rest.drop { $0 == "," || Self.isSpace($0) }
            guard let name = takeToken() else { return challenges }
            skipSpace()
            if rest.first == "=" {
                rest.removeFirst()
                skipSpace()
                // A value that is none ends the list: nothing after it is sure.
                guard let value = takeValue(), let last = challenges.indices.last else { return challenges }
                challenges[last].parameters[name.lowercased()] = value
            } else {
                challenges.append(HTTPChallenge(scheme: name.lowercased()))
                skipToken68()
            }
        }
    }

    private mutating func takeToken() -> String? {
        let token = rest.prefix { String($0).isToken }
        rest = rest[token.endIndex...]
        return token.isEmpty ? nil : String(token)
    }

    private mutating func takeValue() -> String? {
        guard rest.first == "\"" else { return takeToken() }
        rest.removeFirst()
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            if scalar == "\"" { return String(value) }
            guard scalar != "\\" else {
                guard let escaped = rest.popFirst() else { return nil }
                value.append(escaped)
                continue
            }
            value.append(scalar)
        }
        return nil
    }

    /// Leaves out a lump such as Negotiate has in place of parameters.
    private mutating func skipToken68() {
        var after = rest.drop { String($0).isToken || $0 == "/" }
        after = after.drop { $0 == "=" }.drop(while: Self.isSpace)
        if after.isEmpty || after.first == "," { rest = after }
    }

    private mutating func skipSpace() { rest = rest.drop(while: Self.isSpace) }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }
}
