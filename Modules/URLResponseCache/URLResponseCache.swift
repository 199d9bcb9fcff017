public import AlcedoCore
public import AlcedoHTTP
public import FoundationEssentials

/// A cache of HTTP responses, in memory and optionally in a second store such as a disk cache, modeled after
/// Foundation's `URLCache`.
///
/// ```swift
/// import AlcedoCore
/// import AlcedoHTTP
/// import AlcedoURLResponseCache
///
/// func cachingTransport(over network: any HTTPTransport, on disk: any MeasurableDataCache) -> CachingTransport {
///     let cache = URLResponseCache(memoryLimit: 50 << 20, disk: disk)
///     return CachingTransport(wrapping: network, cache: cache)
/// }
/// ```
///
/// Pass it to a ``CachingTransport``, which reads and stores responses. Without a transport it stores only the
/// responses passed to ``store(_:body:for:at:policy:userInfo:)``.
public struct URLResponseCache: Sendable {
    package let store: any ResponseStoring
    /// The behavior of the cache where HTTP allows a choice.
    package let rules: ResponseCacheRules
    let clock: any TimeSource
    /// The counters of lookups and stores, shared by this cache and its transports.
    let counts: ResponseCounts
    /// The exchanges of this cache and its transports that are in progress.
    let exchanges = ExchangeTracker()
    private let memory: MemoryResponseStore
    private let below: (any ResponseStoring)?
    private let disk: (any MeasurableDataCache)?

    private init(
        memoryLimit: Int, below: (any ResponseStoring)?, disk: (any MeasurableDataCache)?, rules: ResponseCacheRules,
        clock: any TimeSource
    ) {
        self.rules = rules
        self.clock = clock
        self.below = below
        self.disk = disk
        counts = ResponseCounts()
        let memory = MemoryResponseStore(byteLimit: memoryLimit)
        self.memory = memory
        store = below.map { TieredResponseStore(memory, over: $0) } ?? memory
    }

    /// Creates a cache in memory, and optionally over a data cache such as a disk cache.
    ///
    /// - Parameters:
    ///   - memoryLimit: The maximum number of bytes in memory. Beyond it, the least recently used responses are removed
    ///     from memory. With 0, no response is kept in memory. Default: 20 MiB.
    ///   - disk: A data cache that also stores the responses, within its own limits. With nil and a memory limit of 0,
    ///     no response is stored. No other component should use the data cache. If it cannot list its entries (it has
    ///     no ``/AlcedoCore/MeasurableDataCache/maintenance``), such as on a shared server, ``removeResponses(since:)``
    ///     removes all responses from it. Default: nil.
    ///   - rules: The behavior of the cache where HTTP allows a choice. Default: the rules of a private cache.
    ///   - clock: The clock that measures times to live. It also measures the ages of responses in each transport that
    ///     has no clock of its own. Default: the system clock.
    public init(
        memoryLimit: Int = 20 << 20, disk: (any MeasurableDataCache)? = nil,
        rules: ResponseCacheRules = ResponseCacheRules(), clock: any TimeSource = SystemClock()
    ) {
        self.init(
            memoryLimit: memoryLimit, below: disk.map { DataResponseStore($0) }, disk: disk, rules: rules,
            clock: clock)
    }

    /// Creates a cache over a custom store, with memory in front of it.
    ///
    /// A store that keeps entries outside memory stores the bytes of `ResponseEntry.encoded`.
    ///
    /// - Parameters:
    ///   - memoryLimit: The maximum number of bytes in memory. Beyond it, the least recently used responses are removed
    ///     from memory. With 0, no response is kept in memory. Default: 20 MiB.
    ///   - store: The store behind memory. No other component should use it.
    ///   - rules: The behavior of the cache where HTTP allows a choice. Default: the rules of a private cache.
    ///   - clock: The clock that measures times to live. It also measures the ages of responses in each transport that
    ///     has no clock of its own. Default: the system clock.
    public init(
        memoryLimit: Int = 20 << 20, store: any ResponseStoring, rules: ResponseCacheRules = ResponseCacheRules(),
        clock: any TimeSource = SystemClock()
    ) {
        self.init(memoryLimit: memoryLimit, below: store, disk: nil, rules: rules, clock: clock)
    }

    /// The numbers of lookups and stores of this cache and its transports.
    ///
    /// Each request that looks for a stored response counts as one hit or one miss; a stale response is a hit, too.
    /// Each response that is passed to the store counts as one store.
    public var statistics: CacheStatistics { counts.value }

    /// The number of bytes that stored responses take in memory.
    public var memoryUsage: Int { memory.totalSize }

    /// The number of bytes on disk; 0 without a data cache.
    public var diskUsage: Int { get async { await disk?.totalSize ?? 0 } }

    /// Returns the stored response that matches a request, fresh or stale. Returns nil if no stored response matches. A
    /// matching response whose time to live has passed is removed and not returned. The call counts as a lookup.
    public func response(for request: HTTPRequest) async -> StoredResponse? {
        let response = await candidate(for: request).response
        counts.recordLookup(isHit: response != nil)
        return response
    }

    /// Stores a response that the app received by other means, as if the server had just sent it for the request.
    ///
    /// The cache does not store a response that HTTP forbids storing, a response that it could never use, or a body
    /// that does not have the length that the head declares.
    ///
    /// - Parameters:
    ///   - head: The status and fields of the response.
    ///   - body: The complete content of the response.
    ///   - request: The request that the response belongs to.
    ///   - now: The time at which the response arrived.
    ///   - policy: The storage policy, in addition to the rules of HTTP. With `notAllowed`, the response is not stored.
    ///     Default: `allowed`.
    ///   - userInfo: Metadata of the app, which is stored with the response. Default: empty.
    /// - Returns: Whether the response may be stored and was passed to the store. The store drops a response that
    ///   exceeds its limit.
    @discardableResult
    public func store(
        _ head: HTTPResponseHead, body: Data, for request: HTTPRequest, at now: Date,
        policy: ResponseStoragePolicy = .allowed, userInfo: [String: String] = [:]
    ) async -> Bool {
        let context = ExchangeContext(request: request, requestTime: now, responseTime: now, rules: rules)
        guard policy != .notAllowed, head.announces(body.count),
            case .store(var response) = CacheUpdate(head, stored: nil, context)
        else {
            return false
        }
        response.body = body
        response.storagePolicy = policy
        response.userInfo = userInfo
        let writer = ResponseWriter(store: store, rules: rules, exchanges: exchanges, counts: counts)
        return await writer.store(response, for: request, of: writer.exchanges.begin(request.resourceKey))
    }

    /// Removes the stored response for a request, and keeps the responses to requests for the same URL with other
    /// fields. ``removeAllResponses(for:)`` removes those as well. Responses for the URL in flight are not stored.
    public func removeResponse(for request: HTTPRequest) async {
        exchanges.invalidate(request.resourceKey)
        let candidate = await candidate(for: request)
        if candidate.response != nil { await store.remove(candidate.key) }
    }

    /// Removes the responses that were stored at `date` or later. Removes all responses from a data cache that cannot
    /// list its entries.
    public func removeResponses(since date: Date) async {
        exchanges.invalidateAll()
        await store.removeAll(storedSince: date)
    }

    /// Removes all responses, from memory and from the store behind it. Responses that are in flight are not stored.
    public func removeAll() async {
        exchanges.invalidateAll()
        await store.removeAll()
    }

    private func candidate(for request: HTTPRequest) async -> StoredCandidate {
        await store.candidate(for: request, role: rules.role, now: clock.now)
    }
}

extension URLResponseCache: ResponseCacheAccess {
    /// Returns whether a response to the request is stored, fresh or stale. A response whose time to live has passed
    /// does not count, and is removed. If `ignoringMemory` is true, only the store behind memory is read. Does not
    /// count as a lookup.
    public func hasResponse(for request: HTTPRequest, ignoringMemory: Bool) async -> Bool {
        let store = ignoringMemory ? below : store
        return await store?.candidate(for: request, role: rules.role, now: clock.now).response != nil
    }

    /// Removes the stored responses for the request and for requests for the same URL with other fields. Those in
    /// flight are not stored.
    public func removeAllResponses(for request: HTTPRequest) async {
        exchanges.invalidate(request.resourceKey)
        await store.removeAll(of: request.resourceKey)
    }
}
