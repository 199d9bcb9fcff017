import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The changes of the entries in an open database, and of the files of their values.
///
/// The cache writes a file before the transaction that inserts the file's row. It removes a file after the transaction
/// that deletes the row or, if the disk is full, before that transaction.
final class EntryChanges {
    /// The maximum number of bytes of data that are stored in the row. Larger data is stored in a file.
    ///
    /// Data up to this size is written several times as fast to a row as to a file, and is read at a similar speed.
    /// Larger data is read faster from a file. Measured times of reading, for a row and for a file: 28 us and 28 us for
    /// 8 KB, 40 us and 31 us for 32 KB, 75 us and 37 us for 128 KB. Writing 32 KB takes 0.25 ms and 0.9 ms. The method
    /// is that of sqlite.org, "Internal Versus External BLOBs in SQLite", where files are faster above 50 to 100 KB.
    static let maximumInlineByteCount = 32 << 10
    /// The maximum number of entries that one transaction of ``trim(to:)`` removes. The number is small, because stores
    /// wait for the transaction.
    private static let sliceCount = 128
    /// The maximum number of rows that one scan for expired entries reads.
    private static let scanCount = 512
    /// The columns that ``item(_:)`` reads.
    private static let itemColumns = "id, name, size, file, blocks, stored, used, expiry"

    let queries: EntryQueries
    /// Whether the connection is still unused.
    var isFresh = true
    private let values: ValueDirectory
    private let connection: Connection
    private let insertEntry: Statement
    private let insertContent: Statement
    private let findItem: Statement
    private let itemsOfResource: Statement
    private let oldestItems: Statement
    private let expiredItems: Statement
    private let lastScanned: Statement
    private let deleteEntry: Statement
    private let deleteContent: Statement
    private let changeTotals: Statement
    private let writeUse: Statement

    /// Prepares the connection and its statements. Creates the tables in an empty file.
    init(_ connection: Connection, values: ValueDirectory) throws(SQLiteFailure) {
        try Schema.configure(connection, values.durability)
        try Schema.prepare(connection)
        self.connection = connection
        self.values = values
        queries = try EntryQueries(connection)
        insertEntry = try connection.prepare(
            """
            INSERT INTO entry (name, resource, size, recency, stored, used, expiry, checksum, length, file, blocks) \
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        insertContent = try connection.prepare(
            "INSERT INTO content (id, resource, variant, metadata, data) VALUES (?, ?, ?, ?, ?)")
        findItem = try connection.prepare("SELECT \(Self.itemColumns) FROM entry WHERE name = ?")
        itemsOfResource = try connection.prepare(
            """
            SELECT \(Self.itemColumns) FROM entry JOIN content USING (id) \
            WHERE entry.resource = ? AND content.resource = ?
            """)
        oldestItems = try connection.prepare(
            "SELECT \(Self.itemColumns) FROM entry ORDER BY recency, id LIMIT ?")
        expiredItems = try connection.prepare(
            """
            SELECT \(Self.itemColumns) FROM (SELECT * FROM entry WHERE id > ?1 ORDER BY id LIMIT ?2) \
            WHERE iif(expiry IS NULL, \
            0.0 + ?3 - iif(stored > ?3, used, iif(?4, max(used, stored), stored)) >= ?5, \
            expiry <= ?3 OR iif(?6, used, stored) - ?3 >= expiry - iif(?6, used, stored))
            """)
        lastScanned = try connection.prepare(
            "SELECT max(id) FROM (SELECT id FROM entry WHERE id > ? ORDER BY id LIMIT ?)")
        deleteEntry = try connection.prepare("DELETE FROM entry WHERE id = ?")
        deleteContent = try connection.prepare("DELETE FROM content WHERE id = ?")
        changeTotals = try connection.prepare(
            """
            UPDATE total SET size = max(0, size + ?), count = max(0, count + ?), files = max(0, files + ?) \
            WHERE id = 1
            """)
        writeUse = try connection.prepare(
            """
            UPDATE entry SET recency = ?1, used = ?2, expiry = ?3, checksum = ?4 \
            WHERE id = ?5 AND checksum = ?6 AND recency < ?1
            """)
    }

    /// Stores an entry in one transaction, replacing an existing one. Returns the new totals.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - key: The key of the entry.
    ///   - recency: The position in the order of use.
    ///   - now: The current date.
    ///   - limit: The maximum number of bytes of an entry whose data is in a file. An entry whose data is in its row is
    ///     not checked.
    /// - Throws: ``SQLiteFailure``. Its kind is `tooLarge` if the entry exceeds a limit of SQLite, or if the entry with
    ///   the blocks of its file exceeds `limit`.
    func store(
        _ entry: CachedData, for key: ImageKey, recency: Int64, at now: Timestamp, limit: Int
    ) throws(SQLiteFailure) -> EntryTotals {
        guard entry.data.count > Self.maximumInlineByteCount else {
            return try insert(entry, for: key, file: nil, fileSize: 0, recency: recency, at: now)
        }
        let value = try values.write(entry.data, for: key)
        defer { extendLifetime(value) }
        do throws(SQLiteFailure) {
            let size = EntryRow.size(of: entry, for: key, fileSize: value.occupiedSize)
            guard size <= limit else {
                throw SQLiteFailure(
                    .tooLarge, "an entry that occupies \(size) bytes exceeds the limit of \(limit) bytes")
            }
            return try insert(
                entry, for: key, file: value.name, fileSize: value.occupiedSize, recency: recency, at: now)
        } catch {
            values.remove(value.name)
            throw error
        }
    }

    private func insert(
        _ entry: CachedData, for key: ImageKey, file: ValueName?, fileSize: Int, recency: Int64, at now: Timestamp
    ) throws(SQLiteFailure) -> EntryTotals {
        let name = key.fileName
        let size = EntryRow.size(of: entry, for: key, fileSize: fileSize)
        let times = EntryTimes(stored: now, used: now, expiry: entry.expiry.map(Timestamp.init))
        let checksum = EntryChecksum(of: entry, for: key).value(with: times)
        let (replaced, totals) = try connection.transaction {
            () throws(SQLiteFailure) -> (StoredItem?, EntryTotals) in
            let replaced = try removeRow(named: name)
            try insertEntry.run(
                .text(name), .integer(EntryRow.hash(of: key.resource)), .integer(Int64(size)), .integer(recency),
                .integer(now.milliseconds), .integer(now.milliseconds), .optional(times.expiry?.milliseconds),
                .integer(checksum), .integer(Int64(entry.data.count)),
                .optional(file?.token), .integer(Int64(fileSize)))
            try insertContent.run(
                .integer(connection.lastInsertedRow), .text(key.resource.description), .text(key.variant),
                .bytes(entry.metadata), .bytes(file == nil ? entry.data : Data()))
            try change(
                by: size - (replaced?.size ?? 0), count: replaced == nil ? 1 : 0,
                files: fileSize - (replaced?.fileSize ?? 0))
            return (replaced, try queries.totals())
        }
        if let file = replaced?.file { values.remove(file) }
        return totals
    }

    /// Removes an entry. Returns whether there was one.
    func remove(_ name: String) throws(SQLiteFailure) -> Bool {
        try remove(name) { () throws(SQLiteFailure) in true }
    }

    /// Removes an entry if `isKept` returns false. During the call, no other connection changes the entry's rows. An
    /// entry without a row of content is kept. Returns whether the entry was removed.
    func remove(
        _ name: String, unless isKept: (EntryRow) throws(SQLiteFailure) -> Bool
    ) throws(SQLiteFailure) -> Bool {
        try remove(name) { () throws(SQLiteFailure) in
            guard let row = try queries.row(named: name) else { return false }
            return try !isKept(row)
        }
    }

    private func remove(_ name: String, if isUnwanted: () throws(SQLiteFailure) -> Bool) throws(SQLiteFailure) -> Bool {
        try remove { () throws(SQLiteFailure) in
            try isUnwanted() ? findItem.firstRow(.text(name), read: Self.item) : nil
        }
    }

    /// Removes an entry if it is damaged. The entry is found by its row identifier, because its name may be damaged
    /// too. Returns whether the entry was removed.
    ///
    /// - Throws: ``SQLiteFailure``, also if the file of the entry's data cannot be read now. The entry then stays.
    func removeDamaged(_ id: Int64) throws(SQLiteFailure) -> Bool {
        try remove { () throws(SQLiteFailure) in
            guard let found = try queries.unverifiedEntry(id), try !found.isIntact(values) else { return nil }
            return StoredItem(
                id: id, name: found.row.name, size: found.row.size, file: found.row.file,
                fileSize: found.row.fileSize, times: found.row.times)
        }
    }

    /// Removes the entry that `choose` returns. The closure runs in the transaction, so no other connection makes
    /// changes meanwhile. Returns whether an entry was removed.
    private func remove(_ choose: () throws(SQLiteFailure) -> StoredItem?) throws(SQLiteFailure) -> Bool {
        let removed = try connection.transaction { () throws(SQLiteFailure) -> StoredItem? in
            let chosen = try choose()
            if let chosen { try removeRows([chosen]) }
            return chosen
        }
        if let removed { removeFiles(of: [removed]) }
        return removed != nil
    }

    /// Removes content rows without an entry.
    func removeStrayContent() throws(SQLiteFailure) {
        try connection.execute("DELETE FROM content WHERE id NOT IN (SELECT id FROM entry)")
    }

    /// Removes all entries of a resource. Returns the number of removed entries.
    func removeAll(of resource: ResourceKey) throws(SQLiteFailure) -> Int {
        let removed = try connection.transaction { () throws(SQLiteFailure) in
            let items = try itemsOfResource.rows(
                .integer(EntryRow.hash(of: resource)), .text(resource.description), read: Self.item)
            try removeRows(items)
            return items
        }
        removeFiles(of: removed)
        return removed.count
    }

    /// Removes all entries, and returns the space to the file system. If another connection is using the log, a part of
    /// the space may be returned later.
    func removeAll() throws(SQLiteFailure) {
        let files = try connection.transaction { () throws(SQLiteFailure) in
            let files = try queries.files(prefix: "")
            try connection.execute("DELETE FROM content")
            try connection.execute("DELETE FROM entry")
            try connection.execute("UPDATE total SET size = 0, count = 0, files = 0")
            return files
        }
        for file in files { values.remove(file) }
        try connection.execute("PRAGMA incremental_vacuum")
        try truncateLog()
    }

    /// Writes the log into the database, and truncates the log. If another connection is using the log for longer than
    /// the lock timeout, a part or all of it remains.
    func truncateLog() throws(SQLiteFailure) { try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }

    /// Removes at most 32 free pages from the database. Returns true if pages were removed and other free pages remain.
    /// With a damaged header, SQLite may remove no pages.
    func shrink() throws(SQLiteFailure) -> Bool {
        let before = try freePageCount()
        try connection.execute("PRAGMA incremental_vacuum(32)")
        let count = try freePageCount()
        return 0 < count && count < before
    }

    private func freePageCount() throws(SQLiteFailure) -> Int64 {
        try connection.prepare("PRAGMA freelist_count").firstRow { $0.integer(0) } ?? 0
    }

    /// Writes the uses of entries in one transaction. A use of an entry that has changed since it was read is dropped:
    /// a new entry may have its row identifier, or another process may have written a use.
    func write(_ uses: [Int64: PendingUses.Use]) throws(SQLiteFailure) {
        guard !uses.isEmpty else { return }
        try connection.transaction { () throws(SQLiteFailure) in
            for (id, use) in uses {
                try writeUse.run(
                    .integer(use.recency), .integer(use.times.used.milliseconds),
                    .optional(use.times.expiry?.milliseconds), .integer(use.checksum.value(with: use.times)),
                    .integer(id), .integer(use.read))
            }
        }
    }

    /// Performs one step of a trim: removes the least recently used entries until the goal is reached, but at most
    /// ``sliceCount`` entries.
    func trim(to goal: TrimGoal) throws(SQLiteFailure) -> TrimSlice {
        var slice = TrimSlice()
        let removed = try connection.transaction { () throws(SQLiteFailure) -> [StoredItem] in
            var totals = try queries.totals()
            guard goal.reason(for: totals) != nil else { return [] }
            let items = try oldestItems.rows(.integer(Int64(Self.sliceCount)), read: Self.item)
            var victims: [StoredItem] = []
            for item in items {
                guard let reason = goal.reason(for: totals) else { break }
                totals.remove(item)
                victims.append(item)
                slice.removals.append(item.item(removedFor: reason))
            }
            slice.isDone = items.count < Self.sliceCount || victims.count < items.count
            try removeRows(victims)
            // When all rows are removed, totals that still count entries are damaged.
            if victims.count == items.count, slice.isDone { try recount() }
            return victims
        }
        removeFiles(of: removed)
        return slice
    }

    /// Removes the files of the entries that a trim would remove, and keeps their rows.
    func removeOldestFiles(beyond goal: TrimGoal) throws(SQLiteFailure) {
        var totals = try queries.totals()
        for item in try oldestItems.rows(.integer(-1), read: Self.item) {
            guard goal.reason(for: totals) != nil else { return }
            totals.remove(item)
            removeFiles(of: [item])
        }
    }

    /// Removes the files of all entries, before the database is replaced. Returns a slice that reports all entries as
    /// removed for `reason`.
    func removeAllFiles(because reason: EvictionReason) throws(SQLiteFailure) -> TrimSlice {
        let items = try oldestItems.rows(.integer(-1), read: Self.item)
        removeFiles(of: items)
        return TrimSlice(removals: items.map { $0.item(removedFor: reason) })
    }

    /// Removes the expired entries among the first ``scanCount`` entries whose row identifiers are greater than `id`.
    ///
    /// - Returns: The removed entries, and the row identifier after which the next call continues. The identifier is
    ///   nil if there are no more entries.
    func removeExpired(
        after id: Int64, limits: DataCacheLimits, at now: Timestamp
    ) throws(SQLiteFailure) -> (items: [StoredItem], next: Int64?) {
        let scanned = Statement.ColumnValue.integer(Int64(Self.scanCount))
        guard let next = try lastScanned.firstRow(.integer(id), scanned, read: { $0.optionalInteger(0) }), let next
        else { return ([], nil) }
        let find = { [expiredItems] () throws(SQLiteFailure) -> [StoredItem] in
            try expiredItems.rows(
                .integer(id), scanned, .integer(now.milliseconds), .integer(limits.ageBasis == .lastUse ? 1 : 0),
                .optional(limits.maximumAge.map { Int64($0.milliseconds) }),
                .integer(limits.extendsExpiryOnUse ? 1 : 0), read: Self.item)
        }
        guard try !find().isEmpty else { return ([], next) }
        let removed = try connection.transaction { () throws(SQLiteFailure) in
            // The entries may have changed before the transaction began, so the search is repeated.
            let expired = try find()
            try removeRows(expired)
            return expired
        }
        removeFiles(of: removed)
        return (removed, next)
    }

    /// Recomputes the totals from the entries.
    func recount() throws(SQLiteFailure) {
        try connection.execute(
            """
            UPDATE total SET size = (SELECT coalesce(sum(min(max(size, 0), 1 << 50)), 0) FROM entry), \
            count = (SELECT count(*) FROM entry), \
            files = (SELECT coalesce(sum(min(max(blocks, 0), 1 << 50)), 0) FROM entry)
            """)
    }

    /// Removes the values in `shard` that no row names and that no process is writing.
    func removeLeftovers(in shard: String) throws(SQLiteFailure) {
        let named = try queries.files(prefix: shard)
        for value in try values.values(in: shard) where !named.contains(value) {
            try values.remove(value) { () throws(SQLiteFailure) in try queries.file(named: value.entry) != value }
        }
    }

    private static func item(_ row: Statement.Row) -> StoredItem {
        let name = row.text(1)
        return StoredItem(
            id: row.integer(0), name: name, size: EntryQueries.size(row.integer(2)),
            file: row.optionalInteger(3).flatMap { ValueName(entry: name, token: $0) },
            fileSize: EntryQueries.size(row.integer(4)), times: EntryQueries.times(row, from: 5))
    }

    private func removeRow(named name: String) throws(SQLiteFailure) -> StoredItem? {
        guard let item = try findItem.firstRow(.text(name), read: Self.item) else { return nil }
        try removeRow(item.id)
        return item
    }

    private func removeRow(_ id: Int64) throws(SQLiteFailure) {
        try deleteContent.run(.integer(id))
        try deleteEntry.run(.integer(id))
    }

    private func removeRows(_ items: [StoredItem]) throws(SQLiteFailure) {
        guard !items.isEmpty else { return }
        for item in items { try removeRow(item.id) }
        try change(
            by: -items.reduce(0) { $0 + $1.size }, count: -items.count, files: -items.reduce(0) { $0 + $1.fileSize })
    }

    private func change(by size: Int, count: Int, files: Int) throws(SQLiteFailure) {
        try changeTotals.run(.integer(Int64(size)), .integer(Int64(count)), .integer(Int64(files)))
    }

    private func removeFiles(of items: [StoredItem]) {
        for item in items { if let file = item.file { values.remove(file) } }
    }
}
