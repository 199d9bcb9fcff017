import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// What the database has of an entry.
struct EntryRow {
    var id: Int64
    var name: String
    /// Bytes that it counts for.
    var size: Int
    /// Greater means used later.
    var recency: Int64
    var times: EntryTimes
    var checksum: Int64
    /// Of the data.
    var byteCount: Int
    /// The file that the data is in; nil when it is in the row.
    var file: ValueName?
    /// The bytes that the file occupies; zero without one.
    var fileSize: Int
    var metadata: Data
    var data: Data

    /// The entry, if all of it is there and as it was stored under `key`. Reads the file of a large value.
    ///
    /// - Throws: Why the file is not to be had now.
    func entry(for key: ImageKey, values: ValueDirectory) throws(SQLiteFailure) -> CachedData? {
        var found = CachedData(data, metadata: metadata, expiry: times.expiry?.date)
        if let file {
            guard let content = try values.read(file, count: byteCount) else { return nil }
            found.data = content
        }
        guard found.data.count == byteCount, checksum == Self.checksum(of: found, for: key) else { return nil }
        return found
    }

    /// Covers the key too, so that a row under a wrong name is not believed.
    static func checksum(of entry: CachedData, for key: ImageKey) -> Int64 {
        var hash = XXH64.hash(key.resource.description.utf8Span.span.bytes)
        hash = XXH64.hash(key.variant.utf8Span.span.bytes, seed: hash)
        for part in [entry.metadata, entry.data] { hash = XXH64.hash(part.bytes, seed: hash) }
        return Int64(bitPattern: hash)
    }

    /// The bytes that an entry counts for: its share of the database's pages, and the blocks of the file of its data.
    ///
    /// - Parameter fileSize: The bytes that the file of the data occupies; zero when the data is in the row.
    static func size(of entry: CachedData, for key: ImageKey, fileSize: Int) -> Int {
        let keyCount = key.resource.description.utf8.count + key.variant.utf8.count
        return fileSize
            + PageShare.size(byteCount: keyCount + entry.metadata.count + (fileSize == 0 ? entry.data.count : 0))
    }

    /// Finds the entries of a resource.
    static func hash(of resource: ResourceKey) -> Int64 {
        Int64(bitPattern: XXH64.hash(resource.description.utf8Span.span.bytes))
    }
}

/// When an entry was stored and used, and when its time is over.
struct EntryTimes: Equatable, Sendable {
    var stored: Timestamp
    var used: Timestamp
    /// The entry's own; nil when only the cache's age limit counts.
    var expiry: Timestamp?

    /// Whether the entry is not found any more.
    func areExpired(_ limits: DataCacheLimits, at now: Timestamp) -> Bool {
        limits.isOver(storedAt: stored, lastUse: used, expiry: expiry, now: now)
    }

    /// The times after a use.
    func used(at now: Timestamp, _ limits: DataCacheLimits) -> EntryTimes {
        EntryTimes(
            stored: stored, used: limits.lastUse(used, usedAt: now),
            expiry: limits.expiry(expiry, after: used, usedAt: now))
    }
}

/// What the database has under an entry's number, unverified.
struct UnverifiedEntry {
    var row: EntryRow
    /// Of the text that is there, if it is what it was.
    var key: ImageKey
    /// What the entry is found by when its resource is removed.
    var resourceHash: Int64
    /// Whether it has all columns, and a name that it can be found by.
    var isComplete: Bool

    /// Whether it is as it was stored: key, numbers and bytes. Reads the file of a large value.
    ///
    /// - Throws: Why the file is not to be had now.
    func isIntact(_ values: ValueDirectory) throws(SQLiteFailure) -> Bool {
        guard isComplete, key.fileName == row.name, EntryRow.hash(of: key.resource) == resourceHash,
            let entry = try row.entry(for: key, values: values)
        else { return false }
        guard row.file == nil ? row.fileSize == 0 : row.fileSize >= entry.data.count else { return false }
        return row.size == EntryRow.size(of: entry, for: key, fileSize: row.fileSize)
    }
}
