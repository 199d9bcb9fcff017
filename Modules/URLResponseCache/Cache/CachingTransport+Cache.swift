public import AlcedoCore

extension CachingTransport {
    /// Answers requests from a cache where HTTP allows it. The other parameters are those of
    /// ``init(wrapping:store:rules:time:maximumBodyByteCount:collectedByteCount:backgroundLimit:willStore:)``.
    public init(
        wrapping transport: any HTTPTransport, cache: URLResponseCache, time: any TimeSource = SystemClock(),
        willStore: StorageHook? = nil
    ) {
        self.init(wrapping: transport, store: cache.store, rules: cache.rules, time: time, willStore: willStore)
    }
}
