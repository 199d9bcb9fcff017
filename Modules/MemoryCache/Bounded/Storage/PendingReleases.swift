import AlcedoCore
import AlcedoLibc
import AlcedoRuntime

/// What a call has let go of under the lock, and is released after it: a value's deinit may call the cache.
@usableFromInline
struct PendingReleases<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline var evictions: [MemoryCacheEviction<Key, Value>] = []
    @usableFromInline var retired: [RetiredEntries<Key, Value>] = []
    /// Values that were refused, and those only looked at: whoever else held them may have let go meanwhile.
    @usableFromInline var lookedAt: [Value] = []

    @inlinable
    init() {}

    /// Whether no entry has left.
    @inlinable var isEmpty: Bool { evictions.isEmpty && retired.isEmpty }

    /// Calls `body` for each entry that has left.
    @inlinable
    func forEach(_ body: (MemoryCacheEviction<Key, Value>) -> Void) {
        for eviction in evictions { body(eviction) }
        for entries in retired { entries.forEach(body) }
    }
}

/// All that a cache held, taken out whole with the memory for it, to be reported and released outside the lock.
@usableFromInline
struct RetiredEntries<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline let table: EntryTable<Key, Value>
    @usableFromInline let reason: EvictionReason
    /// Held for their memory only.
    @usableFromInline let policy: any EvictionPolicy
    @usableFromInline let marks: AccessMarks
    @usableFromInline let weak: WeakLevel<Key, Value>?

    @inlinable
    init(
        table: EntryTable<Key, Value>, reason: EvictionReason, policy: any EvictionPolicy, marks: AccessMarks,
        weak: WeakLevel<Key, Value>?
    ) {
        (self.table, self.reason, self.policy, self.marks, self.weak) = (table, reason, policy, marks, weak)
    }

    /// Calls `body` for each entry, in no order.
    @inlinable
    func forEach(_ body: (MemoryCacheEviction<Key, Value>) -> Void) {
        for place in 0..<table.slots.count {
            let slot = table.slots[place]
            guard let key = table.entries[slot].key, let value = table.entries[slot].value else { continue }
            body(MemoryCacheEviction(key: key, value: value, cost: table.entries[slot].cost, reason: reason))
        }
    }
}

/// Calls a cache's listener, in each thread one call at a time: what leaves because the listener calls the cache waits in
/// line until the listener has returned, so that no chain of such calls grows the stack.
@usableFromInline
struct EvictionReporter<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, Sendable {
    @usableFromInline typealias Listener = @Sendable (MemoryCacheEviction<Key, Value>) -> Void
    private typealias Line = [PendingReleases<Key, Value>]

    @usableFromInline let listener: Listener?
    /// What waits, by thread; a thread is here for as long as its listener runs.
    private let lines = Locked<[UInt: Line]>([:])

    @usableFromInline
    init(_ listener: Listener?) { self.listener = listener }

    @inlinable
    func report(_ gone: PendingReleases<Key, Value>) {
        if let listener, !gone.isEmpty { report(gone, to: listener) }
    }

    @usableFromInline
    func report(_ gone: PendingReleases<Key, Value>, to listener: Listener) {
        let thread = Threads.current
        let isOutermost = lines.withLock { lines in
            guard lines[thread] == nil else {
                lines[thread]?.append(gone)
                return false
            }
            lines[thread] = []
            return true
        }
        guard isOutermost else { return }
        gone.forEach(listener)
        while let line = nextLine(of: thread) {
            for gone in line { gone.forEach(listener) }
        }
    }

    /// nil when nothing waits; then the thread is outside again.
    private func nextLine(of thread: UInt) -> Line? {
        lines.withLock { lines in
            guard let line = lines[thread], !line.isEmpty else {
                lines[thread] = nil
                return nil
            }
            lines[thread] = []
            return line
        }
    }
}
