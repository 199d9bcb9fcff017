/// The eviction policy of a memory cache: one of the package's policies or a custom one.
///
/// ```swift
/// import AlcedoMemoryCache
///
/// let cache = MemoryCache<String, [UInt8]>(costLimit: 1 << 20, policy: .lru)
/// ```
public enum MemoryCachePolicy: Sendable {
    /// The default policy. Weighs the frequency of an entry's use against its cost, resists scans and loops, and
    /// approaches LRU when only recency matters.
    case adaptive
    /// Evicts the least recently used entry first, in the exact order of reads.
    case lru
    /// Evicts the oldest entry first, regardless of uses.
    case fifo
    /// When the cost limit is exceeded, evicts the least recently used entries until the rest cost at most
    /// `toPreferredCost`. In this case, a new entry that alone costs more than `toPreferredCost` is not stored.
    ///
    /// AFNetworking's and AlamofireImage's `AutoPurgingImageCache` evict in this way. The cost is in the unit of the
    /// cost limit. Values below zero count as zero, and values above the limit as the limit.
    case purging(toPreferredCost: Int)
    /// A custom policy. It must not contain any entries yet.
    case custom(any EvictionPolicy)

    /// Returns the policy for a new cache.
    @usableFromInline
    func makePolicy() -> any MarkedEvictionPolicy {
        switch self {
        case .adaptive: AdaptivePolicy()
        case .lru, .purging: LRUPolicy()
        case .fifo: FIFOPolicy()
        case .custom(let policy): UnmarkedPolicy(policy)
        }
    }

    /// The maximum cost that remains after entries have exceeded the cost limit. With nil, this maximum equals the cost
    /// limit.
    @usableFromInline var preferredCost: Int? {
        if case .purging(let preferredCost) = self { max(0, preferredCost) } else { nil }
    }
}

/// A policy that evicts the least recently used entry first, in the exact order of reads.
///
/// Source: P. Denning, "The Working Set Model for Program Behavior", Communications of the ACM 11 (1968).
private struct LRUPolicy: MarkedEvictionPolicy {
    private var order = SlotLists(count: 1)

    init() {}

    mutating func insert(_ slot: Int, hash: UInt64, cost: Int, fits: Bool, marks: AccessMarks) {
        order.append(slot, to: 0)
    }

    mutating func use(_ slot: Int) { order.moveToNewest(slot, of: 0) }

    mutating func remove(_ slot: Int) { order.remove(slot, from: 0) }

    mutating func evict(marks: AccessMarks) -> Int? { order.removeOldest(of: 0) }

    mutating func removeAll() { order.removeAll() }

    var slotsByUse: [Int]? { order.oldest(of: 0).map { Array(sequence(first: $0, next: order.next)) } ?? [] }
}

/// A policy that evicts the entry that was stored first, regardless of uses.
///
/// Source: L. Belady, "A Study of Replacement Algorithms for a Virtual-Storage Computer", IBM Systems Journal 5 (1966).
private struct FIFOPolicy: MarkedEvictionPolicy {
    /// True, so that several threads can read at the same time. The policy ignores the marks.
    static var readsMarks: Bool { true }

    private var order = SlotLists(count: 1)

    init() {}

    mutating func insert(_ slot: Int, hash: UInt64, cost: Int, fits: Bool, marks: AccessMarks) {
        order.append(slot, to: 0)
    }

    mutating func remove(_ slot: Int) { order.remove(slot, from: 0) }

    mutating func evict(marks: AccessMarks) -> Int? { order.removeOldest(of: 0) }

    mutating func removeAll() { order.removeAll() }
}
