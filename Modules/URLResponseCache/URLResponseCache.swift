public import AlcedoCore
public import AlcedoHTTP
public import FoundationEssentials

/// A store of HTTP answers as an app sees it: made of what memory and disk it gives it, asked and emptied by requests.
///
/// After Foundation's `URLCache`. Give it to a ``CachingTransport``; on its own it stores only what it is told to.
public struct URLResponseCache: Sendable {
    /// Where the answers are.
    public let store: any ResponseStoring
    /// What it does where HTTP leaves it a choice.
    package let rules: ResponseCacheRules
    let clock: any TimeSource
    /// What requests to this cache and to its transports have found and stored.
    let counts: ResponseCounts
    private let memory: MemoryResponseStore
    private let disk: (any MeasurableDataCache)?

    private init(
        memoryCapacity: Int, below: (any ResponseStoring)?, disk: (any MeasurableDataCache)?, rules: ResponseCacheRules,
        clock: any TimeSource
    ) {
        self.rules = rules
        self.clock = clock
        self.disk = disk
        counts = ResponseCounts()
        let memory = MemoryResponseStore(byteLimit: memoryCapacity)
        self.memory = memory
        store = below.map { TieredResponseStore(memory, over: $0) } ?? memory
    }

    /// Creates a cache in memory, and over a data cache such as one on disk.
    ///
    /// - Parameters:
    ///   - memoryCapacity: The maximum number of bytes in memory; 0 keeps nothing there. Default: 20 MiB.
    ///   - disk: Keeps responses beside memory, within its own limits; nil keeps nothing there. With neither, every
    ///     request goes to the network. It should belong to this cache alone. Over one that cannot list its entries, such as
    ///     one on a shared server (no ``/AlcedoCore/MaintainableDataCache``), ``removeResponses(since:)`` removes
    ///     everything. Default: nil.
    ///   - rules: What the cache does where HTTP leaves it a choice.
    ///   - clock: The clock by which times to live pass.
    public init(
        memoryCapacity: Int = 20 << 20, disk: (any MeasurableDataCache)? = nil,
        rules: ResponseCacheRules = ResponseCacheRules(), clock: any TimeSource = SystemClock()
    ) {
        self.init(
            memoryCapacity: memoryCapacity, below: disk.map { DataResponseStore($0) }, disk: disk, rules: rules,
            clock: clock)
    }

    /// Creates a cache over a store of your own, with memory in front of it. A store outside memory keeps what `encoded` of
    /// an entry returns.
    ///
    /// - Parameters:
    ///   - memoryCapacity: The maximum number of bytes in memory; 0 keeps nothing there. Default: 20 MiB.
    ///   - store: Where responses are kept beside memory. It should belong to this cache alone.
    ///   - rules: What the cache does where HTTP leaves it a choice.
    ///   - clock: The clock by which times to live pass.
    public init(
        memoryCapacity: Int = 20 << 20, store: any ResponseStoring, rules: ResponseCacheRules = ResponseCacheRules(),
        clock: any TimeSource = SystemClock()
    ) {
        self.init(memoryCapacity: memoryCapacity, below: store, disk: nil, rules: rules, clock: clock)
    }

    /// The look-ups and stores of responses through this cache and its transports: one hit or miss for each request that
    /// looks for a stored response, fresh or stale, and one store for each response that was given to the store.
    public var statistics: DataCacheStatistics { counts.value }

    /// Bytes in memory.
    public var memoryUsage: Int { memory.totalSize }

    /// Bytes on disk.
    public var diskUsage: Int { get async { await disk?.totalSize ?? 0 } }

    /// Returns the response that is stored for such a request, fresh or stale; nil when none is, or when its
    /// time to live has passed.
    public func response(for request: HTTPRequest) async -> StoredResponse? {
        let response = await candidate(for: request).response
        counts.recordLookup(isHit: response != nil)
        return response
    }

    /// Stores an answer that the app has from elsewhere, as if the request had just been answered with it. What HTTP
    /// forbids to store is not stored, nor is a body that is not all that the head declares.
    ///
    /// - Parameters:
    ///   - head: Status and fields of the answer.
    ///   - body: Its whole content.
    ///   - request: The request it answers.
    ///   - now: When the answer arrived.
    ///   - policy: Where it may be kept, beside what HTTP says.
    ///   - userInfo: Metadata of the app's own.
    /// - Returns: Whether it may be stored, and was given to the store, which keeps nothing that it has no room for.
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
        let writer = ResponseWriter(store: store, rules: rules, counts: counts)
        return await writer.store(response, for: request, of: writer.exchanges.begin(request.resourceKey))
    }

    /// Removes what is stored for such a request.
    public func removeResponse(for request: HTTPRequest) async {
        let candidate = await candidate(for: request)
        if candidate.response != nil { await store.remove(candidate.key) }
    }

    /// Removes what is stored for a URL, whatever else the requests said.
    public func removeResponses(for url: URL) async { await store.removeAll(of: ResourceKey(normal: url)) }

    /// Removes what was stored at `date` or later.
    public func removeResponses(since date: Date) async { await store.removeAll(storedSince: date) }

    /// Removes everything, from memory and disk.
    public func removeAll() async { await store.removeAll() }

    private func candidate(for request: HTTPRequest) async -> StoredCandidate {
        await store.candidate(for: request, role: rules.role, now: clock.now)
    }
}

extension URLResponseCache: ResponseCacheAccess {
    public func hasResponse(for request: HTTPRequest) async -> Bool {
        await candidate(for: request).response != nil
    }

    public func removeResponses(for request: HTTPRequest) async { await store.removeAll(of: request.resourceKey) }
}
