/// What a memory cache has done since it was made. Sums wrap round rather than trap.
public struct MemoryCacheStatistics: Sendable, Equatable, CustomStringConvertible {
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

    /// Look-ups that found an entry.
    public internal(set) var hits = 0
    /// The sum of the costs of the entries that look-ups found.
    public internal(set) var hitCost = 0
    /// Look-ups that found none, ``weakHits`` included.
    public internal(set) var misses = 0
    /// Look-ups that found an evicted value, because somebody still held it.
    public internal(set) var weakHits = 0
    /// Values stored, those that replaced another included.
    public internal(set) var stores = 0
    /// The sum of the costs of the values that were stored.
    public internal(set) var storedCost = 0
    /// Values that were not stored: too costly for the cache, too old, or not worth their room to the policy. They are
    /// neither stores nor evictions.
    public internal(set) var refusals = Tally()
    /// Entries that left, by reason.
    public internal(set) var evictions: [EvictionReason: Tally] = [:]

    @usableFromInline package init() {}

    @usableFromInline
    mutating func noteInsertion(cost: Int) {
        stores += 1
        storedCost &+= cost
    }

    @usableFromInline
    mutating func noteRefusal(cost: Int) { refusals.add(cost: cost) }

    @usableFromInline
    mutating func noteEvictions(_ reason: EvictionReason, count: Int, cost: Int) {
        if count > 0 { evictions[reason, default: Tally()].add(count, cost: cost) }
    }

    @usableFromInline
    mutating func noteLookups(hits count: Int, cost: Int, misses: Int, weakHits: Int) {
        hits += count
        hitCost &+= cost
        self.misses += misses
        self.weakHits += weakHits
    }

    /// The number of hits divided by that of all look-ups, from 0 to 1; zero before the first look-up.
    public var hitRatio: Double { hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses) }

    /// One line for a log, such as `3 of 5 found, 4 stored, 0 refused, 2 evicted`.
    public var description: String {
        let evicted = evictions.values.reduce(0) { $0 + $1.count }
        return "\(hits) of \(hits + misses) found, \(stores) stored, \(refusals.count) refused, \(evicted) evicted"
    }
}
