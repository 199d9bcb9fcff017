public import Synchronization

/// The uses that a cache records at each hit, for policies that read them when an entry must be evicted.
///
/// Eight bytes an entry: how often it was used since the policy last looked, up to 15, and when for the last time.
/// Several threads may record at once; when two meet on one entry, one of the uses may be lost. A use that tells nothing new
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
    @inlinable static var maximumUseCount: UInt64 { 15 }

    /// Records a use. `stamp` never decreases in one thread; the later of two threads' counts.
    @inlinable @inline(__always)
    static func record(_ mark: UnsafeMutablePointer<Atomic<UInt64>>, stamp: UInt64) {
        let known = mark.pointee.load(ordering: .relaxed)
        let latest = max(known >> 8, stamp) << 8 | min(known & 0xFF + 1, maximumUseCount)
        if latest != known { mark.pointee.store(latest, ordering: .relaxed) }
    }

    /// Returns how often the entry in `slot` was used since the previous call, up to 15. Zero for a slot of no entry of
    /// this cache.
    public func takeCount(_ slot: Int) -> Int {
        guard 0..<capacity ~= slot else { return 0 }
        let mark = marks[slot].load(ordering: .relaxed)
        marks[slot].store(mark & ~0xFF, ordering: .relaxed)
        return Int(mark & 0xFF)
    }

    /// Returns when the entry in `slot` was last used or stored, on a scale of the cache's own that never decreases in one
    /// thread. Zero for a slot of no entry of this cache.
    public func lastUse(_ slot: Int) -> UInt64 {
        0..<capacity ~= slot ? marks[slot].load(ordering: .relaxed) >> 8 : 0
    }

    /// Begins anew for an entry that was stored.
    @inlinable
    func reset(_ slot: Int, stamp: UInt64) { marks[slot].store(stamp << 8, ordering: .relaxed) }
}
