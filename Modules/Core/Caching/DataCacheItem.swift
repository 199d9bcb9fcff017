public import FoundationEssentials

/// A description of one entry of a data cache.
public struct DataCacheItem: Sendable, Hashable {
    /// The ``ImageKey/fileName`` of the entry's key.
    public var name: String
    /// The number of bytes that the entry occupies, including the cache's own records, as
    /// ``DataCacheLimits/sizeLimit`` counts them.
    public var size: Int
    /// The date at which the entry was stored.
    public var storedAt: Date
    /// The date of the last read or store.
    public var lastUse: Date
    /// The date from which the entry is treated as missing; nil if the age limit of the cache applies.
    public var expiry: Date?
    /// The reason why a trim removed the entry; nil for an entry in the cache.
    public var evictionReason: EvictionReason?

    /// Creates a description of an entry.
    public init(
        name: String, size: Int, storedAt: Date, lastUse: Date, expiry: Date? = nil,
        evictionReason: EvictionReason? = nil
    ) {
        self.name = name
        self.size = size
        self.storedAt = storedAt
        self.lastUse = lastUse
        self.expiry = expiry
        self.evictionReason = evictionReason
    }
}
