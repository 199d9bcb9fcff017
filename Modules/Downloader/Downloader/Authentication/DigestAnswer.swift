import AlcedoCore

/// The answer to a Digest challenge. Source: RFC 7616 section 3.4; without `qop`, RFC 2069.
struct DigestAnswer {
    private let challenge: HTTPChallenge
    let algorithm: DigestAlgorithm
    private let realm: String
    private let nonce: String
    private let hasQuality: Bool

    /// Nil when the challenge asks for what is not known here: another algorithm, or `auth-int` alone.
    init?(_ challenge: HTTPChallenge) {
        guard challenge.scheme == "digest", let realm = challenge.parameters["realm"],
            let nonce = challenge.parameters["nonce"],
            let algorithm = DigestAlgorithm(rawValue: challenge.parameters["algorithm"]?.lowercased() ?? "md5")
        else { return nil }
        if let quality = challenge.parameters["qop"] {
            let fields: HTTPFields = ["qop": quality]
            guard fields.list("qop", contains: "auth") else { return nil }
        }
        // A session's hash has the client's nonce in it, which is sent with a quality only.
        guard challenge.parameters["qop"] != nil || !algorithm.isSession else { return nil }
        (self.challenge, self.algorithm, self.realm, self.nonce) = (challenge, algorithm, realm, nonce)
        hasQuality = challenge.parameters["qop"] != nil
    }

    /// The value of `Authorization`.
    ///
    /// - Parameters:
    ///   - target: Path and query, as they are sent.
    ///   - count: How many requests have used the nonce, this one included.
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
        if let named = challenge.parameters["algorithm"] { parts.append("algorithm=\(named)") }
        if hasQuality { parts += ["qop=auth", "nc=\(number)", "cnonce=\(quoted(clientNonce))"] }
        if let opaque = challenge.parameters["opaque"] { parts.append("opaque=\(quoted(opaque))") }
        return "Digest " + parts.joined(separator: ", ")
    }

    private func userPart(_ name: [UInt8]) -> String {
        if challenge.parameters["userhash"]?.lowercased() == "true" {
            let hash = String(decoding: algorithm.hash(name, wire(realm)), as: UTF8.self)
            return "username=\"\(hash)\", userhash=true"
        }
        if name.allSatisfy({ (0x20...0x7E).contains($0) }) {
            return "username=\(quoted(String(decoding: name, as: UTF8.self)))"
        }
        // RFC 8187: what a quoted text cannot have. Unreserved bytes are among those that need no escape there.
        return "username*=UTF-8''\(name.percentEncoded(except: \.isUnreserved))"
    }

    private func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// The bytes that a text of a message stands for.
    private func wire(_ text: String) -> [UInt8] { text.latin1 ?? Array(text.utf8) }
}
