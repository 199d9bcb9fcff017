import AlcedoMemoryCache

/// The eviction policies that the benchmark knows.
enum PolicyName: String, CaseIterable {
    case adaptive
    case lru
    case fifo
    case sieve
    case s3FIFO = "s3-fifo"
    case wTinyLFU = "w-tinylfu"
    case gdsf
    case purge

    /// A cache with this policy. Purging goes down to six tenths of the limit.
    func cache<Key, Value>(costLimit: Int, timeToLive: Duration? = nil) -> MemoryCache<Key, Value> {
        let limits = MemoryCacheLimits(cost: costLimit, timeToLive: timeToLive)
        return switch self {
        case .adaptive: MemoryCache(limits: limits, policy: .adaptive)
        case .lru: MemoryCache(limits: limits, policy: .lru)
        case .fifo: MemoryCache(limits: limits, policy: .fifo)
        case .sieve: MemoryCache(limits: limits, policy: .sieve)
        case .s3FIFO: MemoryCache(limits: limits, policy: .s3FIFO)
        case .wTinyLFU: MemoryCache(limits: limits, policy: .wTinyLFU)
        case .gdsf: MemoryCache(limits: limits, policy: .gdsf)
        case .purge: MemoryCache(limits: limits, policy: .purging(toPreferredCost: costLimit / 10 * 6))
        }
    }
}
