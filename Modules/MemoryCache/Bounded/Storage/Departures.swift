/// What a call has let go of under the lock, and is released after it: a value's deinit may call the cache.
@usableFromInline
struct Departures<Key: Hashable & Sendable, Value: Sendable>: Sendable {
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
