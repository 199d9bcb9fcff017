public import AlcedoCore
public import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// A transport that serves requests from a response cache where HTTP allows it, and sends the others over another
/// transport.
///
/// ```swift
/// import AlcedoHTTP
/// import AlcedoURLResponseCache
/// import FoundationEssentials
///
/// func load(_ url: URL, over network: any HTTPTransport) async throws {
///     let cache = URLResponseCache(memoryLimit: 50 << 20)
///     let transport = CachingTransport(wrapping: network, cache: cache)
///     let response = try await transport.send(HTTPRequest(url: url))
///     print(response.head.status, response.responseSource ?? .new)
/// }
/// ```
///
/// It implements RFC 9111: freshness, validation, variants, invalidation and ranges, and with RFC 5861 also
/// `stale-while-revalidate` and `stale-if-error`. The `Cache-Status` field (RFC 9211) and the property
/// ``/AlcedoHTTP/HTTPResponse/responseSource`` of each response report what the cache did. A failure of the store never
/// fails a request that the network can serve.
///
/// Create one transport for each store and keep it, because it tracks the exchanges in progress.
public struct CachingTransport: HTTPTransport {
    /// A closure that inspects a response before it is stored.
    ///
    /// It returns the response, optionally with a changed body, head, user info or storage policy, or nil to refuse
    /// storage. Changed fields are interpreted as if the server had sent them. For a partial response, the hook must
    /// return the same bytes; otherwise the response is not stored.
    public typealias StorageHook = @Sendable (StoredResponse, HTTPRequest) async -> StoredResponse?

    /// The place from which a request gets its response.
    public enum ServingDecision: Sendable, Hashable {
        /// The stored response, without waiting for the server.
        case stored
        /// The server, which may confirm the stored response.
        case server
    }

    /// A closure that decides whether a stored response is served.
    ///
    /// ```swift
    /// import AlcedoURLResponseCache
    ///
    /// let offlineFirst: CachingTransport.ServingHook = { _, _, _ in .stored }
    /// ```
    ///
    /// It receives the stored response, the request, and the decision that HTTP prescribes, and returns that decision
    /// or the other one. The transport calls it for GET and HEAD requests that have the policy
    /// `useProtocolCachePolicy` and may go to the server, if the requested bytes are stored. Together with a
    /// ``StorageHook``, it is what a `CacheStrategy` is in Coil: one decides about reading, the other about writing.
    ///
    /// A stale response that the hook serves counts as such (``/AlcedoHTTP/HTTPResponse/responseSource``), also if the
    /// server requires its validation. A response that the hook sends to the server is validated if it has a validator.
    /// If the server then fails, the stored response is served as the rules of the cache allow.
    public typealias ServingHook =
        @Sendable (
            _ stored: StoredResponse, _ request: HTTPRequest, _ prescribed: ServingDecision
        ) async -> ServingDecision

    let parts: CachingParts

    /// Creates a transport that serves requests from a cache where HTTP allows it.
    ///
    /// - Parameters:
    ///   - transport: The transport for requests that the cache cannot serve.
    ///   - cache: The store of the responses, and its rules. Other processes may share the store; other transports of
    ///     this process should not.
    ///   - clock: The clock that measures the age of responses and the duration of revalidations. Default: the cache's
    ///     clock.
    ///   - maximumBodyByteCount: The maximum number of bytes of a stored body, and of a content combined from parts. A
    ///     longer body is passed on and not stored. Default: 32 MiB.
    ///   - maximumCollectedByteCount: The maximum number of bytes of all bodies that are being copied for the store at
    ///     the same time. A body whose copy would exceed this number is passed on and not stored. Default: 64 MiB.
    ///   - maxConcurrentRevalidations: The maximum number of concurrent background revalidations of stale responses. Up
    ///     to 1,000 more wait, and further ones are dropped. With 0, no response is revalidated in the background.
    ///     Default: 8.
    ///   - revalidationTimeout: The maximum duration of one background revalidation, including its body, from its
    ///     start. At the limit the transfer is canceled, the next revalidation starts, and the stored response remains
    ///     unchanged. Default: 60 seconds.
    ///   - maximumRevalidationByteCount: The maximum number of body bytes that one background revalidation receives. A
    ///     transfer with more bytes is canceled. Default: `maximumBodyByteCount`, because a longer body is not stored.
    ///   - willStore: A hook that inspects each response after its body has arrived, before it is stored. Default: nil.
    ///   - willServe: A hook that decides whether a stored response is served, instead of the rules of HTTP. Default:
    ///     nil.
    ///   - taskExecutor: The executor of the transport's own tasks. Default: nil, for Swift's default executor.
    public init(
        wrapping transport: any HTTPTransport, cache: URLResponseCache, clock: (any TimeSource)? = nil,
        maximumBodyByteCount: Int = 32 << 20, maximumCollectedByteCount: Int = 64 << 20,
        maxConcurrentRevalidations: Int = 8, revalidationTimeout: Duration = .seconds(60),
        maximumRevalidationByteCount: Int? = nil, willStore: StorageHook? = nil, willServe: ServingHook? = nil,
        taskExecutor: (any TaskExecutor)? = nil
    ) {
        self.init(
            wrapping: transport, store: cache.store, rules: cache.rules, clock: clock ?? cache.clock,
            maximumBodyByteCount: maximumBodyByteCount, maximumCollectedByteCount: maximumCollectedByteCount,
            maxConcurrentRevalidations: maxConcurrentRevalidations, revalidationTimeout: revalidationTimeout,
            maximumRevalidationByteCount: maximumRevalidationByteCount, willStore: willStore, willServe: willServe,
            taskExecutor: taskExecutor, exchanges: cache.exchanges, counts: cache.counts)
    }

    /// Creates a transport over a store of your own.
    ///
    /// - Parameters:
    ///   - transport: The transport for requests that the store cannot serve.
    ///   - store: The store of the responses. Other processes may share it; other transports of this process should
    ///     not.
    ///   - rules: The rules of the cache. Default: those of a private cache.
    ///   - clock: The clock that measures the age of responses and the duration of revalidations.
    ///   - maximumBodyByteCount: The maximum number of bytes of a stored body. Default: 32 MiB.
    ///   - maximumCollectedByteCount: The maximum number of bytes that are being copied for the store. Default: 64 MiB.
    ///   - maxConcurrentRevalidations: The maximum number of concurrent background revalidations. Default: 8.
    ///   - revalidationTimeout: The maximum duration of one background revalidation. Default: 60 seconds.
    ///   - maximumRevalidationByteCount: The maximum number of bytes that one background revalidation receives.
    ///     Default: `maximumBodyByteCount`.
    ///   - willStore: A hook that inspects each response before it is stored. Default: nil.
    ///   - willServe: A hook that decides whether a stored response is served. Default: nil.
    ///   - taskExecutor: The executor of the transport's own tasks. Default: nil, for Swift's default executor.
    public init(
        wrapping transport: any HTTPTransport, store: any ResponseStoring,
        rules: ResponseCacheRules = ResponseCacheRules(), clock: any TimeSource = SystemClock(),
        maximumBodyByteCount: Int = 32 << 20, maximumCollectedByteCount: Int = 64 << 20,
        maxConcurrentRevalidations: Int = 8, revalidationTimeout: Duration = .seconds(60),
        maximumRevalidationByteCount: Int? = nil, willStore: StorageHook? = nil, willServe: ServingHook? = nil,
        taskExecutor: (any TaskExecutor)? = nil
    ) {
        self.init(
            wrapping: transport, store: store, rules: rules, clock: clock, maximumBodyByteCount: maximumBodyByteCount,
            maximumCollectedByteCount: maximumCollectedByteCount,
            maxConcurrentRevalidations: maxConcurrentRevalidations, revalidationTimeout: revalidationTimeout,
            maximumRevalidationByteCount: maximumRevalidationByteCount, willStore: willStore, willServe: willServe,
            taskExecutor: taskExecutor, exchanges: ExchangeTracker(), counts: ResponseCounts())
    }

    /// Creates a transport over a store.
    ///
    /// The executor `taskExecutor` runs the transport's own tasks; nil selects Swift's default executor.
    private init(
        wrapping transport: any HTTPTransport, store: any ResponseStoring, rules: ResponseCacheRules,
        clock: any TimeSource, maximumBodyByteCount: Int, maximumCollectedByteCount: Int,
        maxConcurrentRevalidations: Int, revalidationTimeout: Duration, maximumRevalidationByteCount: Int?,
        willStore: StorageHook?, willServe: ServingHook?, taskExecutor: (any TaskExecutor)? = nil,
        exchanges: ExchangeTracker, counts: ResponseCounts
    ) {
        parts = CachingParts(
            transport: URLResolvingTransport(transport),
            writer: ResponseWriter(
                store: store, rules: rules, combinedByteLimit: maximumBodyByteCount, exchanges: exchanges,
                counts: counts),
            rules: rules, clock: clock, maximumBodyByteCount: maximumBodyByteCount,
            willServe: willServe, willStore: willStore, budget: CopyBudget(limit: maximumCollectedByteCount),
            background: BackgroundRevalidations(
                limit: maxConcurrentRevalidations, timeLimit: revalidationTimeout, clock: clock,
                taskExecutor: taskExecutor),
            maximumRevalidationByteCount: maximumRevalidationByteCount ?? maximumBodyByteCount,
            revalidations: Coalescer(taskExecutor: taskExecutor))
    }

    /// Returns a response from the cache or from the wrapped transport.
    ///
    /// Returns status 504 if the request has `only-if-cached` and the cache has no suitable response. Also returns 504
    /// if the server cannot be reached, the stored response must not be served, and the rules set
    /// `respondsWhenDisconnected`.
    ///
    /// The body of a response is stored after it has been read to its end. The reader receives the end of the body only
    /// after that. If the transfer fails, the received bytes may be stored as partial content.
    ///
    /// - Throws: The error of the wrapped transport, ``/AlcedoHTTP/HTTPTransportError`` with `notCached` if the
    ///   request's policy is `returnCacheDataDontLoad` and no suitable response is stored, or `CancellationError` if
    ///   the task is canceled.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let directives = RequestDirectives(request)
        // The exchange begins before the lookup, so that no later removal is undone by what is found now.
        let exchange = parts.writer.exchanges.begin(request.resourceKey)
        let lookup = ActiveSpan.current?.begin(.responseCache)
        if let decision = CacheDecision.beforeLookup(request, directives) {
            lookup?.end(.miss(.notAllowed))
            let nothing = StoredCandidate(key: ImageKey(request.resourceKey))
            return try await CachedExchange(parts, request, directives, nothing, exchange).perform(decision)
        }
        let candidate = await parts.store.candidate(for: request, role: parts.rules.role, now: parts.clock.now)
        parts.writer.counts.recordLookup(isHit: candidate.response != nil)
        var decision = CacheDecision(for: request, directives, stored: candidate, now: parts.clock.now)
        if !directives.isOnlyIfCached { decision = await parts.reviewed(decision, of: request) }
        lookup?.end(decision.outcome)
        return try await CachedExchange(parts, request, directives, candidate, exchange).perform(decision)
    }

    /// Waits until the background revalidations have ended, each within its time limit, and the store has completed all
    /// changes. Does not wait for bodies that are still being read.
    public func finish() async {
        // Stored responses are flushed first, without waiting for revalidations that may take long.
        await parts.store.flush()
        await parts.background.wait()
        await parts.store.flush()
    }
}

/// A transport that removes dot segments from the path of each request's URL, as the cache key does.
///
/// Source: RFC 3986 section 6.2.2.3. `CURLTransport` also removes them. Another transport may send them as
/// written, and a response for `/a/../b` must not be stored for `/b` if the server can distinguish the two. The
/// response has the URL of the original request.
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
