/// What a call has let go of under the lock, and is released after it: a value's deinit may call the cache.
@usableFromInline
struct Departures<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline var evictions: [MemoryCacheEviction<Key, Value>] = []
    /// Values that were only looked at; whoever else held them may have let go meanwhile.
    @usableFromInline var lookedAt: [Value] = []

    @inlinable
    init() {}
}
