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
