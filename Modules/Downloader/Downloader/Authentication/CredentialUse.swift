import AlcedoCore
import FoundationEssentials

/// A credential and the challenge that it answers.
struct CredentialUse: Sendable {
    let credential: HTTPCredential
    let challenge: HTTPChallenge
    /// How many requests have used it, the first included. Digest counts them for each of the server's nonces.
    var count = 1

    /// Takes the strongest of the challenges that the credential can answer; nil when there is none.
    init?(_ credential: HTTPCredential, for challenges: [HTTPChallenge]) {
        self.credential = credential
        let found: HTTPChallenge?
        switch credential {
        case .bearer: found = challenges.first { $0.scheme == "bearer" }
        case .password(let user, _):
            let digests = challenges.compactMap { challenge in
                DigestAnswer(challenge).map { (challenge, $0.algorithm.strength) }
            }
            // RFC 7617 section 2: Basic could not tell where such a name ends.
            let basic = user.contains(":") ? nil : challenges.first { $0.scheme == "basic" }
            // The first of the strongest: servers name what they like best before the rest.
            found = digests.reversed().max { $0.1 < $1.1 }?.0 ?? basic
        }
        guard let found else { return nil }
        challenge = found
    }

    /// Whether the server may refuse the answer though the credential is right, for its nonce being old.
    var growsOld: Bool { challenge.scheme == "digest" }

    /// Whether a server says so. Source: RFC 7616 section 3.3.
    func isOld(by challenges: [HTTPChallenge]) -> Bool {
        growsOld && challenges.contains { $0.scheme == "digest" && $0.parameters["stale"]?.lowercased() == "true" }
    }

    /// The value of `Authorization` for a request.
    func field(for request: HTTPRequest, clientNonce: String) -> String? {
        switch credential {
        case .bearer(let token): return "Bearer \(token)"
        case .password(let user, let password):
            guard let digest = DigestAnswer(challenge) else {
                return "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
            }
            return digest.field(
                user: user, password: password, method: request.method.rawValue, target: Self.target(request.url),
                count: count, clientNonce: clientNonce)
        }
    }

    /// Returns path and query as transports send them: without dot segments.
    private static func target(_ url: URL) -> String {
        let plain = DotSegments.removed(fromURL: url.absoluteString).flatMap { URL(string: $0) } ?? url
        let path = plain.path(percentEncoded: true)
        let query = plain.query(percentEncoded: true).map { "?\($0)" } ?? ""
        return (path.isEmpty ? "/" : path) + query
    }
}
