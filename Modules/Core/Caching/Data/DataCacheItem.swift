public import FoundationEssentials

/// An entry as a listing of a data cache tells it.
public struct DataCacheItem: Sendable, Hashable {
    /// ``ImageKey/fileName`` of the entry's key.
    public var name: String
    /// The bytes that the entry occupies, as ``DataCacheLimits/size`` counts them, the cache's own notes included.
    public var size: Int
    /// When it was stored.
    public var storedAt: Date
    /// When it was last read or stored.
    public var lastUse: Date
    /// From when on the entry is not found any more; nil for as long as the cache's own limits say.
    public var expiry: Date?

    /// What a cache's listing says of one entry.
    public init(name: String, size: Int, storedAt: Date, lastUse: Date, expiry: Date? = nil) {
        self.name = name
        self.size = size
        self.storedAt = storedAt
        self.lastUse = lastUse
        self.expiry = expiry
    }
}
