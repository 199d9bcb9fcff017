import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The entries in an open database. This file has the queries, which change nothing.
final class EntryTable {
    let connection: Connection
    let values: ValueDirectory
    /// Whether the connection is still unused.
    var isFresh = true

    /// Prepares a connection. A writer creates the tables in an empty file.
    init(_ connection: Connection, values: ValueDirectory, isWriter: Bool = true) throws(SQLiteFailure) {
        (self.connection, self.values) = (connection, values)
        try Schema.configure(connection, values.durability, isWriter: isWriter)
        try Schema.prepare(connection, makesTables: isWriter)
    }

    // Each lookup runs this statement, so its text is composed only once.
    private static let findRow = """
        SELECT \(EntryRow.columns), \(EntryRow.contentColumns) FROM entry JOIN content USING (id) WHERE name = ?
        """

    func row(named name: String) throws(SQLiteFailure) -> EntryRow? {
        try connection.firstRow(Self.findRow, [name], read: EntryRow.init(withContent:))
    }

    /// Returns the times of an entry, including a use that is not written yet. Returns nil if the entry is absent.
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

    /// Returns the metadata of an entry, or nil if the entry is absent. Does not verify it.
    func metadata(named name: String) throws(SQLiteFailure) -> Data? {
        try connection.firstRow("SELECT metadata FROM entry JOIN content USING (id) WHERE name = ?", [name]) {
            $0.bytes(0)
        }
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

    /// Returns the least recently used entries, without their content.
    ///
    /// - Parameter count: The maximum number of entries. The default is -1, for no limit.
    func rows(count: Int = -1) throws(SQLiteFailure) -> [EntryRow] {
        try connection.rows(
            "SELECT \(EntryRow.columns) FROM entry ORDER BY recency, id LIMIT ?", [count]
        ) { EntryRow($0) }
    }

    /// Searches at most 512 entries whose row identifiers are greater than `id` for expired ones. The number is small,
    /// because other work waits for the search.
    ///
    /// - Returns: The expired entries, and the row identifier after which the next search continues. The identifier is
    ///   nil if there are no more entries.
    func findExpired(
        after id: Int64, limits: DataCacheLimits, at now: Timestamp
    ) throws(SQLiteFailure) -> (ids: [Int64], next: Int64?) {
        let found = try connection.rows(
            "SELECT id, stored, used, expiry FROM entry WHERE id > ? ORDER BY id LIMIT 512", [id]
        ) {
            (id: $0.integer(0), times: EntryTimes($0, from: 1))
        }
        return (found.filter { $0.times.areExpired(limits, at: now) }.map(\.id), found.last?.id)
    }

    /// Returns the tokens of the files of all entries.
    func files() throws(SQLiteFailure) -> Set<Int64> {
        Set(try connection.rows("SELECT file FROM entry WHERE file IS NOT NULL") { $0.integer(0) })
    }

    /// An entry whose row, and whose file if it has one, were checked.
    struct CheckedEntry: Sendable {
        var id: Int64
        var name: String
        var size: Int
        /// Whether the entry is intact, or the reason why its file cannot be read now.
        var isIntact: Result<Bool, SQLiteFailure>
    }

    /// Checks at most `count` entries in the order of their row identifiers, from `id` on.
    func check(from id: Int64, count: Int) throws(SQLiteFailure) -> [CheckedEntry] {
        try connection.rows(
            """
            SELECT \(EntryRow.columns), \(EntryRow.contentColumns), content.resource, variant, entry.resource, \
            typeof(name) = 'text' AND content.id NOT NULL \
            FROM entry LEFT JOIN content USING (id) WHERE id >= ? ORDER BY id LIMIT ?
            """, [id, count]
        ) { columns in
            let row = EntryRow(withContent: columns)
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
