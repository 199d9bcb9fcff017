public import FoundationEssentials

/// A data cache whose entries can be listed and trimmed, as a tool or a settings page does.
///
/// The disk caches of this package conform. Only they make the reports that it returns: a cache of an app's own conforms to
/// ``DataCaching``, and to ``MeasurableDataCache`` where it can.
public protocol MaintainableDataCache: MeasurableDataCache {
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
    /// Calls `handler` after each trim that has removed entries: by limits, ages or a full disk, in the background or
    /// because a caller asked for it.
    ///
    /// The cache tells each removal once, and nothing of entries that callers remove, that are replaced or damaged, or
    /// that a read finds expired. It calls `handler` from any thread, outside its locks; a clean or trim that a caller
    /// asked for returns after it. Every trim is told at once, so nothing waits for `handler`, and no trim goes untold.
    ///
    /// - Returns: A token. The handler is called until the token is released.
    func observeTrims(_ handler: @escaping @Sendable (DataCacheTrimReport) -> Void) -> any Sendable
}

extension MaintainableDataCache {
    /// Removes what has expired, then the least recently used entries until the rest occupies at most `size` bytes.
    /// Returns what went.
    @discardableResult
    package func trim(toSize size: Int) async -> DataCacheTrimReport { await trim(toSize: size, count: .max) }
}

/// An entry as a listing of a data cache tells it.
public struct DataCacheItem: Sendable, Hashable {
    /// ``ImageKey/fileName`` of the entry's key.
    public var name: String
    /// The bytes that the entry occupies, as ``DataCacheLimits/maximumSize`` counts them, the cache's own notes included.
    public var size: Int
    /// When it was stored.
    public var storedAt: Date
    /// When it was last read or stored.
    public var lastUse: Date
    /// From when on the entry is not found any more; nil for as long as the cache's own limits say.
    public var expiry: Date?

    /// What a cache's listing says of one entry.
    package init(name: String, size: Int, storedAt: Date, lastUse: Date, expiry: Date? = nil) {
        self.name = name
        self.size = size
        self.storedAt = storedAt
        self.lastUse = lastUse
        self.expiry = expiry
    }
}

/// What a data cache has done since it was made.
public struct DataCacheStatistics: Sendable, Hashable, CustomStringConvertible {
    /// Reads that found an entry.
    public var hits = 0
    /// Reads that found none, damaged and expired ones too.
    public var misses = 0
    /// Entries that were stored, those that replaced another included.
    public var stores = 0
    /// Stores that failed.
    public var failures = 0
    /// Entries that were found damaged, and removed.
    public var damagedEntries = 0
    /// Entries that limits removed.
    public var trimmedEntries = 0

    /// Nothing done yet.
    package init() {}

    /// The number of hits divided by that of all reads, from 0 to 1; zero before the first read.
    public var hitRatio: Double { hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses) }

    /// One line for a log, such as `3 of 5 found, 4 stored, 1 failed, 0 damaged, 2 trimmed`.
    public var description: String {
        "\(hits) of \(hits + misses) found, \(stores) stored, \(failures) failed, \(damagedEntries) damaged, "
            + "\(trimmedEntries) trimmed"
    }
}

/// What a look at every entry of a data cache found.
package struct DataCacheVerification: Sendable, Hashable {
    /// How many entries were read, damaged ones too.
    package var checkedCount: Int
    /// The bytes that the whole ones occupy, as ``DataCacheLimits/maximumSize`` counts them.
    package var byteCount: Int
    /// ``ImageKey/fileName`` of the keys whose entries were damaged or missing, and are removed now.
    package var damagedNames: [String]
    /// Why not every entry could be read, or not all that is damaged removed: the first reason that the cache tells.
    package var refusal: DataCacheError?

    /// A report; by default of a cache without entries.
    package init(
        checkedCount: Int = 0, byteCount: Int = 0, damagedNames: [String] = [], refusal: DataCacheError? = nil
    ) {
        self.checkedCount = checkedCount
        self.byteCount = byteCount
        self.damagedNames = damagedNames
        self.refusal = refusal
    }
}
