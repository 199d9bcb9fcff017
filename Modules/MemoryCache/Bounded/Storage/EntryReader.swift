public import Synchronization

/// What a look-up needs of a cache's state, copied out of it: pointers and numbers, so that no reference count is touched.
/// Good until the lock is let go.
@usableFromInline
struct EntryReader<Key: Hashable & Sendable, Value: Sendable> {
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

    /// Notes a use.
    @inlinable @inline(__always)
    func extendLife(of slot: Int, from now: Int64) {
        let span = entries[slot].life.spanOfUse
        guard span > 0 else { return }
        atomicDeadline(of: slot).pointee.store(EntryLife.deadline(from: now, for: span), ordering: .relaxed)
    }

    /// An atomic number is laid out as a plain one. By address, because `&` would claim the number for one thread.
    @inlinable @inline(__always)
    func atomicDeadline(of slot: Int) -> UnsafeMutablePointer<Atomic<Int64>> {
        UnsafeMutableRawPointer(entries + slot).assumingMemoryBound(to: Atomic<Int64>.self)
    }
}
