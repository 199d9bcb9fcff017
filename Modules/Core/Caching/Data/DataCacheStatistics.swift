/// What a data cache has done since it was made.
public struct DataCacheStatistics: Sendable, Hashable {
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
    public init() {}
}
