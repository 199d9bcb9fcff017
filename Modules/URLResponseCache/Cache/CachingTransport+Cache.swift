public import AlcedoCore

extension CachingTransport {
    /// Answers requests from a cache where HTTP allows it, with the default limits of
    /// ``init(wrapping:store:rules:time:maximumBodyByteCount:collectedByteCount:backgroundLimit:backgroundTimeLimit:backgroundByteLimit:willStore:)``.
    ///
    /// - Parameters:
    ///   - transport: Where requests go that the cache cannot answer.
    ///   - cache: Where answers are kept, and its rules.
    ///   - time: Tells how old answers are. Default: the cache's clock.
    ///   - willStore: Sees each answer when its body has come, before it is stored.
    public init(
        wrapping transport: any HTTPTransport, cache: URLResponseCache, time: (any TimeSource)? = nil,
        willStore: StorageHook? = nil
    ) {
        self.init(
            wrapping: transport, store: cache.store, rules: cache.rules, time: time ?? cache.time,
            willStore: willStore)
    }
}
