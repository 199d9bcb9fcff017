/// The counts of lookups, stores and evictions since a memory cache was created. Sums wrap around on overflow.
public struct MemoryCacheStatistics: Sendable, Equatable, CustomStringConvertible {
    /// The number of lookups that found an entry.
    public private(set) var hits = 0
    /// The sum of the costs of the entries that lookups found, in the cache's unit, usually bytes.
    public private(set) var hitCost = 0
    /// The number of lookups that found no entry, including ``weakHits``.
    public private(set) var misses = 0
    /// The number of lookups that found an evicted value because it was still referenced elsewhere.
    public private(set) var weakHits = 0
    /// The number of values stored, including replacements.
    public private(set) var stores = 0
    /// The number of values that were not stored. A value is rejected when it is too costly for the cache, has expired,
    /// or is not worth its cost to the policy. A rejection is neither a store nor an eviction.
    public private(set) var rejections = 0
    /// The number of entries that left the cache, by reason.
    public private(set) var evictions: [EvictionReason: Int] = [:]

    /// The sum of the costs of the values that were stored.
    package private(set) var storedCost = 0
    /// The sum of the costs of the values that were rejected.
    package private(set) var rejectedCost = 0
    /// The sum of the costs of the entries that left the cache, by reason.
    package private(set) var evictedCosts: [EvictionReason: Int] = [:]

    /// Creates statistics with all counts zero.
    @usableFromInline package init() {}

    /// Counts a value that was stored.
    @usableFromInline
    package mutating func recordStore(cost: Int) {
        stores += 1
        storedCost &+= cost
    }

    /// Counts a value that was not stored.
    @usableFromInline
    package mutating func recordRejection(cost: Int) {
        rejections += 1
        rejectedCost &+= cost
    }

    /// Counts entries that left the cache.
    @usableFromInline
    package mutating func recordEvictions(_ reason: EvictionReason, count: Int, cost: Int) {
        guard count > 0 else { return }
        evictions[reason, default: 0] += count
        evictedCosts[reason, default: 0] &+= cost
    }

    /// Counts lookups. `cost` is the sum of the costs of the entries found.
    @usableFromInline
    package mutating func recordLookups(hits count: Int, cost: Int, misses: Int, weakHits: Int) {
        hits += count
        hitCost &+= cost
        self.misses += misses
        self.weakHits += weakHits
    }

    /// The number of hits divided by the number of lookups, from 0 to 1. Zero before the first lookup.
    public var hitRatio: Double { hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses) }

    /// The counts in one line for a log, such as `3 of 5 found, 4 stored, 0 rejected, 2 evicted`.
    public var description: String {
        let evicted = evictions.values.reduce(0, +)
        return "\(hits) of \(hits + misses) found, \(stores) stored, \(rejections) rejected, \(evicted) evicted"
    }
}

/// The reason why an entry left a memory cache. A value that the cache or its policy rejects never enters the cache and
/// has no reason.
public enum EvictionReason: String, Sendable, CaseIterable {
    /// The total cost exceeded the limit of the cache.
    case costLimit
    /// The number of entries exceeded the limit of the cache.
    case countLimit
    /// The entry's time to live had passed.
    case expired
    /// The owner or memory pressure trimmed the cache.
    case trimmed
    /// The owner removed the entry.
    case removed
    /// Another value was stored or rejected under the same key.
    case replaced
}
