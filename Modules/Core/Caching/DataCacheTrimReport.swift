/// A report of the entries that a trim of a data cache has removed.
public struct DataCacheTrimReport: Sendable, Hashable {
    /// The removed entries, in the order of their removal. Each has a ``DataCacheItem/evictionReason``.
    public var removals: [DataCacheItem]
    /// The error that kept the cache from removing enough entries; nil if none is known.
    public var error: DataCacheError?

    /// Creates a report. By default, it is empty.
    public init(removals: [DataCacheItem] = [], error: DataCacheError? = nil) {
        self.removals = removals
        self.error = error
    }

    package var byteCount: Int { removals.reduce(0) { $0 + $1.size } }
}
