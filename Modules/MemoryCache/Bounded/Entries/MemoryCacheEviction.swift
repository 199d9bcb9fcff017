/// An entry that has left a memory cache.
public struct MemoryCacheEviction<Key: Sendable, Value: Sendable>: Sendable {
    /// The key it was under.
    public let key: Key
    /// The value that has left.
    public let value: Value
    /// In the caller's unit, usually bytes.
    public let cost: Int
    /// Why it left.
    public let reason: EvictionReason

    @inlinable
    init(key: Key, value: Value, cost: Int, reason: EvictionReason) {
        (self.key, self.value, self.cost, self.reason) = (key, value, cost, reason)
    }
}

/// Why an entry left a memory cache. A value that the cache or its policy refuses was never in it, and has none.
public enum EvictionReason: String, Sendable, CaseIterable {
    /// The entries cost more than the cache may hold.
    case costLimit
    /// There were more entries than the cache may hold.
    case countLimit
    /// Its time was over.
    case expired
    /// The owner, or the shortage of memory, asked for less.
    case trimmed
    /// The owner removed it.
    case removed
    /// Another value came under its key, stored or refused.
    case replaced
}
