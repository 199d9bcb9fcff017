public import AlcedoCore
public import AlcedoHTTP
import AlcedoRuntime
public import FoundationEssentials

/// A transport that responds to the authentication challenges of servers and sends requests over another transport.
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
/// After a 401 response, the transport sends the request again, with a stored credential or with one that the responder
/// returns. The schemes are Digest (RFC 7616: SHA-256 and MD5, `qop` `auth`), Basic (RFC 7617) and Bearer (RFC 6750).
/// Later requests to the same origin and realm send the credential at once; no other origin receives it.
///
/// The 401 response is passed on if the responder returns nil, the rejected credential, or one that suits none of the
/// schemes, and after 8 attempts. A request with an `Authorization` field of its own, and challenges of a proxy (407),
/// are passed on unchanged. A Basic password that is sent over `http` can be read by others on the network; the
/// responder can return nil for such a URL.
///
/// Wrap a response cache in this transport, not the other way round, so that a shared cache receives the
/// `Authorization` field of each request (RFC 9111 section 3.5).
public struct AuthenticatingTransport: HTTPTransport {
    /// A closure that returns a credential, or nil for none. It may take a long time, for example to prompt the user or
    /// to call another server.
    package typealias Responder = @Sendable (AuthenticationChallenge) async throws -> HTTPCredential?

    private struct CredentialRequest: Hashable {
        var origin: String
        var realms: [String?]
        var rejected: HTTPCredential?
        var previousFailureCount: Int
    }

    /// The maximum number of times that one request is sent.
    private static let maximumAttempts = 8

    private let transport: any HTTPTransport
    private let responder: Responder
    private let clock: any TimeSource
    private let memory = CredentialMemory()
    private let credentialRequests = Coalescer<CredentialRequest, Never, HTTPCredential?>()

    /// Creates a transport that responds to the challenges of servers.
    ///
    /// - Parameters:
    ///   - transport: The transport that sends the requests.
    ///   - credentials: Credentials by server. A key is any URL of the server, of which only scheme, host and port are
    ///     used; a credential for `https` is never sent over `http`. If several URLs name the same server, one of their
    ///     credentials is used, and which one is not specified. Default: none.
    ///   - clock: The clock for the time limit on reading the bodies of 401 responses. Default: the system's clock.
    ///   - responder: A closure that returns a credential, or nil for none. It is called if `credentials` has none for
    ///     the server, or if the server has rejected a credential. It may take a long time, for example to prompt the
    ///     user or to call another server. Default: returns nil.
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

    /// Sends a request, and sends it again with credentials after a challenge.
    ///
    /// - Throws: The error of the wrapped transport or of the responder, or `CancellationError` if the task is
    ///   canceled.
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

    /// Returns a stored credential for one of the challenge's realms, or else the responder's credential, which is then
    /// stored. A credential that equals the rejected one is not returned. Returns nil if there is no other credential,
    /// or if the challenge has no scheme.
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
            // A call of the responder may have ended after the lookup above and stored its credential.
            if let known = memory.credential(for: origin, realms), known != rejectedCredential { return known }
            guard let found = try await responder(challenge), found != rejectedCredential else { return nil }
            // Stored before the call ends, so that no later request calls the responder again.
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
    /// A user name and a password, for Digest and Basic. The strongest scheme that the server accepts is used.
    case password(user: String, password: String)
    /// A token for Bearer.
    case bearer(String)
}

/// The stored credentials by protection space. A protection space is an origin and a realm. Source: RFC 9110 section
/// 11.5.
private final class CredentialMemory: Sendable {
    /// The maximum number of stored realms for one origin. Beyond the maximum, the least recently used realm is
    /// removed. The limit is needed because some servers send a new realm in each challenge.
    private static let maximumRealmCount = 16

    /// The credentials by origin; the most recently used one is last.
    private let uses = Locked<[String: [CredentialUse]]>([:])

    /// Returns the most recently used credential of an origin and increments its use count. Returns nil if the origin
    /// has none. All realms are considered, because the realm of a URL is unknown until the server has sent a
    /// challenge.
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

    /// Stores a credential without incrementing its use count. Does nothing if the credential suits none of the
    /// schemes.
    func store(_ credential: HTTPCredential, _ schemes: [AuthenticationChallenge.Scheme], for origin: String) {
        guard let use = CredentialUse(credential, for: schemes) else { return }
        _ = insert(use, for: origin, increment: 0)
    }

    /// Stores a credential, increments its use count and returns it. Returns nil if the credential suits none of the
    /// schemes.
    func use(
        _ credential: HTTPCredential, _ schemes: [AuthenticationChallenge.Scheme], for origin: String
    ) -> CredentialUse? {
        CredentialUse(credential, for: schemes).map { insert($0, for: origin, increment: 1) }
    }

    /// Removes a rejected credential, if it is still the current one of its protection space.
    func remove(_ use: CredentialUse, of origin: String) {
        uses.withLock { uses in
            let index = uses[origin]?.firstIndex {
                $0.scheme.realm == use.scheme.realm && $0.credential == use.credential
            }
            if let index { uses[origin]?.remove(at: index) }
        }
    }

    /// Replaces the credential of a protection space, adds `increment` to its use count and returns it. The count
    /// continues from the previous one if credential, scheme and nonce are equal, because a server that gives one nonce
    /// to several requests rejects a count that it has seen. Source: RFC 7616 section 3.4.
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

/// A credential and the scheme with which it is sent.
private struct CredentialUse: Sendable {
    /// The reason for a 401 response to a request with a credential.
    enum Outcome {
        case rejected
        /// The nonce has expired, or may have expired. The credential may still be valid.
        case stale
        /// The URL belongs to another protection space, for which the credential is not meant.
        case otherSpace
    }

    let credential: HTTPCredential
    let scheme: AuthenticationChallenge.Scheme
    /// The number of requests that have used the credential. With Digest, the number starts again with each new nonce.
    var count = 0

    /// Pairs a credential with the strongest scheme that suits it; nil if no scheme suits it.
    init?(_ credential: HTTPCredential, for schemes: [AuthenticationChallenge.Scheme]) {
        self.credential = credential
        let found: AuthenticationChallenge.Scheme?
        switch credential {
        case .bearer: found = schemes.first { $0.name == "bearer" }
        case .password(let user, _):
            let digests = schemes.compactMap { scheme in
                DigestResponse(scheme).map { (scheme, $0.algorithm.strength) }
            }
            // Basic separates name and password with a colon, so the name cannot contain one. RFC 7617 section 2.
            let basic = user.contains(":") ? nil : schemes.first { $0.name == "basic" }
            // The first of the strongest, because servers list their preferred scheme first.
            found = digests.max { $0.1 < $1.1 }?.0 ?? basic
        }
        guard let found else { return nil }
        scheme = found
    }

    private var isDigest: Bool { scheme.name == "digest" }

    /// Returns whether `other` shares this value's nonce counter.
    func hasCount(of other: Self) -> Bool {
        credential == other.credential && scheme.name == other.scheme.name
            && scheme.parameters["nonce"] == other.scheme.parameters["nonce"]
    }

    /// Returns the reason for a 401 response.
    ///
    /// - Parameters:
    ///   - schemes: The schemes of the 401 response.
    ///   - isFromMemory: Whether the credential was sent before this request had received a challenge.
    func outcome(of schemes: [AuthenticationChallenge.Scheme], isFromMemory: Bool) -> Outcome {
        // RFC 7616 section 3.3.
        let isStale = schemes.contains { $0.name == "digest" && $0.parameters["stale"]?.lowercased() == "true" }
        if isDigest, isStale { return .stale }
        guard isFromMemory else { return .rejected }
        guard schemes.contains(where: { $0.realm == scheme.realm }) else { return .otherSpace }
        // The nonce of an accepted Digest credential may have expired; the credential may still be valid.
        return isDigest ? .stale : .rejected
    }

    /// Returns the value of `Authorization` for a request.
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

    /// Returns the path and the query as transports send them.
    private static func target(_ url: URL) -> String { WebURL(url.absoluteString)?.target ?? "/" }
}
