/// A data cache that reports its size and number of entries.
public protocol MeasurableDataCache: DataCaching {
    /// The number of bytes that the entries occupy in the storage, including the cache's own records.
    var totalSize: Int { get async }
    /// The number of entries.
    var count: Int { get async }
    /// The operations that list and trim the entries; nil for a cache without them. A cache that wraps another cache
    /// can return the operations of the wrapped cache. Default: nil, or the cache itself if it is a
    /// ``MaintainableDataCache``.
    var maintenance: (any MaintainableDataCache)? { get }
}

extension MeasurableDataCache {
    /// The default value, nil, for a cache whose entries cannot be listed and trimmed.
    public var maintenance: (any MaintainableDataCache)? { nil }
}

/// A data cache whose entries can be listed and trimmed, for example by a tool or a settings page.
///
/// The disk caches of this package conform. A cache that wraps a conforming cache passes each call to it.
public protocol MaintainableDataCache: MeasurableDataCache {
    /// The counts of lookups, stores and evictions since the cache was created.
    var statistics: CacheStatistics { get }
    /// Returns all entries that have not expired, the least recently used first. Returns no entries when the storage
    /// fails. Does not record uses. Sorts in memory in O(*n* log *n*).
    func items() async -> [DataCacheItem]
    /// Returns the key of the entry whose ``DataCacheItem/name`` is `name`. Returns nil when the entry is missing or
    /// expired, when its key is damaged, or when the storage fails. A cache may also verify the bytes of the entry.
    func key(named name: String) async -> ImageKey?
    /// Removes expired entries, then the least recently used entries until the rest occupies at most `size` bytes and
    /// has at most `count` entries. Returns a report of the removed entries.
    ///
    /// If both parameters are nil, the call enforces the limits of the cache, which the cache also does by itself. If
    /// only one parameter is nil, it sets no bound.
    @discardableResult func trim(toSize size: Int?, count: Int?) async -> DataCacheTrimReport
    /// Calls `handler` after each trim that has removed entries, in the background or at the request of a caller.
    ///
    /// A trim removes expired entries, and the least recently used entries when the limits of the cache or of a
    /// caller's request are exceeded or the disk is full. Each removal is reported once. A report excludes entries that
    /// callers remove, entries that are replaced or damaged, and expired entries found by a read.
    ///
    /// The cache calls the handlers on any thread, outside its locks. A requested trim returns after the handlers have
    /// returned. A background trim is reported without waiting for earlier calls, so calls may overlap. No report is
    /// dropped.
    ///
    /// - Returns: A token. The handler is called until the token is released.
    func observeTrims(_ handler: @escaping @Sendable (DataCacheTrimReport) -> Void) -> any Sendable
}

extension MaintainableDataCache {
    /// The cache itself.
    public var maintenance: (any MaintainableDataCache)? { self }
}
