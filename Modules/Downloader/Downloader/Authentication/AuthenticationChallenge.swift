package import AlcedoHTTP
public import FoundationEssentials

/// A server's challenge for credentials. Source: RFC 9110 section 11.
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The URL of the request. A Basic password that is sent over `http` can be read by others on the network.
    public var url: URL
    /// The schemes that the server accepts, in the order of the response.
    public var schemes: [Scheme]
    /// The number of credentials that the server has rejected for this request.
    public var previousFailureCount: Int

    /// Creates a challenge; by default the first one of a request.
    package init(url: URL, schemes: [Scheme], previousFailureCount: Int = 0) {
        self.url = url
        self.schemes = schemes
        self.previousFailureCount = previousFailureCount
    }

    /// An authentication scheme with its parameters. Source: RFC 9110 section 11.3.
    public struct Scheme: Sendable, Hashable {
        /// The lowercase name, such as `basic`, `digest` and `bearer`.
        public var name: String
        /// The parameters by lowercase name, without quotes. `realm` describes the protected area to the user.
        public var parameters: [String: String]

        /// Creates a scheme; by default without parameters.
        package init(name: String, parameters: [String: String] = [:]) {
            self.name = name
            self.parameters = parameters
        }

        /// The realm, which together with the origin identifies the protection space. Source: RFC 9110 section 11.5.
        package var realm: String? { parameters["realm"] }

        /// Returns the schemes of a 401 response in their order. The parsing of a field line ends at the first syntax
        /// error.
        package static func all(in fields: HTTPFields) -> [Scheme] {
            fields.values(of: "WWW-Authenticate").flatMap { line in
                var parser = ChallengeParser(line)
                return parser.parse()
            }
        }
    }
}

/// A parser for the list of challenges in one field line. Source: RFC 9110 sections 5.6 and 11.6.1.
///
/// Commas separate both challenges and their parameters. A name followed by `=` is a parameter of the preceding
/// challenge; a name without `=` begins another challenge.
private struct ChallengeParser {
    private var rest: Substring.UnicodeScalarView

    init(_ line: String) { rest = Substring(line).unicodeScalars }

    mutating func parse() -> [AuthenticationChallenge.Scheme] {
        var schemes: [AuthenticationChallenge.Scheme] = []
        while true {
            rest = rest.drop { $0 == "," || Self.isSpace($0) }
            guard let name = takeToken() else { return schemes }
            skipSpace()
            if rest.first == "=" {
                rest.removeFirst()
                skipSpace()
                // An invalid parameter ends the list, because the start of the next parameter is uncertain.
                guard let value = takeValue(), let last = schemes.indices.last else { return schemes }
                schemes[last].parameters[name.lowercased()] = value
            } else {
                schemes.append(AuthenticationChallenge.Scheme(name: name.lowercased()))
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

    /// Skips a token68, which some schemes such as Negotiate send in place of parameters.
    private mutating func skipToken68() {
        var after = rest.drop { String($0).isToken || $0 == "/" }
        after = after.drop { $0 == "=" }.drop(while: Self.isSpace)
        if after.isEmpty || after.first == "," { rest = after }
    }

    private mutating func skipSpace() { rest = rest.drop(while: Self.isSpace) }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }
}
