public import Synchronization

/// The uses that a cache records at each hit, for policies that read them when they choose an entry to evict.
///
/// A mark takes eight bytes per entry. It holds the number of uses since the policy last read it, up to 15, and the
/// time of the last use. Several threads can record uses at the same time. If two record a use of one entry, one of the
/// uses may be lost. A use that does not change the mark writes nothing, so that threads that read the same entries
/// repeatedly do not contend for their marks.
///
/// `@unchecked` because of the pointer. It changes only while the cache is locked for writing, and the marks are
/// atomic.
@usableFromInline
final class AccessMarks: @unchecked Sendable {
    @usableFromInline var marks: UnsafeMutablePointer<Atomic<UInt64>>
    private var capacity = 16

    @usableFromInline
    init() {
        marks = Self.allocate(capacity)
        for slot in 0..<capacity { (marks + slot).initialize(to: Atomic(0)) }
    }

    deinit { Self.deallocate(marks, capacity) }

    private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
        LargePages.allocate(byteCount: capacity * MemoryLayout<Atomic<UInt64>>.stride)
            .bindMemory(to: Atomic<UInt64>.self, capacity: capacity)
    }

    private static func deallocate(_ marks: UnsafeMutablePointer<Atomic<UInt64>>, _ capacity: Int) {
        LargePages.deallocate(marks, byteCount: capacity * MemoryLayout<Atomic<UInt64>>.stride)
    }

    /// Grows the memory so that it includes `slot`. Call this only while the cache is locked for writing.
    @usableFromInline
    func reserve(_ slot: Int) {
        guard slot >= capacity else { return }
        let larger = Self.allocate(capacity * 2)
        for slot in 0..<capacity * 2 {
            let mark = slot < capacity ? marks[slot].load(ordering: .relaxed) : 0
            (larger + slot).initialize(to: Atomic(mark))
        }
        Self.deallocate(marks, capacity)
        marks = larger
        capacity *= 2
    }

    /// The maximum number of uses that a mark counts. No policy needs more.
    @inlinable static var maximumUseCount: UInt64 { 15 }

    /// Records a use and keeps the later stamp, because threads may record their stamps out of order. If two threads
    /// record a use of one entry at the same time, one of the uses and its stamp may be lost.
    @inlinable @inline(__always)
    static func record(_ mark: UnsafeMutablePointer<Atomic<UInt64>>, stamp: UInt64) {
        let known = mark.pointee.load(ordering: .relaxed)
        let latest = max(known >> 8, stamp) << 8 | min(known & 0xFF + 1, maximumUseCount)
        if latest != known { mark.pointee.store(latest, ordering: .relaxed) }
    }

    /// Returns the number of uses of the entry in `slot` since the previous call, up to 15, and resets it to zero.
    /// Returns zero for a slot that was never in use.
    func takeCount(_ slot: Int) -> Int {
        guard 0..<capacity ~= slot else { return 0 }
        let mark = marks[slot].load(ordering: .relaxed)
        marks[slot].store(mark & ~0xFF, ordering: .relaxed)
        return Int(mark & 0xFF)
    }

    /// Returns the stamp of the last use or store of the entry in `slot`. Returns zero for a slot that was never in
    /// use.
    @usableFromInline
    func lastUse(_ slot: Int) -> UInt64 {
        0..<capacity ~= slot ? marks[slot].load(ordering: .relaxed) >> 8 : 0
    }

    /// Sets the mark of an entry that was stored: no uses, and `stamp` as the time of the last use.
    @inlinable
    func reset(_ slot: Int, stamp: UInt64) { marks[slot].store(stamp << 8, ordering: .relaxed) }
}
