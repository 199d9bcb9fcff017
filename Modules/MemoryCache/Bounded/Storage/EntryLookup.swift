public import Synchronization

/// What a look-up needs of a cache's state, copied out of it: pointers and numbers, so that no reference count is touched.
/// Good until the lock is let go.
@usableFromInline
struct EntryLookup<Key: Hashable & Sendable, Value: Sendable> {
    @usableFromInline let probe: HashProbe
    @usableFromInline let entries: UnsafeMutablePointer<CacheEntry<Key, Value>>
    @usableFromInline let marks: UnsafeMutablePointer<Atomic<UInt64>>
    @usableFromInline let tick: UInt64

    @inlinable @inline(__always)
    init(_ state: UnsafePointer<MemoryCacheState<Key, Value>>) {
        // Each a path to a number: a method of the state would copy the state.
        probe = HashProbe(
            cells: state.pointee.table.index.cells.base, mask: state.pointee.table.index.cells.count - 1,
            shift: state.pointee.table.index.shift)
        entries = state.pointee.table.entries.base
        marks = state.pointee.markBase
        tick = state.pointee.tick
    }

    @inlinable @inline(__always)
    func slot(of key: Key, hash: Int) -> Int? {
        probe.slot(hash) { slot in
            guard entries[slot].hash == hash, let stored = entries[slot].key else { return false }
            return stored == key
        }
    }

    /// When the entry's time is over. Readers move it while others read it, so it is atomic between them; a writer is
    /// alone.
    @inlinable @inline(__always)
    func deadline(of slot: Int) -> Int64 { atomicDeadline(of: slot).pointee.load(ordering: .relaxed) }

    /// Records a use.
    @inlinable @inline(__always)
    func extendExpiration(of slot: Int, from now: Int64) {
        let span = entries[slot].expiration.extensionSpan
        guard span > 0 else { return }
        atomicDeadline(of: slot).pointee.store(EntryExpiration.deadline(from: now, for: span), ordering: .relaxed)
    }

    /// An atomic number is laid out as a plain one. By address, because `&` would claim the number for one thread.
    @inlinable @inline(__always)
    func atomicDeadline(of slot: Int) -> UnsafeMutablePointer<Atomic<Int64>> {
        UnsafeMutableRawPointer(entries + slot).assumingMemoryBound(to: Atomic<Int64>.self)
    }
}

/// The counts of the readers of one lane.
@usableFromInline
struct LaneCounters: Sendable {
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
    mutating func missed<Value>(_ referenced: Value?) -> Value? {
        misses += 1
        if referenced != nil { weakHits += 1 }
        return referenced
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
