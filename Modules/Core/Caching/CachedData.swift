public import FoundationEssentials

/// Bytes in a data cache, with metadata and an optional expiry.
///
/// ```swift
/// let entry = CachedData(data, expiry: Date(timeIntervalSinceNow: 3_600))
/// try await cache.store(entry, for: key)
/// ```
public struct CachedData: Sendable, Hashable {
    /// The bytes that were stored.
    public var data: Data
    /// Metadata of the caller, such as the head of a response. The cache does not interpret it.
    public var metadata: Data
    /// The date from which the entry is treated as missing, with millisecond precision; nil to apply the age limit of
    /// the cache.
    public var expiry: Date?

    /// Creates an entry. By default, it has no metadata, and the age limit of the cache applies.
    public init(_ data: Data, metadata: Data = Data(), expiry: Date? = nil) {
        self.data = data
        self.metadata = metadata
        self.expiry = expiry
    }
}
