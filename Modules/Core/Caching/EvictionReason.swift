/// The reason why an entry left a cache. A value that a cache or its policy rejects never enters the cache, so no
/// reason is recorded for it.
public enum EvictionReason: String, Sendable, CaseIterable {
    /// The total cost of a memory cache, or the total size of a data cache, exceeded the limit.
    case costLimit
    /// The number of entries exceeded the limit of the cache.
    case countLimit
    /// The entry had expired.
    case expired
    /// The storage of a data cache was full.
    case noSpace
    /// The owner requested a trim, or memory pressure trimmed a memory cache.
    case trimmed
    /// The owner removed the entry.
    case removed
    /// Another value was stored or rejected under the same key.
    case replaced
}
