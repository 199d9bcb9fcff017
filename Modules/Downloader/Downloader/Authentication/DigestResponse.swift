import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime

/// The response to a Digest challenge. Sources: RFC 7616 section 3.4, and RFC 2069 for challenges without `qop`.
struct DigestResponse {
    private let scheme: AuthenticationChallenge.Scheme
    let algorithm: DigestAlgorithm
    private let realm: String
    private let nonce: String
    private let hasQuality: Bool

    /// Creates a response. Returns nil if the scheme is not Digest, has no realm or nonce, requires an unsupported
    /// algorithm, or has a `qop` without `auth`. A session algorithm without `qop` is not supported either.
    init?(_ scheme: AuthenticationChallenge.Scheme) {
        guard scheme.name == "digest", let realm = scheme.parameters["realm"],
            let nonce = scheme.parameters["nonce"],
            let algorithm = DigestAlgorithm(rawValue: scheme.parameters["algorithm"]?.lowercased() ?? "md5")
        else { return nil }
        if let quality = scheme.parameters["qop"] {
            let fields: HTTPFields = ["qop": quality]
            guard fields.list("qop", contains: "auth") else { return nil }
        }
        // The hash of a session algorithm contains the client's nonce, which is sent only together with `qop`.
        guard scheme.parameters["qop"] != nil || !algorithm.isSession else { return nil }
        (self.scheme, self.algorithm, self.realm, self.nonce) = (scheme, algorithm, realm, nonce)
        hasQuality = scheme.parameters["qop"] != nil
    }

    /// Returns the value of `Authorization`.
    ///
    /// - Parameters:
    ///   - user: The user name.
    ///   - password: The password.
    ///   - method: The method of the request.
    ///   - target: The path and query as they are sent.
    ///   - count: The number of requests that have used the nonce, including this one.
    ///   - clientNonce: The client's nonce.
    func field(
        user: String, password: String, method: String, target: String, count: Int, clientNonce: String
    ) -> String {
        let name = Array(user.utf8)
        var secret = algorithm.hash(name, wire(realm), Array(password.utf8))
        if algorithm.isSession { secret = algorithm.hash(secret, wire(nonce), wire(clientNonce)) }
        let request = algorithm.hash(wire(method), wire(target))
        let digits = String(count, radix: 16)
        let number = String(repeating: "0", count: max(0, 8 - digits.count)) + digits
        let proof =
            hasQuality
            ? algorithm.hash(secret, wire(nonce), wire(number), wire(clientNonce), wire("auth"), request)
            : algorithm.hash(secret, wire(nonce), request)
        var parts = [
            userPart(name), "realm=\(quoted(realm))", "nonce=\(quoted(nonce))", "uri=\(quoted(target))",
            "response=\"\(String(decoding: proof, as: UTF8.self))\"",
        ]
        if let named = scheme.parameters["algorithm"] { parts.append("algorithm=\(named)") }
        if hasQuality { parts += ["qop=auth", "nc=\(number)", "cnonce=\(quoted(clientNonce))"] }
        if let opaque = scheme.parameters["opaque"] { parts.append("opaque=\(quoted(opaque))") }
        return "Digest " + parts.joined(separator: ", ")
    }

    private func userPart(_ name: [UInt8]) -> String {
        if scheme.parameters["userhash"]?.lowercased() == "true" {
            let hash = String(decoding: algorithm.hash(name, wire(realm)), as: UTF8.self)
            return "username=\"\(hash)\", userhash=true"
        }
        if name.allSatisfy({ (0x20...0x7E).contains($0) }) {
            return "username=\(quoted(String(decoding: name, as: UTF8.self)))"
        }
        // Other names are encoded as in RFC 8187. Unreserved bytes need no escape there.
        return "username*=UTF-8''\(name.percentEncoded(except: \.isUnreserved))"
    }

    private func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// Returns the bytes of a text: its ISO-8859-1 encoding if there is one, otherwise its UTF-8 encoding.
    private func wire(_ text: String) -> [UInt8] { text.latin1 ?? Array(text.utf8) }
}

/// The hash algorithms of Digest authentication. Source: RFC 7616 section 3.4.2.
enum DigestAlgorithm: String {
    case sha256 = "sha-256"
    case sha256Session = "sha-256-sess"
    case md5 = "md5"
    case md5Session = "md5-sess"

    /// Whether the secret (A1 in the RFC) contains the nonces of server and client.
    var isSession: Bool { self == .sha256Session || self == .md5Session }

    /// The strength for comparison; a greater number is stronger.
    var strength: Int { self == .sha256 || self == .sha256Session ? 1 : 0 }

    /// Joins the parts with colons, and returns the hash of the result as lowercase hexadecimal digits.
    func hash(_ parts: [UInt8]...) -> [UInt8] {
        let message = Array(parts.joined(separator: [UInt8(ascii: ":")]))
        guard strength > 0 else { return Array(MD5.hexDigest(of: message).utf8) }
        var hash = SHA256()
        hash.update(message)
        return Array(hash.finalizedHexadecimal().utf8)
    }
}
