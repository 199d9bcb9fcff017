public import Synchronization

/// The parts of a cache's state that a lookup needs, copied as pointers and numbers so that the lookup changes no
/// reference count. Valid until the lock is released.
@usableFromInline
struct EntryLookup<Key: Hashable & Sendable, Value: Sendable> {
    @usableFromInline let probe: HashProbe
    @usableFromInline let entries: UnsafeMutablePointer<CacheEntry<Key, Value>>
    @usableFromInline let details: UnsafeMutablePointer<EntryDetails>
    @usableFromInline let marks: UnsafeMutablePointer<Atomic<UInt64>>
    @usableFromInline let tick: UInt64

    @inlinable @inline(__always)
    init(_ state: UnsafePointer<MemoryCacheState<Key, Value>>) {
        // Each expression is a path to a number. Calling a method of the state would copy the state.
        probe = HashProbe(
            cells: state.pointee.table.index.cells.base, mask: state.pointee.table.index.cells.count &- 1,
            shift: state.pointee.table.index.shift)
        entries = state.pointee.table.entries.base
        details = state.pointee.table.details.base
        marks = state.pointee.markBase
        tick = state.pointee.tick
    }

    @inlinable @inline(__always)
    func slot(of key: Key, hash: Int) -> Int? {
        probe.slot(hash) { slot in
            guard let stored = entries[slot].key else { return false }
            return stored == key
        }
    }

    /// Returns the uptime at which the entry expires; `Int64.max` for never.
    ///
    /// A reader may change this deadline while other readers read it, so readers access the deadline atomically. A
    /// writer has exclusive access.
    @inlinable @inline(__always)
    func deadline(of slot: Int) -> Int64 { atomicDeadline(of: slot).pointee.load(ordering: .relaxed) }

    /// Restarts the time to live, if uses extend it.
    @inlinable @inline(__always)
    func extendExpiration(of slot: Int, from now: Int64) {
        let span = details[slot].extensionSpan
        guard span > 0 else { return }
        atomicDeadline(of: slot).pointee.store(EntryExpiration.deadline(from: now, for: span), ordering: .relaxed)
    }

    /// Returns a pointer to the deadline as an atomic number. An atomic number has the layout of a plain number. The
    /// pointer is computed from the entry's address, because `&` would claim exclusive access to the number.
    @inlinable @inline(__always)
    func atomicDeadline(of slot: Int) -> UnsafeMutablePointer<Atomic<Int64>> {
        UnsafeMutableRawPointer(entries + slot).assumingMemoryBound(to: Atomic<Int64>.self)
    }
}

/// The counts of lookups in one lane.
@usableFromInline
struct LaneCounters: Sendable {
    @usableFromInline var hits = 0
    @usableFromInline var misses = 0
    @usableFromInline var weakHits = 0
    /// The total cost of the values found. It wraps on overflow instead of trapping.
    @usableFromInline var hitCost = 0
    /// The tick of the lane's latest use.
    @usableFromInline var tick: UInt64 = 0
    /// The number of the lane's uses within ``tick``, up to 255.
    @usableFromInline var usesInTick: UInt64 = 0

    @inlinable init() {}

    @inlinable
    mutating func found(_ cost: Int) {
        // The count cannot overflow: a billion hits per second take three centuries.
        hits &+= 1
        hitCost &+= cost
    }

    /// Counts a miss, and a weak hit if `referenced` is not nil. Returns `referenced`.
    @inlinable
    mutating func missed<Value>(_ referenced: Value?) -> Value? {
        misses += 1
        if referenced != nil { weakHits += 1 }
        return referenced
    }

    /// Returns the stamp of a use: the cache's tick, and the position of the use among the lane's uses within this
    /// tick. Between two stores, the first 255 uses of a lane have distinct stamps.
    @inlinable
    mutating func stamp(at now: UInt64) -> UInt64 {
        if tick != now {
            tick = now
            usesInTick = 0
        }
        if usesInTick < 255 { usesInTick &+= 1 }
        return now << 8 | usesInTick
    }
}
