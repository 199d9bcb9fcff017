public import AlcedoCore
import AlcedoLibc
import AlcedoRuntime

/// The entries that a call removes under the lock. They are released outside it, because a value's deinitializer may
/// call the cache.
@usableFromInline
struct PendingReleases<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline var evictions: [RemovedEntry<Key, Value>] = []
    @usableFromInline var retired: [RetiredEntries<Key, Value>] = []
    /// The values that a sweep of the weak references found alive. The array may hold the last reference to a value,
    /// because the value's other owners may have released it in the meantime.
    @usableFromInline var examined: [Value] = []

    @inlinable
    init() {}

    /// Whether no entry was removed.
    @inlinable var isEmpty: Bool { evictions.isEmpty && retired.isEmpty }

    /// Calls `body` for each removed entry.
    @inlinable
    func forEach(_ body: (RemovedEntry<Key, Value>) -> Void) {
        for eviction in evictions { body(eviction) }
        for entries in retired { entries.forEach(body) }
    }
}

/// The complete contents of a cache with their memory, to be reported and released outside the lock.
@usableFromInline
struct RetiredEntries<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline let table: EntryTable<Key, Value>
    @usableFromInline let reason: EvictionReason
    /// The policy. Like the marks and the weak references, it is kept only to be released outside the lock.
    @usableFromInline let policy: any MarkedEvictionPolicy
    @usableFromInline let marks: AccessMarks
    @usableFromInline let weak: WeakValueTable<Key, Value>?

    @inlinable
    init(
        table: EntryTable<Key, Value>, reason: EvictionReason, policy: any MarkedEvictionPolicy, marks: AccessMarks,
        weak: WeakValueTable<Key, Value>?
    ) {
        (self.table, self.reason, self.policy, self.marks, self.weak) = (table, reason, policy, marks, weak)
    }

    /// Calls `body` for each entry, in no order.
    @inlinable
    func forEach(_ body: (RemovedEntry<Key, Value>) -> Void) {
        for position in 0..<table.slots.count {
            let slot = table.slots[position]
            guard let key = table.entries[slot].key, let value = table.entries[slot].value else { continue }
            body(RemovedEntry(key: key, value: value, cost: table.entries[slot].cost, reason: reason))
        }
    }
}

/// The eviction listener of a cache. It never runs inside itself on one thread.
///
/// If the listener's calls to the cache remove further entries, these are queued until the listener returns, so that a
/// chain of such calls does not grow the stack.
@usableFromInline
struct EvictionReporter<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, Sendable {
    @usableFromInline typealias Listener = @Sendable (Key, Value, EvictionReason) -> Void
    private typealias Queue = [PendingReleases<Key, Value>]

    @usableFromInline let listener: Listener?
    /// The queued removals by thread. A thread has a queue while its listener runs.
    private let queues = Locked<[UInt: Queue]>([:])

    @usableFromInline
    init(_ listener: Listener?) { self.listener = listener }

    @inlinable
    func report(_ releases: PendingReleases<Key, Value>) {
        if let listener, !releases.isEmpty { report(releases, to: listener) }
    }

    @usableFromInline
    func report(_ releases: PendingReleases<Key, Value>, to listener: Listener) {
        let thread = Threads.current
        let isOutermost = queues.withLock { queues in
            guard queues[thread] == nil else {
                queues[thread]?.append(releases)
                return false
            }
            queues[thread] = []
            return true
        }
        guard isOutermost else { return }
        call(listener, for: releases)
        while let queue = nextQueue(of: thread) {
            for releases in queue { call(listener, for: releases) }
        }
    }

    private func call(_ listener: Listener, for releases: PendingReleases<Key, Value>) {
        releases.forEach { listener($0.key, $0.value, $0.reason) }
    }

    /// Removes and returns the removals that are queued for a thread. If there are none, removes the queue and returns
    /// nil.
    private func nextQueue(of thread: UInt) -> Queue? {
        queues.withLock { queues in
            guard let queue = queues[thread], !queue.isEmpty else {
                queues[thread] = nil
                return nil
            }
            queues[thread] = []
            return queue
        }
    }
}
