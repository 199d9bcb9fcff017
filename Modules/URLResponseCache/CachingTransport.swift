public import AlcedoCore
public import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// Answers requests from a store where HTTP allows it, and from another transport where not.
///
/// A cache after RFC 9111 in full: freshness, validation, variants, invalidation, ranges, `stale-while-revalidate` and
/// `stale-if-error`. Every answer says in its `Cache-Status` field (RFC 9211) and in
/// ``/AlcedoHTTP/HTTPResponse/responseSource`` what the cache did. Trouble with the store never fails a request that the
/// network can answer.
///
/// Make one for a store and keep it: it knows what is on its way.
public struct CachingTransport: HTTPTransport {
    /// Sees an answer before it is stored: returns it, perhaps with other content, head, notes or storage policy, or nil
    /// to refuse it.
    ///
    /// Fields that it changes count as if the server had sent them. A partial response is stored with
    /// the bytes it has, or not at all.
    public typealias StorageHook = @Sendable (StoredResponse, HTTPRequest) async -> StoredResponse?

    let parts: CachingParts

    /// - Parameters:
    ///   - transport: Where requests go that the cache cannot answer.
    ///   - store: Where answers are kept. Other processes may share it; no other transport of this one should.
    ///   - rules: For whom answers are kept, and what is done where HTTP leaves a choice.
    ///   - clock: Tells how old answers are.
    ///   - maximumBodyByteCount: Longer bodies are passed on and not stored, and parts of a content are not combined to
    ///     more. Default: 32 MiB.
    ///   - collectedByteCount: Most bytes of all bodies that are on their way into the store at once; a body for which
    ///     there is no room is passed on and not stored. Default: 64 MiB.
    ///   - backgroundLimit: Most stale answers that are made new at once while they are used; up to 1,000 more wait their
    ///     turn. Default: 8. With 0 none is.
    ///   - backgroundTimeLimit: The maximum duration of one such revalidation, its body included, from its start. At
    ///     the limit the transfer is cancelled and its place is free for the next; the stored response stays as it was.
    ///     Default: 60 seconds.
    ///   - backgroundByteLimit: The maximum number of body bytes that one such revalidation receives; a transfer with
    ///     more is cancelled. Default: `maximumBodyByteCount`, since a longer body is not stored.
    ///   - willStore: Sees each answer when its body has come, before it is stored.
    public init(
        wrapping transport: any HTTPTransport, store: any ResponseStoring,
        rules: ResponseCacheRules = ResponseCacheRules(), clock: any TimeSource = SystemClock(),
        maximumBodyByteCount: Int = 32 << 20, collectedByteCount: Int = 64 << 20, backgroundLimit: Int = 8,
        backgroundTimeLimit: Duration = .seconds(60), backgroundByteLimit: Int? = nil, willStore: StorageHook? = nil
    ) {
        self.init(
            wrapping: transport, store: store, rules: rules, clock: clock, maximumBodyByteCount: maximumBodyByteCount,
            collectedByteCount: collectedByteCount, backgroundLimit: backgroundLimit,
            backgroundTimeLimit: backgroundTimeLimit, backgroundByteLimit: backgroundByteLimit, willStore: willStore,
            taskExecutor: nil)
    }

    /// Creates a transport whose own tasks run on an executor; nil is Swift's own.
    package init(
        wrapping transport: any HTTPTransport, store: any ResponseStoring,
        rules: ResponseCacheRules = ResponseCacheRules(), clock: any TimeSource = SystemClock(),
        maximumBodyByteCount: Int = 32 << 20, collectedByteCount: Int = 64 << 20, backgroundLimit: Int = 8,
        backgroundTimeLimit: Duration = .seconds(60), backgroundByteLimit: Int? = nil, willStore: StorageHook? = nil,
        taskExecutor: (any TaskExecutor)?
    ) {
        parts = CachingParts(
            transport: URLResolvingTransport(transport),
            writer: ResponseWriter(store: store, rules: rules, combinedByteLimit: maximumBodyByteCount), rules: rules,
            clock: clock, maximumBodyByteCount: maximumBodyByteCount, willStore: willStore,
            budget: CopyBudget(byteCount: collectedByteCount),
            background: BackgroundWork(
                limit: backgroundLimit, timeLimit: backgroundTimeLimit, clock: clock, taskExecutor: taskExecutor),
            backgroundByteLimit: backgroundByteLimit ?? maximumBodyByteCount,
            revalidations: Coalescer(taskExecutor: taskExecutor))
    }

    /// Returns a stored answer, or what the wrapped transport returns, or 504 when the request has `only-if-cached` and
    /// nothing that will do is stored, or when the server cannot be reached and the rules want a response for that
    /// (``ResponseCacheRules/respondsWhenDisconnected``).
    ///
    /// The body of an answer is stored when it has been read to its end; the reader learns of the end after that.
    ///
    /// - Throws: What the wrapped transport throws; ``/AlcedoHTTP/HTTPTransportError`` `notCached` when the request's policy is
    ///   `returnCacheDataDontLoad` and nothing is stored.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let directives = RequestDirectives(request)
        if let decision = CacheDecision.withoutLooking(request, directives) {
            let nothing = StoredCandidate(key: ImageKey(request.resourceKey))
            return try await CachedExchange(parts, request, directives, nothing).perform(decision)
        }
        let candidate = await parts.store.candidate(for: request, role: parts.rules.role, now: parts.clock.now)
        let decision = CacheDecision(for: request, directives, stored: candidate, now: parts.clock.now)
        return try await CachedExchange(parts, request, directives, candidate).perform(decision)
    }

    /// Returns when the revalidations in the background have ended, each within its time limit, and all is stored.
    public func finish() async {
        // What is there already does not wait for what may never end.
        await parts.store.flush()
        await parts.background.wait()
        await parts.store.flush()
    }
}

extension CachingTransport {
    /// Answers requests from a cache where HTTP allows it, with the default limits of
    /// ``init(wrapping:store:rules:clock:maximumBodyByteCount:collectedByteCount:backgroundLimit:backgroundTimeLimit:backgroundByteLimit:willStore:)``.
    ///
    /// - Parameters:
    ///   - transport: Where requests go that the cache cannot answer.
    ///   - cache: Where answers are kept, and its rules.
    ///   - clock: Tells how old answers are. Default: the cache's clock.
    ///   - willStore: Sees each answer when its body has come, before it is stored.
    public init(
        wrapping transport: any HTTPTransport, cache: URLResponseCache, clock: (any TimeSource)? = nil,
        willStore: StorageHook? = nil
    ) {
        self.init(
            wrapping: transport, store: cache.store, rules: cache.rules, clock: clock ?? cache.clock,
            willStore: willStore)
    }
}

/// Sends each request under the URL that its cache key names: without literal dot segments in its path.
///
/// Source: RFC 3986 section 6.2.2.3. `CURLTransport` removes them as well; another transport may send them as written,
/// and a response to `/a/../b` must not be stored for `/b` when the server may tell them apart.
private struct URLResolvingTransport: HTTPTransport {
    private let transport: any HTTPTransport

    init(_ transport: any HTTPTransport) { self.transport = transport }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let text = DotSegments.removed(fromURL: request.url.absoluteString), let url = URL(string: text) else {
            return try await transport.send(request)
        }
        var resolved = request
        resolved.url = url
        var response = try await transport.send(resolved)
        response.head.url = request.url
        return response
    }
}
