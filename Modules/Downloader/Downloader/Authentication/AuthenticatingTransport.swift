public import AlcedoCore
public import AlcedoHTTP
import AlcedoRuntime
public import FoundationEssentials

/// Shows servers who asks, over any other transport.
///
/// An answer 401 is followed by a call of the responder, and the request is sent again with the credential that it returns: by
/// Digest (RFC 7616: SHA-256 and MD5, `qop` `auth`), Basic (RFC 7617) or Bearer (RFC 6750). What a server has taken is
/// shown again to the same origin without asking, and never to another. Requests that are refused at once share one
/// challenge. A request with an `Authorization` of its own is passed on as it is; when the responder has nothing, or
/// only what was refused, the answer 401 is passed on.
///
/// It is done here and not by a transport's library, so that every transport has it, one responder serves all schemes,
/// and nonces are used again instead of two requests each time.
///
/// Put it around a response cache, not behind: a shared cache must see who a request is for (RFC 9111 section 3.5). A
/// password that is sent by Basic over `http` can be read on the way; the responder may decline by the URL. A proxy's
/// own challenges (407) are not answered.
public struct AuthenticatingTransport: HTTPTransport {
    /// Returns a credential, or nil for none. May take its time: ask a person, or another server.
    package typealias Responder = @Sendable (AuthenticationChallenge) async throws -> HTTPCredential?

    private struct Key: Hashable {
        var origin: String
        var realms: [String?]
        var refused: HTTPCredential?
        var refusalCount: Int
    }

    /// Most times that a request is sent.
    private static let maximumAttempts = 8

    private let transport: any HTTPTransport
    private let responder: Responder
    private let clock: any TimeSource
    private let memory = CredentialMemory()
    private let requestedCredentials = Coalescer<Key, Never, HTTPCredential?>()

    /// - Parameters:
    ///   - transport: Sends the requests.
    ///   - clock: Tells how long the bodies of refusals, which nobody wants, are waited for.
    ///   - responder: Returns a credential, or nil for none. May take its time: ask a person, or another server.
    public init(
        wrapping transport: any HTTPTransport, clock: any TimeSource = SystemClock(),
        responder: @escaping @Sendable (AuthenticationChallenge) async throws -> HTTPCredential?
    ) {
        self.transport = transport
        self.clock = clock
        self.responder = responder
    }

    /// - Parameters:
    ///   - transport: Sends the requests.
    ///   - credentials: By server: any URL of it, of which scheme, host and port count. What is meant for `https` is
    ///     never shown over `http`. Of several URLs of one server, any one's counts.
    ///   - clock: As of the other initialiser.
    public init(
        wrapping transport: any HTTPTransport, credentials: [URL: HTTPCredential], clock: any TimeSource = SystemClock()
    ) {
        let byOrigin = Dictionary(credentials.map { ($0.key.origin, $0.value) }) { first, _ in first }
        self.init(wrapping: transport, clock: clock) { byOrigin[$0.url.origin] }
    }

    /// - Throws: What the wrapped transport or the responder throws.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard request.fields["Authorization"] == nil else { return try await transport.send(request) }
        let origin = request.url.origin
        var use = memory.use(for: origin)
        var isFromMemory = use != nil
        var refusalCount = 0
        var attempt = 1
        while true {
            var signed = request
            signed.fields["Authorization"] = use?.field(for: request, clientNonce: Self.makeNonce())
            let response = try await transport.send(signed)
            guard response.head.status == 401, attempt < Self.maximumAttempts else { return response }
            let challenges = HTTPChallenge.challenges(in: response.head.fields)
            // The nonce of a Digest that was taken before may have grown old; its credential has not.
            let isOld = use.map { isFromMemory && $0.growsOld || $0.isOld(by: challenges) } ?? false
            if use != nil, !isOld { refusalCount += 1 }
            let challenge = AuthenticationChallenge(
                url: request.url, challenges: challenges, refusalCount: refusalCount)
            let credential = isOld ? use?.credential : try await credential(challenge, origin, refused: use?.credential)
            guard let credential, let next = CredentialUse(credential, for: challenges) else { return response }
            memory.store(next, for: origin)
            try await response.body.drain(clock.sleep)
            (use, isFromMemory) = (next, false)
            attempt += 1
        }
    }

    /// Another credential than the one that was refused: another request's, or the responder's.
    private func credential(
        _ challenge: AuthenticationChallenge, _ origin: String, refused: HTTPCredential?
    ) async throws -> HTTPCredential? {
        guard !challenge.challenges.isEmpty else { return nil }
        if let known = memory.credential(for: origin), known != refused { return known }
        if let refused { memory.forget(refused, of: origin) }
        let key = Key(
            origin: origin, realms: challenge.challenges.map(\.realm), refused: refused,
            refusalCount: challenge.refusalCount)
        return try await requestedCredentials.value(for: key) { [responder, memory] _ in
            // A call of the responder that ended between the look above and here has stored its credential.
            if let known = memory.credential(for: challenge.url.origin), known != refused { return known }
            guard let answer = try await responder(challenge), answer != refused else { return nil }
            // Before the call ends, so that no later request calls the responder again.
            if let use = CredentialUse(answer, for: challenge.challenges) { memory.store(use, for: origin) }
            return answer
        }
    }

    private static func makeNonce() -> String {
        String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
    }
}

/// What a responder is asked when a server wants a credential.
public struct AuthenticationChallenge: Sendable, Hashable {
    /// What was asked for. A password that is sent by Basic over `http` can be read on the way.
    public var url: URL
    /// The ways that the server takes.
    public var challenges: [HTTPChallenge]
    /// How many credentials the server has refused for this request.
    public var refusalCount: Int

    /// A challenge; by default the first about this URL.
    package init(url: URL, challenges: [HTTPChallenge], refusalCount: Int = 0) {
        self.url = url
        self.challenges = challenges
        self.refusalCount = refusalCount
    }
}

/// What a server is shown so that it answers.
public enum HTTPCredential: Sendable, Hashable {
    /// For the schemes Digest and Basic, the stronger of those that the server takes.
    case password(user: String, password: String)
    /// A token for the scheme Bearer.
    case bearer(String)
}

/// The credentials that servers have taken, or are being shown, by origin.
private final class CredentialMemory: Sendable {
    private let uses = Locked<[String: CredentialUse]>([:])

    /// What to show a server, counted as used.
    func use(for origin: String) -> CredentialUse? {
        uses.withLock { uses in
            uses[origin]?.count += 1
            return uses[origin]
        }
    }

    func credential(for origin: String) -> HTTPCredential? { uses.withLock { $0[origin]?.credential } }

    func store(_ use: CredentialUse, for origin: String) { uses.withLock { $0[origin] = use } }

    /// Forgets a credential that was refused, if it is still the one.
    func forget(_ credential: HTTPCredential, of origin: String) {
        uses.withLock { uses in
            if uses[origin]?.credential == credential { uses[origin] = nil }
        }
    }
}

/// A credential and the challenge that it answers.
private struct CredentialUse: Sendable {
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
