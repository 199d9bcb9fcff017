/// A data cache that can be looked into and put in order, as a tool or a settings page does.
public protocol MaintainableDataCache: DataCaching {
    /// What the cache has done since it was made.
    var statistics: DataCacheStatistics { get }
    /// All entries that have not expired, the least recently used first. Not a use. O(*n* log *n*) in memory.
    func items() async -> [DataCacheItem]
    /// The key of an entry, by the name that items and reports give it. nil when it is not there, or damaged.
    func key(named name: String) async -> ImageKey?
    /// Removes what has expired, then the least recently used entries until the rest occupies at most `size` bytes and is
    /// at most `count`. Returns what went.
    @discardableResult func trim(toSize size: Int, count: Int) async -> DataCacheTrimReport
    /// Removes what has expired, and keeps the limits. Returns what went. A cache does so by itself, too.
    @discardableResult func clean() async -> DataCacheTrimReport
    /// Reads every entry, and removes those that are damaged.
    @discardableResult func verify() async -> DataCacheVerification
}

extension MaintainableDataCache {
    /// Removes what has expired, then the least recently used entries until the rest occupies at most `size` bytes.
    /// Returns what went.
    @discardableResult
    public func trim(toSize size: Int) async -> DataCacheTrimReport { await trim(toSize: size, count: .max) }
}
