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

    /// Creates a transport that answers requests from a cache where HTTP allows it.
    ///
    /// - Parameters:
    ///   - transport: The transport of requests that the cache cannot answer.
    ///   - cache: Where responses are kept, and its rules. Other processes may share its store; no other transport of this
    ///     process should.
    ///   - clock: The clock that measures the age of responses. Default: the cache's clock.
    ///   - maximumBodyByteCount: The maximum number of bytes of a body that is stored, and to which parts of a content are
    ///     combined; a longer body is passed on. Default: 32 MiB.
    ///   - collectedByteCount: The maximum number of bytes of all bodies that are on their way into the store at once; a body
    ///     beyond it is passed on and not stored. Default: 64 MiB.
    ///   - backgroundLimit: The maximum number of stale responses that are revalidated at once while they are used; up to
    ///     1,000 more wait. Default: 8. With 0 none is.
    ///   - backgroundTimeLimit: The maximum duration of one such revalidation, its body included, from its start. At
    ///     the limit the transfer is cancelled and its place is free for the next; the stored response stays as it was.
    ///     Default: 60 seconds.
    ///   - backgroundByteLimit: The maximum number of body bytes that one such revalidation receives; a transfer with
    ///     more is cancelled. Default: `maximumBodyByteCount`, since a longer body is not stored.
    ///   - willStore: Sees each response when its body has arrived, before it is stored.
    public init(
        wrapping transport: any HTTPTransport, cache: URLResponseCache, clock: (any TimeSource)? = nil,
        maximumBodyByteCount: Int = 32 << 20, collectedByteCount: Int = 64 << 20, backgroundLimit: Int = 8,
        backgroundTimeLimit: Duration = .seconds(60), backgroundByteLimit: Int? = nil, willStore: StorageHook? = nil
    ) {
        self.init(
            wrapping: transport, store: cache.store, rules: cache.rules, clock: clock ?? cache.clock,
            maximumBodyByteCount: maximumBodyByteCount, collectedByteCount: collectedByteCount,
            backgroundLimit: backgroundLimit, backgroundTimeLimit: backgroundTimeLimit,
            backgroundByteLimit: backgroundByteLimit, willStore: willStore, counts: cache.counts)
    }

    /// Creates a transport over a store.
    package init(
        wrapping transport: any HTTPTransport, store: any ResponseStoring,
        rules: ResponseCacheRules = ResponseCacheRules(), clock: any TimeSource = SystemClock(),
        maximumBodyByteCount: Int = 32 << 20, collectedByteCount: Int = 64 << 20, backgroundLimit: Int = 8,
        backgroundTimeLimit: Duration = .seconds(60), backgroundByteLimit: Int? = nil, willStore: StorageHook? = nil,
        taskExecutor: (any TaskExecutor)? = nil
    ) {
        self.init(
            wrapping: transport, store: store, rules: rules, clock: clock, maximumBodyByteCount: maximumBodyByteCount,
            collectedByteCount: collectedByteCount, backgroundLimit: backgroundLimit,
            backgroundTimeLimit: backgroundTimeLimit, backgroundByteLimit: backgroundByteLimit, willStore: willStore,
            taskExecutor: taskExecutor, counts: ResponseCounts())
    }

    /// - Parameter taskExecutor: Runs the transport's own tasks; nil is Swift's own executor.
    private init(
        wrapping transport: any HTTPTransport, store: any ResponseStoring, rules: ResponseCacheRules,
        clock: any TimeSource, maximumBodyByteCount: Int, collectedByteCount: Int, backgroundLimit: Int,
        backgroundTimeLimit: Duration, backgroundByteLimit: Int?, willStore: StorageHook?,
        taskExecutor: (any TaskExecutor)? = nil, counts: ResponseCounts
    ) {
        parts = CachingParts(
            transport: URLResolvingTransport(transport),
            writer: ResponseWriter(
                store: store, rules: rules, combinedByteLimit: maximumBodyByteCount, counts: counts),
            rules: rules, clock: clock, maximumBodyByteCount: maximumBodyByteCount, willStore: willStore,
            budget: CopyBudget(limit: collectedByteCount),
            background: BackgroundRevalidations(
                limit: backgroundLimit, timeLimit: backgroundTimeLimit, clock: clock, taskExecutor: taskExecutor),
            backgroundByteLimit: backgroundByteLimit ?? maximumBodyByteCount,
            revalidations: Coalescer(taskExecutor: taskExecutor))
    }

    /// Returns a stored answer, or what the wrapped transport returns, or 504 when the request has `only-if-cached` and
    /// nothing that will do is stored, or when the server cannot be reached and the rules want a response for that
    /// (`respondsWhenDisconnected`).
    ///
    /// The body of an answer is stored when it has been read to its end; the reader learns of the end after that.
    ///
    /// - Throws: What the wrapped transport throws; ``/AlcedoHTTP/HTTPTransportError`` `notCached` when the request's policy is
    ///   `returnCacheDataDontLoad` and nothing is stored.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let directives = RequestDirectives(request)
        if let decision = CacheDecision.beforeLookup(request, directives) {
            let nothing = StoredCandidate(key: ImageKey(request.resourceKey))
            return try await CachedExchange(parts, request, directives, nothing).perform(decision)
        }
        let candidate = await parts.store.candidate(for: request, role: parts.rules.role, now: parts.clock.now)
        parts.writer.counts.recordLookup(isHit: candidate.response != nil)
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
