public import FoundationEssentials

/// A data cache whose entries can be listed and trimmed, for example by a tool or a settings page.
///
/// The disk caches of this package conform. Other caches cannot create the reports that these methods return. They
/// conform to ``DataCaching``, and to ``MeasurableDataCache`` if they can measure their entries.
public protocol MaintainableDataCache: MeasurableDataCache {
    /// The counts of reads, stores and removals since the cache was created.
    var statistics: DataCacheStatistics { get }
    /// Returns all entries that have not expired, the least recently used first. Does not record uses. Sorts in memory
    /// in O(*n* log *n*).
    func items() async -> [DataCacheItem]
    /// Returns the key of the entry with a name from an item or a report; nil when the entry is missing or damaged.
    func key(named name: String) async -> ImageKey?
    /// Removes expired entries, then the least recently used entries until the rest occupies at most `size` bytes and
    /// has at most `count` entries. Returns a report of the removed entries.
    @discardableResult func trim(toSize size: Int, count: Int) async -> DataCacheTrimReport
    /// Removes expired entries, then enforces the limits. Returns a report of the removed entries. A cache also does
    /// this by itself.
    @discardableResult func clean() async -> DataCacheTrimReport
    /// Calls `handler` after each trim that has removed entries. A trim removes entries because of the limits, their
    /// age or a full disk; it runs in the background or at the request of a caller.
    ///
    /// Each removal is reported once. A report excludes entries that callers remove, entries that are replaced or
    /// damaged, and expired entries found by a read. The cache calls `handler` on any thread, outside its locks.
    /// ``clean()`` and ``trim(toSize:count:)`` return after `handler` has returned. A background trim is reported
    /// without waiting for earlier calls, so calls may overlap. No report is dropped.
    ///
    /// - Returns: A token. The handler is called until the token is released.
    func observeTrims(_ handler: @escaping @Sendable (DataCacheTrimReport) -> Void) -> any Sendable
}

extension MaintainableDataCache {
    /// The cache itself.
    public var maintenance: (any MaintainableDataCache)? { self }

    /// Removes expired entries, then the least recently used entries until the rest occupies at most `size` bytes.
    /// Returns a report of the removed entries.
    @discardableResult
    package func trim(toSize size: Int) async -> DataCacheTrimReport { await trim(toSize: size, count: .max) }
}

/// A description of one entry of a data cache.
public struct DataCacheItem: Sendable, Hashable {
    /// ``ImageKey/fileName`` of the entry's key.
    public var name: String
    /// The number of bytes that the entry occupies, including the cache's own records, as
    /// ``DataCacheLimits/maximumSize`` counts them.
    public var size: Int
    /// The date of the store.
    public var storedAt: Date
    /// The date of the last read or store.
    public var lastUse: Date
    /// The date from which the entry is treated as missing; nil if the age limit of the cache applies.
    public var expiry: Date?

    /// Creates a description of an entry.
    package init(name: String, size: Int, storedAt: Date, lastUse: Date, expiry: Date? = nil) {
        self.name = name
        self.size = size
        self.storedAt = storedAt
        self.lastUse = lastUse
        self.expiry = expiry
    }
}

/// The counts of reads, stores and removals since a data cache was created.
public struct DataCacheStatistics: Sendable, Hashable, CustomStringConvertible {
    /// The number of reads that found an entry.
    public var hits = 0
    /// The number of reads that found no entry, including damaged and expired entries.
    public var misses = 0
    /// The number of entries stored, including replacements.
    public var stores = 0
    /// The number of stores that failed.
    public var failures = 0
    /// The number of entries that were found damaged and removed.
    public var damagedEntries = 0
    /// The number of entries removed by limits.
    public var trimmedEntries = 0

    /// Creates statistics with all counts zero.
    package init() {}

    /// The number of hits divided by the number of reads, from 0 to 1. Zero before the first read.
    public var hitRatio: Double { hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses) }

    /// The counts in one line for a log, such as `3 of 5 found, 4 stored, 1 failed, 0 damaged, 2 trimmed`.
    public var description: String {
        "\(hits) of \(hits + misses) found, \(stores) stored, \(failures) failed, \(damagedEntries) damaged, "
            + "\(trimmedEntries) trimmed"
    }
}

/// The result of a verification of all entries of a data cache.
package struct DataCacheVerification: Sendable, Hashable {
    /// The number of entries read, including damaged ones.
    package var checkedCount: Int
    /// The number of bytes that the intact entries occupy, as ``DataCacheLimits/maximumSize`` counts them.
    package var byteCount: Int
    /// The ``ImageKey/fileName`` of each key whose entry was damaged or missing. These entries have been removed.
    package var damagedNames: [String]
    /// The first error that prevented reading an entry or removing a damaged one; nil if there was none.
    package var error: DataCacheError?

    /// Creates a result. By default, it is that of an empty cache.
    package init(
        checkedCount: Int = 0, byteCount: Int = 0, damagedNames: [String] = [], error: DataCacheError? = nil
    ) {
        self.checkedCount = checkedCount
        self.byteCount = byteCount
        self.damagedNames = damagedNames
        self.error = error
    }
}
