import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// A row of the table `entry`, with its content if the query has read it.
struct EntryRow: Sendable {
    /// The columns that ``init(_:)`` reads, and those that ``init(withContent:)`` reads in addition.
    static let columns = "id, name, size, stored, used, expiry, checksum, length, file, blocks"
    static let contentColumns = "metadata, data"

    var id: Int64
    var name: String
    /// The size of the entry in bytes, as ``size(of:for:fileSize:)`` computes it.
    var size: Int
    var times: EntryTimes
    var checksum: Int64
    /// The length of the data in bytes.
    var byteCount: Int
    /// The token of the file that contains the data. Nil if the data is in the database.
    var file: Int64?
    /// The number of bytes that the file occupies; zero without a file.
    var fileSize: Int
    var metadata = Data()
    var data = Data()

    init(_ row: Connection.Row) {
        id = row.integer(0)
        name = row.text(1)
        size = row.size(2)
        times = EntryTimes(row, from: 3)
        checksum = row.integer(6)
        byteCount = Int(row.integer(7))
        file = row.optionalInteger(8)
        fileSize = row.size(9)
    }

    init(withContent row: Connection.Row) {
        self.init(row)
        metadata = row.bytes(10)
        data = row.bytes(11)
    }

    /// Returns the description of the entry, with the reason of its removal if it was removed.
    func item(removedFor reason: EvictionReason? = nil) -> DataCacheItem {
        DataCacheItem(
            name: name, size: size, storedAt: times.stored.date, lastUse: times.used.date, expiry: times.expiry?.date,
            evictionReason: reason)
    }

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

    /// Returns whether the entry is intact, expired or not, and has the name, the hash and the sizes of its key and
    /// content.
    ///
    /// - Throws: The reason why the file cannot be read now.
    func isIntact(
        _ key: ImageKey, resourceHash: Int64, values: ValueDirectory
    ) throws(SQLiteFailure) -> Bool {
        guard key.fileName == name, Self.hash(of: key.resource) == resourceHash,
            let entry = try self.entry(for: key, values: values)?.content,
            file == nil ? fileSize == 0 : fileSize >= entry.data.count
        else { return false }
        return size == Self.size(of: entry, for: key, fileSize: fileSize)
    }

    /// Returns the size of an entry in bytes: its share of the database's pages, and the blocks of the file of its
    /// data, `fileSize`, which is zero if the data is in the database.
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

extension Connection.Row {
    /// Returns a number of bytes. A negative or immense number is damaged. It counts as the nearest one that is
    /// possible, so that sums do not overflow.
    func size(_ column: Int32) -> Int { Int(min(max(0, integer(column)), 1 << 50)) }
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

/// The dates of storing, last use and expiration of an entry. Without its own expiration date, only the cache's age
/// limit applies.
struct EntryTimes: Equatable, Sendable {
    var stored: Timestamp
    var used: Timestamp
    var expiry: Timestamp?

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

extension EntryTimes {
    /// Reads three columns of a row.
    init(_ row: Connection.Row, from column: Int32) {
        stored = Timestamp(milliseconds: row.integer(column))
        used = Timestamp(milliseconds: row.integer(column + 1))
        expiry = row.optionalInteger(column + 2).map(Timestamp.init(milliseconds:))
    }
}
