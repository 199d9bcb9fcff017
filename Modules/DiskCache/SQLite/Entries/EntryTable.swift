import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The entries in an open database. This file has the queries, which change nothing.
final class EntryTable {
    let connection: Connection
    let values: ValueDirectory
    /// Whether the connection is still unused.
    var isFresh = true

    /// Prepares a connection. Creates the tables in an empty file.
    init(_ connection: Connection, values: ValueDirectory) throws(SQLiteFailure) {
        (self.connection, self.values) = (connection, values)
        try Schema.configure(connection, values.durability)
        try Schema.prepare(connection, makesTables: true)
    }

    /// Prepares a connection that only reads.
    init(reading connection: Connection, values: ValueDirectory) throws(SQLiteFailure) {
        (self.connection, self.values) = (connection, values)
        try Schema.configureReader(connection)
        try Schema.prepare(connection, makesTables: false)
    }

    // Each lookup runs this statement, so its text is composed only once.
    private static let findRow = "SELECT \(EntryRow.columns) FROM entry JOIN content USING (id) WHERE name = ?"

    func row(named name: String) throws(SQLiteFailure) -> EntryRow? {
        try connection.firstRow(Self.findRow, [name], read: EntryRow.init)
    }

    /// Returns the times of an entry, including uses that are not written yet. Returns nil if the entry is absent.
    func times(named name: String, uses: UseLog) throws(SQLiteFailure) -> EntryTimes? {
        try connection.firstRow("SELECT id, checksum, stored, used, expiry FROM entry WHERE name = ?", [name]) { row in
            uses.times(of: row.integer(0), checksum: row.integer(1), times: EntryTimes(row, from: 2))
        }
    }

    /// Returns the key of an entry, or nil if the entry is absent or its key is damaged.
    func key(named name: String) throws(SQLiteFailure) -> ImageKey? {
        let key = try connection.firstRow(
            "SELECT content.resource, variant FROM entry JOIN content USING (id) WHERE name = ?", [name]
        ) {
            ImageKey(ResourceKey($0.text(0)), variant: $0.text(1))
        }
        return key?.fileName == name ? key : nil
    }

    /// Returns the highest recency in the database, or zero if there are no entries.
    func lastRecency() throws(SQLiteFailure) -> Int64 { try integer("SELECT max(recency) FROM entry") }

    /// Returns the totals of all entries.
    ///
    /// - Complexity: O(1).
    func totals() throws(SQLiteFailure) -> EntryTotals {
        let found = try connection.firstRow("SELECT size, count, files FROM total WHERE id = 1") { row in
            EntryTotals(size: Int(row.integer(0)), count: Int(row.integer(1)), usedSize: row.size(2))
        }
        guard var totals = found else { throw SQLiteFailure(.damaged, "the totals row of the database is missing") }
        let freeCount = Int(try freePageCount())
        let usedCount = Int(try integer("PRAGMA page_count")) - freeCount - PageShare.spareCount
        totals.usedSize += max(0, usedCount) * PageShare.pageSize
        totals.freeSize = freeCount * PageShare.pageSize
        return totals
    }

    func freePageCount() throws(SQLiteFailure) -> Int64 { try integer("PRAGMA freelist_count") }

    /// Returns all entries for which `isExpired` returns false, the least recently used first. Unwritten uses have no
    /// effect.
    func items(isExpired: (EntryTimes) -> Bool) throws(SQLiteFailure) -> [DataCacheItem] {
        try connection.rows("SELECT \(StoredItem.columns) FROM entry ORDER BY recency, id") { row in
            isExpired(EntryTimes(row, from: 3)) ? nil : StoredItem(row).entry
        }.compactMap { $0 }
    }

    /// Returns the files of the entries whose names begin with `prefix`.
    func files(prefix: String) throws(SQLiteFailure) -> Set<ValueName> {
        // The tilde comes after all hexadecimal digits, so it ends the range.
        let found = try connection.rows(
            "SELECT name, file FROM entry WHERE name >= ? AND name < ? AND file IS NOT NULL", [prefix, prefix + "~"]
        ) {
            ValueName(entry: $0.text(0), token: $0.integer(1))
        }
        return Set(found.compactMap { $0 })
    }

    /// Searches the first entries whose row identifiers are greater than `id` for expired ones.
    ///
    /// - Returns: Whether there are expired ones, and the row identifier after which the next search continues. The
    ///   identifier is nil if there are no more entries.
    func findExpired(
        after id: Int64, limits: DataCacheLimits, at now: Timestamp
    ) throws(SQLiteFailure) -> (areFound: Bool, next: Int64?) {
        let found = try connection.firstRow(
            "SELECT max(id), sum(\(Self.isExpired)) FROM \(Self.scanned)", Self.scan(after: id, limits: limits, at: now)
        ) {
            (areFound: $0.integer(1) > 0, next: $0.optionalInteger(0))
        }
        return found ?? (false, nil)
    }

    /// The entries of one search for expired ones: at most 512, because other work waits for it.
    static let scanned = "(SELECT * FROM entry WHERE id > ?1 ORDER BY id LIMIT 512)"
    /// The condition that ``DataCacheLimits/isOver(storedAt:lastUse:expiry:now:)`` states, in SQL.
    static let isExpired = """
        iif(expiry IS NULL, 0.0 + ?2 - iif(stored > ?2, used, iif(?3, max(used, stored), stored)) >= ?4, \
        expiry <= ?2 OR iif(?5, used, stored) - ?2 >= expiry - iif(?5, used, stored))
        """

    /// Returns the parameters of ``scanned`` and ``isExpired``.
    static func scan(after id: Int64, limits: DataCacheLimits, at now: Timestamp) -> [(any SQLValue)?] {
        let (countsFromUse, extendsExpiry) = (limits.ageBasis == .lastUse ? 1 : 0, limits.extendsExpiryOnUse ? 1 : 0)
        return [id, now.milliseconds, countsFromUse, limits.maximumAge?.milliseconds, extendsExpiry]
    }

    /// An entry whose row, and whose file if it has one, were checked.
    struct CheckedEntry: Sendable {
        var id: Int64
        var name: String
        var size: Int
        /// Whether the entry is intact, or the reason why its file cannot be read now.
        var isIntact: Result<Bool, SQLiteFailure>
    }

    /// Checks entries in the order of their row identifiers.
    ///
    /// - Parameters:
    ///   - id: The smallest row identifier.
    ///   - count: The maximum number of entries.
    func check(from id: Int64, count: Int) throws(SQLiteFailure) -> [CheckedEntry] {
        try connection.rows(
            """
            SELECT \(EntryRow.columns), content.resource, variant, entry.resource, \
            typeof(name) = 'text' AND content.id NOT NULL \
            FROM entry LEFT JOIN content USING (id) WHERE id >= ? ORDER BY id LIMIT ?
            """, [id, count]
        ) { columns in
            let row = EntryRow(columns)
            let key = ImageKey(ResourceKey(columns.text(12)), variant: columns.text(13))
            let isIntact: Result<Bool, SQLiteFailure> = Result { () throws(SQLiteFailure) in
                // The entry has a name by which it can be found, and a row of content.
                guard columns.integer(15) == 1 else { return false }
                return try row.isIntact(key, resourceHash: columns.integer(14), values: values)
            }
            return CheckedEntry(id: row.id, name: row.name, size: row.size, isIntact: isIntact)
        }
    }

    /// Returns whether the structure of the file is intact. May read the whole file.
    func isSound() throws(SQLiteFailure) -> Bool {
        try connection.firstRow("PRAGMA integrity_check(1)") { $0.text(0) } == "ok"
    }

    /// Returns the integer in the first row of a statement, or zero if there is no row.
    func integer(_ sql: String) throws(SQLiteFailure) -> Int64 {
        try connection.firstRow(sql) { $0.integer(0) } ?? 0
    }
}
