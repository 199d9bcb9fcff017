/// What readers count, each lane for itself.
@usableFromInline
struct ReaderNotes: Sendable {
    @usableFromInline var hits = 0
    @usableFromInline var misses = 0
    @usableFromInline var weakHits = 0
    /// Sum of the costs of what was found; wraps round rather than trap.
    @usableFromInline var hitCost = 0
    /// The last tick at which this lane noted a use, and how many since.
    @usableFromInline var tick: UInt64 = 0
    @usableFromInline var usesInTick: UInt64 = 0

    @inlinable init() {}

    @inlinable
    mutating func found(_ cost: Int) {
        hits += 1
        hitCost &+= cost
    }

    /// Counts a miss, and passes on what the weak level has.
    @inlinable
    mutating func missed<Value>(_ held: Value?) -> Value? {
        misses += 1
        if held != nil { weakHits += 1 }
        return held
    }

    /// The time of a use: the cache's tick, and the number of the lane's use within it. One thread's uses are told
    /// apart, up to 255 of them between two stores.
    @inlinable
    mutating func stamp(at now: UInt64) -> UInt64 {
        if tick != now {
            tick = now
            usesInTick = 0
        }
        if usesInTick < 255 { usesInTick += 1 }
        return now << 8 | usesInTick
    }
}
