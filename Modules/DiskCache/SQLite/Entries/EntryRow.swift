import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The columns of an entry in the database.
struct EntryRow {
    var id: Int64
    var name: String
    /// The size of the entry in bytes, as ``size(of:for:fileSize:)`` computes it.
    var size: Int
    /// The position in the order of use. A greater number means a later use.
    var recency: Int64
    var times: EntryTimes
    var checksum: Int64
    /// The length of the data in bytes.
    var byteCount: Int
    /// The file that contains the data. Nil if the data is in the row, or if the name in the row is damaged.
    var file: ValueName?
    /// The number of bytes that the file occupies; zero without a file.
    var fileSize: Int
    var metadata: Data
    var data: Data

    /// Returns the entry and its checksum if its data, metadata and dates are intact and belong to `key`; otherwise,
    /// returns nil. Reads the file of a large value.
    ///
    /// - Throws: The reason why the file cannot be read now.
    func entry(
        for key: ImageKey, values: ValueDirectory
    ) throws(SQLiteFailure) -> (content: CachedData, checksum: EntryChecksum)? {
        var found = CachedData(data, metadata: metadata, expiry: times.expiry?.date)
        if let file {
            guard let content = try values.read(file, count: byteCount) else { return nil }
            found.data = content
        }
        let expected = EntryChecksum(of: found, for: key)
        guard found.data.count == byteCount, checksum == expected.value(with: times) else { return nil }
        return (found, expected)
    }

    /// Returns the size of an entry in bytes: its share of the database's pages, and the blocks of the file of its
    /// data.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - key: The key of the entry.
    ///   - fileSize: The number of bytes that the file of the data occupies; zero if the data is in the row.
    static func size(of entry: CachedData, for key: ImageKey, fileSize: Int) -> Int {
        let keyCount = key.resource.description.utf8.count + key.variant.utf8.count
        return fileSize
            + PageShare.size(byteCount: keyCount + entry.metadata.count + (fileSize == 0 ? entry.data.count : 0))
    }

    /// Returns the hash by which the entries of a resource are found.
    static func hash(of resource: ResourceKey) -> Int64 {
        Int64(bitPattern: XXH64.hash(resource.description.utf8Span.span.bytes))
    }
}

/// The checksum of an entry. It covers the data, the metadata, the key, so that a row with a wrong name is detected,
/// and the dates.
struct EntryChecksum: Sendable {
    /// The hash of everything except the dates. Uses change the dates without reading the data again.
    private let content: UInt64

    init(of entry: CachedData, for key: ImageKey) {
        var hash = XXH64.hash(key.resource.description.utf8Span.span.bytes)
        hash = XXH64.hash(key.variant.utf8Span.span.bytes, seed: hash)
        for part in [entry.metadata, entry.data] { hash = XXH64.hash(part.bytes, seed: hash) }
        content = hash
    }

    /// Returns the number that is stored with an entry and its dates.
    func value(with times: EntryTimes) -> Int64 {
        // Without an expiry, fewer bytes are hashed.
        let dates = [times.stored, times.used, times.expiry].compactMap { $0?.milliseconds.littleEndian }
        return Int64(bitPattern: XXH64.hash(dates.span.bytes, seed: content))
    }
}

/// The dates of storing, last use and expiration of an entry.
struct EntryTimes: Equatable, Sendable {
    var stored: Timestamp
    var used: Timestamp
    /// The entry's own expiration date, or nil if only the cache's age limit applies.
    var expiry: Timestamp?

    /// Returns whether the entry has expired.
    func areExpired(_ limits: DataCacheLimits, at now: Timestamp) -> Bool {
        limits.isOver(storedAt: stored, lastUse: used, expiry: expiry, now: now)
    }

    /// Returns the times after a use.
    func used(at now: Timestamp, _ limits: DataCacheLimits) -> EntryTimes {
        EntryTimes(
            stored: stored, used: limits.lastUse(used, usedAt: now),
            expiry: limits.expiry(expiry, after: used, usedAt: now))
    }
}

/// An unverified entry in the database.
struct UnverifiedEntry {
    var row: EntryRow
    /// The key in the row. It may be damaged.
    var key: ImageKey
    /// The hash by which the entry is found when its resource is removed.
    var resourceHash: Int64
    /// Whether the entry has a row of content, and a name by which it can be found.
    var isComplete: Bool

    /// Returns whether the entry is complete, and its key, bytes and dates match its name, hash, sizes and checksum.
    /// Does not check whether the entry has expired. Reads the file of a large value.
    ///
    /// - Throws: The reason why the file cannot be read now.
    func isIntact(_ values: ValueDirectory) throws(SQLiteFailure) -> Bool {
        guard isComplete, key.fileName == row.name, EntryRow.hash(of: key.resource) == resourceHash,
            let entry = try row.entry(for: key, values: values)?.content
        else { return false }
        guard row.file == nil ? row.fileSize == 0 : row.fileSize >= entry.data.count else { return false }
        return row.size == EntryRow.size(of: entry, for: key, fileSize: row.fileSize)
    }
}
