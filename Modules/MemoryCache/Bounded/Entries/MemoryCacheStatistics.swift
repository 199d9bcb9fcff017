/// What a memory cache has done since it was made. Sums wrap round rather than trap.
public struct MemoryCacheStatistics: Sendable, Equatable {
    /// A number of entries and the sum of their costs.
    public struct Tally: Sendable, Equatable {
        /// How many.
        public internal(set) var count = 0
        /// What they cost together, in the caller's unit.
        public internal(set) var cost = 0

        package init() {}

        mutating func add(_ count: Int = 1, cost: Int) {
            self.count += count
            self.cost &+= cost
        }
    }

    /// Look-ups that found an entry, and what was found cost.
    public internal(set) var hits = Tally()
    /// Look-ups that found none, ``weakHits`` included.
    public internal(set) var misses = 0
    /// Look-ups that found an evicted value, because somebody still held it.
    public internal(set) var weakHits = 0
    /// Values stored, those that replaced another included.
    public internal(set) var insertions = Tally()
    /// Values that were not stored: too costly for the cache, too old, or not worth their room to the policy. They are
    /// neither insertions nor evictions.
    public internal(set) var refusals = Tally()
    /// Entries that left, by reason.
    public internal(set) var evictions: [EvictionReason: Tally] = [:]

    @usableFromInline package init() {}

    @usableFromInline
    mutating func noteInsertion(cost: Int) { insertions.add(cost: cost) }

    @usableFromInline
    mutating func noteRefusal(cost: Int) { refusals.add(cost: cost) }

    @usableFromInline
    mutating func noteEvictions(_ reason: EvictionReason, count: Int, cost: Int) {
        if count > 0 { evictions[reason, default: Tally()].add(count, cost: cost) }
    }

    @usableFromInline
    mutating func noteLookups(hits count: Int, cost: Int, misses: Int, weakHits: Int) {
        hits.count += count
        hits.cost &+= cost
        self.misses += misses
        self.weakHits += weakHits
    }

    /// Hits divided by look-ups; nought before the first.
    public var hitRatio: Double {
        let lookups = hits.count + misses
        return lookups == 0 ? 0 : Double(hits.count) / Double(lookups)
    }
}
