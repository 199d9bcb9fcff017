import AlcedoCore
import FoundationEssentials

/// The queries of an open database. They change nothing.
final class EntryQueries {
    /// The maximum size in bytes. A greater stored size is damaged, and counts as this maximum, so that sums do not
    /// overflow.
    private static let largestSize: Int64 = 1 << 50

    let connection: Connection
    private let findRow: Statement
    private let findTimes: Statement
    private let findKey: Statement
    private let readTotals: Statement
    private let countPages: Statement
    private let countFreePages: Statement
    private let list: Statement
    private let idsAfter: Statement
    private let findUnverified: Statement
    private let filesBetween: Statement
    private let highestRecency: Statement

    /// Prepares the queries.
    ///
    /// - Parameter connection: A connection to a file that has the tables.
    init(_ connection: Connection) throws(SQLiteFailure) {
        self.connection = connection
        let columns = "id, name, size, recency, stored, used, expiry, checksum, length, file, blocks, metadata, data"
        findRow = try connection.prepare("SELECT \(columns) FROM entry JOIN content USING (id) WHERE name = ?")
        findUnverified = try connection.prepare(
            """
            SELECT \(columns), content.resource, variant, entry.resource, \
            typeof(name) = 'text' AND content.id NOT NULL \
            FROM entry LEFT JOIN content USING (id) WHERE id = ?
            """)
        findTimes = try connection.prepare("SELECT id, checksum, stored, used, expiry FROM entry WHERE name = ?")
        findKey = try connection.prepare(
            "SELECT content.resource, variant FROM entry JOIN content USING (id) WHERE name = ?")
        readTotals = try connection.prepare("SELECT size, count, files FROM total WHERE id = 1")
        countPages = try connection.prepare("PRAGMA page_count")
        countFreePages = try connection.prepare("PRAGMA freelist_count")
        list = try connection.prepare(
            "SELECT id, recency, stored, used, expiry, name, size FROM entry ORDER BY recency, id")
        idsAfter = try connection.prepare("SELECT id FROM entry WHERE id > ? ORDER BY id LIMIT ?")
        filesBetween = try connection.prepare(
            "SELECT name, file FROM entry WHERE name >= ? AND name < ? AND file IS NOT NULL")
        highestRecency = try connection.prepare("SELECT max(recency) FROM entry")
    }

    /// Configures a connection that only reads, checks its tables, and prepares the queries.
    static func reader(_ connection: Connection) throws(SQLiteFailure) -> EntryQueries {
        try Schema.configureReader(connection)
        try Schema.check(connection)
        return try EntryQueries(connection)
    }

    func row(named name: String) throws(SQLiteFailure) -> EntryRow? {
        try findRow.firstRow(.text(name), read: Self.row)
    }

    /// Returns the entry with a row identifier, without checking whether the entry is intact. Returns nil if there is
    /// no such entry.
    func unverifiedEntry(_ id: Int64) throws(SQLiteFailure) -> UnverifiedEntry? {
        try findUnverified.firstRow(.integer(id)) { row in
            UnverifiedEntry(
                row: Self.row(row), key: ImageKey(ResourceKey(row.text(13)), variant: row.text(14)),
                resourceHash: row.integer(15), isComplete: row.integer(16) == 1)
        }
    }

    private static func row(_ row: Statement.Row) -> EntryRow {
        let name = row.text(1)
        return EntryRow(
            id: row.integer(0), name: name, size: size(row.integer(2)), recency: row.integer(3),
            times: times(row, from: 4), checksum: row.integer(7), byteCount: Int(row.integer(8)),
            file: row.optionalInteger(9).flatMap { ValueName(entry: name, token: $0) },
            fileSize: size(row.integer(10)), metadata: row.bytes(11), data: row.bytes(12))
    }

    /// Returns the times of an entry, including uses that are not written yet. Returns nil if the entry is absent.
    func times(named name: String, uses: UseLog) throws(SQLiteFailure) -> EntryTimes? {
        let found = try findTimes.firstRow(.text(name)) { row in
            (id: row.integer(0), checksum: row.integer(1), times: Self.times(row, from: 2))
        }
        guard let found else { return nil }
        return uses.times(of: found.id, checksum: found.checksum, times: found.times)
    }

    /// Returns the key of an entry, or nil if the entry is absent or its key is damaged.
    func key(named name: String) throws(SQLiteFailure) -> ImageKey? {
        let key = try findKey.firstRow(.text(name)) { ImageKey(ResourceKey($0.text(0)), variant: $0.text(1)) }
        guard let key, key.fileName == name else { return nil }
        return key
    }

    /// Returns the highest recency in the database, or zero if there are no entries.
    func lastRecency() throws(SQLiteFailure) -> Int64 { try highestRecency.firstRow { $0.integer(0) } ?? 0 }

    /// Returns the totals of all entries.
    ///
    /// - Complexity: O(1).
    func totals() throws(SQLiteFailure) -> EntryTotals {
        let found = try readTotals.firstRow { row in
            EntryTotals(size: Int(row.integer(0)), count: Int(row.integer(1)), usedSize: Self.size(row.integer(2)))
        }
        guard var totals = found else { throw SQLiteFailure(.damaged, "the totals row of the database is missing") }
        let freeCount = try countFreePages.firstRow { Int($0.integer(0)) } ?? 0
        let usedCount = (try countPages.firstRow { Int($0.integer(0)) } ?? 0) - freeCount - PageShare.spareCount
        totals.usedSize += max(0, usedCount) * PageShare.pageSize
        totals.freeSize = freeCount * PageShare.pageSize
        return totals
    }

    /// Returns all entries for which `isExpired` returns false, the least recently used first. Unwritten uses have no
    /// effect.
    func items(isExpired: (EntryTimes) -> Bool) throws(SQLiteFailure) -> [DataCacheItem] {
        let found = try list.rows { row in
            let times = Self.times(row, from: 2)
            let item = DataCacheItem(
                name: row.text(5), size: Self.size(row.integer(6)), storedAt: times.stored.date,
                lastUse: times.used.date, expiry: times.expiry?.date)
            return (item: item, times: times)
        }
        return found.filter { !isExpired($0.times) }.map(\.item)
    }

    /// Returns at most `count` row identifiers after `id`, in ascending order.
    func ids(after id: Int64, count: Int) throws(SQLiteFailure) -> [Int64] {
        try idsAfter.rows(.integer(id), .integer(Int64(count))) { $0.integer(0) }
    }

    /// Returns the files of the entries whose names begin with `prefix`.
    func files(prefix: String) throws(SQLiteFailure) -> Set<ValueName> {
        // The tilde comes after all hexadecimal digits, so it ends the range.
        let found = try filesBetween.rows(.text(prefix), .text(prefix + "~")) {
            ValueName(entry: $0.text(0), token: $0.integer(1))
        }
        return Set(found.compactMap { $0 })
    }

    func file(named name: String) throws(SQLiteFailure) -> ValueName? { try files(prefix: name).first }

    /// Returns whether the structure of the file is intact. May read the whole file.
    func isSound() throws(SQLiteFailure) -> Bool {
        try connection.prepare("PRAGMA integrity_check(1)").firstRow { $0.text(0) } == "ok"
    }

    static func times(_ row: Statement.Row, from column: Int32) -> EntryTimes {
        EntryTimes(
            stored: Timestamp(milliseconds: row.integer(column)),
            used: Timestamp(milliseconds: row.integer(column + 1)),
            expiry: row.optionalInteger(column + 2).map(Timestamp.init(milliseconds:)))
    }

    static func size(_ number: Int64) -> Int { Int(min(max(0, number), largestSize)) }
}
