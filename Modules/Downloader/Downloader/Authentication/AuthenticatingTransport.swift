public import AlcedoCore
public import AlcedoHTTP
import AlcedoRuntime
public import FoundationEssentials

/// Responds to the authentication challenges of servers, over any other transport.
///
/// ```swift
/// import AlcedoCURL
/// import AlcedoDownloader
///
/// let transport = AuthenticatingTransport(wrapping: CURLTransport()) { challenge in
///     challenge.previousFailureCount == 0 ? .password(user: "me", password: "secret") : nil
/// }
/// ```
///
/// A 401 response is followed by a call of the responder, and the request is sent again with the credential that it returns:
/// by Digest (RFC 7616: SHA-256 and MD5, `qop` `auth`), Basic (RFC 7617) or Bearer (RFC 6750). What a server has accepted is
/// sent to the same origin again without a challenge, and never to another; each realm of an origin has its own credential.
/// Requests that are rejected at once share one call of the responder. A request with an `Authorization` of its own is passed
/// on as it is; when the responder has nothing, or only what was rejected, the 401 response is passed on.
///
/// It is done here and not by a transport's library, so that every transport has it, one responder serves all schemes,
/// and nonces are used again instead of two requests each time.
///
/// Put it around a response cache, not behind: a shared cache must see who a request is for (RFC 9111 section 3.5). A
/// password that is sent by Basic over `http` can be read on the way; the responder may decline by the URL. A proxy's
/// own challenges (407) are passed on.
public struct AuthenticatingTransport: HTTPTransport {
    /// Returns a credential, or nil for none. May take its time: prompt a person, or call another server.
    package typealias Responder = @Sendable (AuthenticationChallenge) async throws -> HTTPCredential?

    private struct CredentialRequest: Hashable {
        var origin: String
        var realms: [String?]
        var rejected: HTTPCredential?
        var previousFailureCount: Int
    }

    /// The maximum number of times that a request is sent.
    private static let maximumAttempts = 8

    private let transport: any HTTPTransport
    private let responder: Responder
    private let clock: any TimeSource
    private let memory = CredentialMemory()
    private let credentialRequests = Coalescer<CredentialRequest, Never, HTTPCredential?>()

    /// Creates a transport that responds to the challenges of another.
    ///
    /// - Parameters:
    ///   - transport: Sends the requests.
    ///   - credentials: Credentials by server: any URL of it, of which scheme, host and port count. What is meant for
    ///     `https` is never sent over `http`. Of several URLs of one server, any one's counts. Default: none.
    ///   - clock: Limits how long the bodies of 401 responses are waited for.
    ///   - responder: Returns a credential for a server that is not among `credentials`, or that has rejected the one
    ///     there; nil for none. May take its time: prompt a person, or call another server. Default: none.
    public init(
        wrapping transport: any HTTPTransport, credentials: [URL: HTTPCredential] = [:],
        clock: any TimeSource = SystemClock(),
        responder: @escaping @Sendable (AuthenticationChallenge) async throws -> HTTPCredential? = { _ in nil }
    ) {
        self.transport = transport
        self.clock = clock
        let known = Dictionary(credentials.map { ($0.key.origin, $0.value) }) { first, _ in first }
        self.responder = { challenge in
            if challenge.previousFailureCount == 0, let credential = known[challenge.url.origin] { return credential }
            return try await responder(challenge)
        }
    }

    /// - Throws: What the wrapped transport or the responder throws.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard request.fields["Authorization"] == nil else { return try await transport.send(request) }
        let origin = request.url.origin
        var use = memory.latestUse(for: origin)
        var isFromMemory = use != nil
        var failureCount = 0
        var attempt = 1
        while true {
            var signed = request
            signed.fields["Authorization"] = use?.field(for: request, clientNonce: Self.makeNonce())
            let response = try await transport.send(signed)
            guard response.head.status == 401, attempt < Self.maximumAttempts else { return response }
            let schemes = AuthenticationChallenge.Scheme.all(in: response.head.fields)
            let outcome = use.map { $0.outcome(of: schemes, isFromMemory: isFromMemory) }
            if outcome == .rejected { failureCount += 1 }
            let challenge = AuthenticationChallenge(
                url: request.url, schemes: schemes, previousFailureCount: failureCount)
            let credential =
                outcome == .stale
                ? use?.credential
                : try await credential(challenge, origin, rejected: outcome == .rejected ? use : nil)
            guard let credential, let next = memory.use(credential, schemes, for: origin) else { return response }
            try await response.body.drain(clock.sleep)
            (use, isFromMemory) = (next, false)
            attempt += 1
        }
    }

    /// Returns another credential than the rejected one: that of another request, or the responder's.
    private func credential(
        _ challenge: AuthenticationChallenge, _ origin: String, rejected: CredentialUse?
    ) async throws -> HTTPCredential? {
        guard !challenge.schemes.isEmpty else { return nil }
        let realms = challenge.schemes.map(\.realm)
        let rejectedCredential = rejected?.credential
        if let known = memory.credential(for: origin, realms), known != rejectedCredential { return known }
        if let rejected { memory.remove(rejected, of: origin) }
        let request = CredentialRequest(
            origin: origin, realms: realms, rejected: rejectedCredential,
            previousFailureCount: challenge.previousFailureCount)
        return try await credentialRequests.value(for: request) { [responder, memory] _ in
            // A call of the responder that ended between the look above and here has stored its credential.
            if let known = memory.credential(for: origin, realms), known != rejectedCredential { return known }
            guard let found = try await responder(challenge), found != rejectedCredential else { return nil }
            // Before the call ends, so that no later request calls the responder again.
            memory.store(found, challenge.schemes, for: origin)
            return found
        }
    }

    private static func makeNonce() -> String {
        String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
    }
}

/// A credential for a server.
public enum HTTPCredential: Sendable, Hashable {
    /// For the schemes Digest and Basic, the stronger of those that the server accepts.
    case password(user: String, password: String)
    /// A token for the scheme Bearer.
    case bearer(String)
}

/// The credentials that servers have accepted, or are being sent, by protection space: origin and realm. Source: RFC 9110
/// section 11.5.
private final class CredentialMemory: Sendable {
    /// The maximum number of realms of one origin; the least recently used is removed first. Some servers never name the
    /// same one twice.
    private static let maximumRealmCount = 16

    /// By origin, the most recently used last.
    private let uses = Locked<[String: [CredentialUse]]>([:])

    /// Returns the most recently used credential of an origin, counted as used once more. Which realm a URL belongs to is
    /// known only when the server has sent a challenge.
    func latestUse(for origin: String) -> CredentialUse? {
        uses.withLock { uses in
            guard let last = uses[origin]?.indices.last else { return nil }
            uses[origin]?[last].count += 1
            return uses[origin]?[last]
        }
    }

    func credential(for origin: String, _ realms: [String?]) -> HTTPCredential? {
        uses.withLock { $0[origin]?.last { realms.contains($0.scheme.realm) }?.credential }
    }

    /// Stores a credential that no request has used yet.
    func store(_ credential: HTTPCredential, _ schemes: [AuthenticationChallenge.Scheme], for origin: String) {
        guard let use = CredentialUse(credential, for: schemes) else { return }
        _ = insert(use, for: origin, increment: 0)
    }

    /// Stores a credential and returns it, counted as used once more; nil when no scheme takes it.
    func use(
        _ credential: HTTPCredential, _ schemes: [AuthenticationChallenge.Scheme], for origin: String
    ) -> CredentialUse? {
        CredentialUse(credential, for: schemes).map { insert($0, for: origin, increment: 1) }
    }

    /// Removes a credential that was rejected, if it is still the one of its protection space.
    func remove(_ use: CredentialUse, of origin: String) {
        uses.withLock { uses in
            let index = uses[origin]?.firstIndex {
                $0.scheme.realm == use.scheme.realm && $0.credential == use.credential
            }
            if let index { uses[origin]?.remove(at: index) }
        }
    }

    /// Replaces the credential of a protection space. Its count goes on where the nonce is the same: a server that hands one
    /// nonce to several requests rejects a count that it has seen. Source: RFC 7616 section 3.4.
    private func insert(_ use: CredentialUse, for origin: String, increment: Int) -> CredentialUse {
        uses.withLock { uses in
            var use = use
            var others = uses[origin] ?? []
            if let index = others.firstIndex(where: { $0.scheme.realm == use.scheme.realm }) {
                let stored = others.remove(at: index)
                if stored.hasCount(of: use) { use.count = stored.count }
            }
            use.count += increment
            uses[origin] = Array(others.suffix(Self.maximumRealmCount - 1)) + [use]
            return use
        }
    }
}

/// A credential and the scheme by which it is sent.
private struct CredentialUse: Sendable {
    /// What a 401 response says about a credential that was sent.
    enum Outcome {
        case rejected
        /// The credential is not at fault: the nonce is too old.
        case stale
        /// The URL belongs to another protection space, for which the credential was not meant.
        case otherSpace
    }

    let credential: HTTPCredential
    let scheme: AuthenticationChallenge.Scheme
    /// The number of requests that have used it. Digest counts them for each of the server's nonces.
    var count = 0

    /// Takes the strongest of the schemes that the credential can be sent by; nil when there is none.
    init?(_ credential: HTTPCredential, for schemes: [AuthenticationChallenge.Scheme]) {
        self.credential = credential
        let found: AuthenticationChallenge.Scheme?
        switch credential {
        case .bearer: found = schemes.first { $0.name == "bearer" }
        case .password(let user, _):
            let digests = schemes.compactMap { scheme in
                DigestResponse(scheme).map { (scheme, $0.algorithm.strength) }
            }
            // RFC 7617 section 2: Basic could not tell where such a name ends.
            let basic = user.contains(":") ? nil : schemes.first { $0.name == "basic" }
            // The first of the strongest: servers name what they like best before the rest.
            found = digests.reversed().max { $0.1 < $1.1 }?.0 ?? basic
        }
        guard let found else { return nil }
        scheme = found
    }

    private var isDigest: Bool { scheme.name == "digest" }

    /// Whether both count the uses of one nonce.
    func hasCount(of other: Self) -> Bool {
        credential == other.credential && scheme.name == other.scheme.name
            && scheme.parameters["nonce"] == other.scheme.parameters["nonce"]
    }

    /// - Parameters:
    ///   - schemes: Those of the 401 response.
    ///   - isFromMemory: Whether the credential was sent without a challenge for this request.
    func outcome(of schemes: [AuthenticationChallenge.Scheme], isFromMemory: Bool) -> Outcome {
        // RFC 7616 section 3.3.
        let isStale = schemes.contains { $0.name == "digest" && $0.parameters["stale"]?.lowercased() == "true" }
        if isDigest, isStale { return .stale }
        guard isFromMemory else { return .rejected }
        guard schemes.contains(where: { $0.realm == scheme.realm }) else { return .otherSpace }
        // The nonce of a Digest that was accepted before may have expired; its credential has not.
        return isDigest ? .stale : .rejected
    }

    /// The value of `Authorization` for a request.
    func field(for request: HTTPRequest, clientNonce: String) -> String? {
        switch credential {
        case .bearer(let token): return "Bearer \(token)"
        case .password(let user, let password):
            guard let digest = DigestResponse(scheme) else {
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
