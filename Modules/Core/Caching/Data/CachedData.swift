public import FoundationEssentials

/// Bytes in a data cache, with what the storer wants to know about them later.
public struct CachedData: Sendable, Hashable {
    /// The bytes that were stored.
    public var data: Data
    /// The storer's own notes, such as a response's head. Opaque to the cache.
    public var metadata: Data
    /// From when on the entry is not found any more; nil for as long as the cache's own limits say. Kept to the
    /// millisecond.
    public var expiry: Date?

    /// Bytes to store. By default without notes, and with the cache's own age limit.
    public init(_ data: Data, metadata: Data = Data(), expiry: Date? = nil) {
        self.data = data
        self.metadata = metadata
        self.expiry = expiry
    }
}
