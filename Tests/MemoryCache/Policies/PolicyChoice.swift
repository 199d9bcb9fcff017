import AlcedoCore
import AlcedoMemoryCache

/// Every policy, for tests that apply to all of them.
enum PolicyChoice: String, CaseIterable, Sendable {
    case adaptive, lru, fifo, purge

    func cache<Key, Value>(
        _ limits: MemoryCacheLimits,
        findsReferencedValues: Bool = false,
        clock: any TimeSource = SystemClock(),
        onEviction: (@Sendable (Key, Value, EvictionReason) -> Void)? = nil
    ) -> MemoryCache<Key, Value> {
        func make(_ policy: MemoryCachePolicy) -> MemoryCache<Key, Value> {
            MemoryCache(
                limits: limits, policy: policy, findsReferencedValues: findsReferencedValues, clock: clock,
                onEviction: onEviction)
        }
        return switch self {
        case .adaptive: make(.adaptive)
        case .lru: make(.lru)
        case .fifo: make(.fifo)
        case .purge: make(.purging(toPreferredCost: limits.costLimit / 2))
        }
    }
}
