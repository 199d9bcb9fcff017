public import Synchronization

/// What a cache notes at each hit, for the policies that are content to look at it when something must go.
///
/// Eight bytes an entry: how often it was used since the policy last looked, up to 15, and when for the last time.
/// Several threads may note at once; when two meet on one entry, one of the notes may be lost. A use that tells nothing new
/// writes nothing, so that threads that read the same entries again and again do not fight over their marks.
///
/// `@unchecked` because of the pointer: it is changed only while the cache is locked for writing, marks are atomic.
public final class AccessMarks: @unchecked Sendable {
    @usableFromInline var marks: UnsafeMutablePointer<Atomic<UInt64>>
    private var capacity = 16

    @usableFromInline
    init() {
        marks = .allocate(capacity: capacity)
        for slot in 0..<capacity { (marks + slot).initialize(to: Atomic(0)) }
    }

    deinit { marks.deallocate() }

    /// Makes room for `slot`. Only while the cache is locked for writing.
    @usableFromInline
    func reserve(_ slot: Int) {
        guard slot >= capacity else { return }
        let larger = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: capacity * 2)
        for slot in 0..<capacity * 2 {
            let mark = slot < capacity ? marks[slot].load(ordering: .relaxed) : 0
            (larger + slot).initialize(to: Atomic(mark))
        }
        marks.deallocate()
        marks = larger
        capacity *= 2
    }

    /// More uses are not told apart; no policy asks for more.
    @inlinable static var mostUses: UInt64 { 15 }

    /// Notes a use. `stamp` never decreases in one thread; the later of two threads' counts.
    @inlinable @inline(__always)
    static func note(_ mark: UnsafeMutablePointer<Atomic<UInt64>>, stamp: UInt64) {
        let known = mark.pointee.load(ordering: .relaxed)
        let latest = max(known >> 8, stamp) << 8 | min(known & 0xFF + 1, mostUses)
        if latest != known { mark.pointee.store(latest, ordering: .relaxed) }
    }

    /// How often an entry was used since this was last asked, up to 15. Nought for one that is not of this cache.
    public func takeCount(_ entry: EntrySlot) -> Int {
        guard entry.index < capacity else { return 0 }
        let mark = marks[entry.index].load(ordering: .relaxed)
        marks[entry.index].store(mark & ~0xFF, ordering: .relaxed)
        return Int(mark & 0xFF)
    }

    /// When an entry was last used or stored, on a scale of the cache's own that never runs back in one thread. Nought for
    /// one that is not of this cache.
    public func lastUse(_ entry: EntrySlot) -> UInt64 {
        entry.index < capacity ? marks[entry.index].load(ordering: .relaxed) >> 8 : 0
    }

    /// Begins anew for an entry that was stored.
    @inlinable
    func reset(_ slot: Int, stamp: UInt64) { marks[slot].store(stamp << 8, ordering: .relaxed) }
}

/// A place for an entry, as policies see it: a small number, used again when the entry has gone.
public struct EntrySlot: Sendable, Hashable {
    /// 0, 1, 2 and so on: below the largest number of entries that there have been at once.
    public let index: Int

    @inlinable
    init(_ index: Int) { self.index = index }
}
