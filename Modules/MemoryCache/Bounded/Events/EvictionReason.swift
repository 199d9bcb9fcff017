/// Why an entry left a memory cache.
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
    /// Another value was stored under its key.
    case replaced
}
