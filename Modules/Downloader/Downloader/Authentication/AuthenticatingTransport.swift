public import AlcedoCore
public import FoundationEssentials

/// Shows servers who asks, over any other transport.
///
/// An answer 401 is followed by a question to the responder, and the request is sent again with what it gives: by
/// Digest (RFC 7616: SHA-256 and MD5, `qop` `auth`), Basic (RFC 7617) or Bearer (RFC 6750). What a server has taken is
/// shown again to the same origin without asking, and never to another. Requests that are refused at once share one
/// question. A request with an `Authorization` of its own is passed on as it is; when the responder has nothing, or
/// only what was refused, the answer 401 is passed on.
///
/// It is done here and not by a transport's library, so that every transport has it, one responder serves all schemes,
/// and nonces are used again instead of two requests each time.
///
/// Put it around a response cache, not behind: a shared cache must see who a request is for (RFC 9111 section 3.5). A
/// password that is sent by Basic over `http` can be read on the way; the responder may decline by the URL. A proxy's
/// own questions (407) are not answered.
public struct AuthenticatingTransport: HTTPTransport {
    /// Returns a credential, or nil for none. May take its time: ask a person, or another server.
    public typealias Responder = @Sendable (HTTPAuthenticationQuestion) async throws -> HTTPCredential?

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
    private let time: any TimeSource
    private let memory = CredentialMemory()
    private let questions = Coalescer<Key, Never, HTTPCredential?>()

    /// - Parameters:
    ///   - transport: Sends the requests.
    ///   - time: Tells how long the bodies of refusals, which nobody wants, are waited for.
    ///   - responder: Knows what to show.
    public init(
        wrapping transport: any HTTPTransport, time: any TimeSource = SystemClock(), responder: @escaping Responder
    ) {
        self.transport = transport
        self.time = time
        self.responder = responder
    }

    /// - Parameters:
    ///   - transport: Sends the requests.
    ///   - credentials: By server: any URL of it, of which scheme, host and port count. What is meant for `https` is
    ///     never shown over `http`. Of several URLs of one server, any one's counts.
    ///   - time: As of the other initialiser.
    public init(
        wrapping transport: any HTTPTransport, credentials: [URL: HTTPCredential], time: any TimeSource = SystemClock()
    ) {
        let byOrigin = Dictionary(credentials.map { ($0.key.origin, $0.value) }) { first, _ in first }
        self.init(wrapping: transport, time: time) { byOrigin[$0.url.origin] }
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
            let question = HTTPAuthenticationQuestion(
                url: request.url, challenges: challenges, refusalCount: refusalCount)
            let credential = isOld ? use?.credential : try await credential(question, origin, refused: use?.credential)
            guard let credential, let next = CredentialUse(credential, for: challenges) else { return response }
            memory.store(next, for: origin)
            try await response.body.drain(time)
            (use, isFromMemory) = (next, false)
            attempt += 1
        }
    }

    /// Another credential than the one that was refused: another request's, or the responder's.
    private func credential(
        _ question: HTTPAuthenticationQuestion, _ origin: String, refused: HTTPCredential?
    ) async throws -> HTTPCredential? {
        guard !question.challenges.isEmpty else { return nil }
        if let known = memory.credential(for: origin), known != refused { return known }
        if let refused { memory.forget(refused, of: origin) }
        let key = Key(
            origin: origin, realms: question.challenges.map(\.realm), refused: refused,
            refusalCount: question.refusalCount)
        return try await questions.value(for: key) { [responder, memory] _ in
            // A question that was over between the look above and here has been answered.
            if let known = memory.credential(for: question.url.origin), known != refused { return known }
            guard let answer = try await responder(question), answer != refused else { return nil }
            // Before the question is over, so that nobody who comes now asks again.
            if let use = CredentialUse(answer, for: question.challenges) { memory.store(use, for: origin) }
            return answer
        }
    }

    private static func makeNonce() -> String {
        String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
    }
}
