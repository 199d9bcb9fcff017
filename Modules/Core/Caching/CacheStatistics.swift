/// The counts of lookups, stores and evictions since a cache was created. Sums of costs wrap around on overflow.
///
/// Memory caches and data caches both use this type. A count that does not apply to a cache stays zero.
public struct CacheStatistics: Sendable, Hashable, CustomStringConvertible {
    /// The number of lookups that found an entry.
    public var hits = 0
    /// The sum of the costs of the entries that lookups found in a memory cache, in the cache's unit, usually bytes.
    public var hitCost = 0
    /// The number of lookups that found no valid entry. Lookups of damaged or expired entries count as misses, and so
    /// do ``weakHits``.
    public var misses = 0
    /// The number of lookups in a memory cache that returned an evicted or rejected value that was still in use
    /// elsewhere.
    public var weakHits = 0
    /// The number of values stored, including replacements. The disk caches also count a store of an entry that has
    /// already expired, which only removes the existing entry.
    public var stores = 0
    /// The number of stores that failed, because the value was too large or too costly for the cache, or because the
    /// storage of a data cache failed. A memory cache also counts values that had expired, and values that its policy
    /// did not admit. The rejected value counts neither as a store nor as an eviction.
    public var failures = 0
    /// The number of damaged entries that a data cache found. The disk caches count an entry when they remove it.
    public var damagedEntries = 0
    /// The number of entries that left the cache, by reason. A data cache counts only entries that were removed because
    /// they exceeded its limits, because they had expired, because the storage was full, or by a requested trim.
    public var evictions: [EvictionReason: Int] = [:]

    /// The sum of the costs of the values that were stored in a memory cache.
    package private(set) var storedCost = 0
    /// The sum of the costs of the values that a memory cache did not store.
    package private(set) var failedCost = 0
    /// The sum of the costs or sizes of the entries that left the cache, by reason.
    package private(set) var evictedCosts: [EvictionReason: Int] = [:]

    /// Creates statistics with all counts zero.
    public init() {}

    /// Counts a value that was stored.
    @usableFromInline
    package mutating func recordStore(cost: Int) {
        stores += 1
        storedCost &+= cost
    }

    /// Counts a value that was not stored.
    @usableFromInline
    package mutating func recordFailure(cost: Int) {
        failures += 1
        failedCost &+= cost
    }

    /// Counts entries that left the cache.
    @usableFromInline
    package mutating func recordEvictions(_ reason: EvictionReason, count: Int, cost: Int) {
        guard count > 0 else { return }
        evictions[reason, default: 0] += count
        evictedCosts[reason, default: 0] &+= cost
    }

    /// Counts the entries that a trim of a data cache has removed. Ignores items without a reason.
    package mutating func recordEvictions(_ items: [DataCacheItem]) {
        for item in items {
            if let reason = item.evictionReason { recordEvictions(reason, count: 1, cost: item.size) }
        }
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

    /// The total number of entries that left the cache.
    package var evictionCount: Int { evictions.values.reduce(0, +) }

    /// The counts in one line for a log, such as `3 of 5 found, 4 stored, 1 failed, 0 damaged, 2 evicted`.
    public var description: String {
        "\(hits) of \(hits + misses) found, \(stores) stored, \(failures) failed, \(damagedEntries) damaged, "
            + "\(evictionCount) evicted"
    }
}
