import AlcedoMemoryCache

/// Sends a trace through a memory cache: every miss is stored with the size of that request.
struct TraceReplay {
    /// A key whose hash is the same in every process, so that a replay's figures are.
    private struct Key: Hashable {
        let number: Int

        /// SplitMix64's finaliser.
        var hashValue: Int {
            var z = UInt64(truncatingIfNeeded: number) &+ 0x9E37_79B9_7F4A_7C15
            z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
            return Int(truncatingIfNeeded: z ^ z >> 31)
        }

        func hash(into hasher: inout Hasher) { hasher.combine(hashValue) }
    }

    /// Requests that were answered, in per cent.
    private(set) var objectHits = 0.0
    /// Bytes of the requests that were answered, in per cent of all.
    private(set) var byteHits = 0.0

    init(_ trace: CacheTrace, policy: PolicyName, capacity: Int) {
        let cache: MemoryCache<Key, Void> = policy.cache(costLimit: capacity)
        var (hits, hitBytes, bytes) = (0, 0.0, 0.0)
        for request in trace.requests {
            let key = Key(number: request.key)
            bytes += Double(request.size)
            if cache.value(for: key) != nil {
                hits += 1
                hitBytes += Double(request.size)
            } else {
                cache.store((), for: key, cost: request.size)
            }
        }
        objectHits = 100 * Double(hits) / Double(max(1, trace.requests.count))
        byteHits = bytes > 0 ? 100 * hitBytes / bytes : 0
    }
}
