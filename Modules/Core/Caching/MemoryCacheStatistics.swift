/// What a memory cache has done since it was made. Sums wrap around rather than trap.
public struct MemoryCacheStatistics: Sendable, Equatable, CustomStringConvertible {
    /// The number of lookups that found an entry.
    public private(set) var hits = 0
    /// The sum of the costs of the entries that lookups found, in the cache's unit, usually bytes.
    public private(set) var hitCost = 0
    /// The number of lookups that found no entry, ``weakHits`` included.
    public private(set) var misses = 0
    /// The number of lookups that found an evicted value because it was still referenced elsewhere.
    public private(set) var weakHits = 0
    /// The number of values stored, those that replaced another included.
    public private(set) var stores = 0
    /// The number of values that were not stored: too costly for the cache, expired, or not worth their cost to the
    /// policy. A rejection is neither a store nor an eviction.
    public private(set) var rejections = 0
    /// The number of entries that left the cache, by reason.
    public private(set) var evictions: [EvictionReason: Int] = [:]

    /// The sum of the costs of the values that were stored.
    package private(set) var storedCost = 0
    /// The sum of the costs of the values that were rejected.
    package private(set) var rejectedCost = 0
    /// The sum of the costs of the entries that left the cache, by reason.
    package private(set) var evictedCosts: [EvictionReason: Int] = [:]

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

    /// The number of hits divided by that of all lookups, from 0 to 1; zero before the first lookup.
    public var hitRatio: Double { hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses) }

    /// One line for a log, such as `3 of 5 found, 4 stored, 0 rejected, 2 evicted`.
    public var description: String {
        let evicted = evictions.values.reduce(0, +)
        return "\(hits) of \(hits + misses) found, \(stores) stored, \(rejections) rejected, \(evicted) evicted"
    }
}

/// Why an entry left a memory cache. A value that the cache or its policy rejects was never in it, and has no reason.
public enum EvictionReason: String, Sendable, CaseIterable {
    /// The entries cost more than the cache may keep.
    case costLimit
    /// There were more entries than the cache may keep.
    case countLimit
    /// Its time to live had passed.
    case expired
    /// The owner, or memory pressure, reduced the cache.
    case trimmed
    /// The owner removed it.
    case removed
    /// Another value was stored, or rejected, under its key.
    case replaced
}
