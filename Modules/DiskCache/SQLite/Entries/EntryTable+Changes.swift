import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The changes of the entries, and of the files of their values.
///
/// The cache writes a file in the transaction that inserts the file's row. So if a file has no row while another
/// transaction is in progress, a crash has left it. The cache removes a file after the transaction that deletes the row
/// or, if the disk is full, before that transaction.
extension EntryTable {
    /// The maximum number of bytes of data that are stored in the row. Larger data is stored in a file.
    ///
    /// Data up to this size is written several times as fast to a row as to a file, and is read at a similar speed.
    /// Larger data is read faster from a file. Measured times, first for a row and then for a file: reading takes 28 us
    /// and 28 us for 8 KB, 40 us and 31 us for 32 KB, and 75 us and 37 us for 128 KB; writing 32 KB takes 0.25 ms and
    /// 0.9 ms. The method is that of sqlite.org, "Internal Versus External BLOBs in SQLite", where files are faster for
    /// more than 50 to 100 KB.
    static let maximumInlineByteCount = 32 << 10
    /// The maximum number of entries that one transaction of ``trim(to:)`` removes. The number is small, because stores
    /// wait for the transaction.
    private static let sliceCount = 128

    /// Stores an entry in one transaction, replacing an existing one. Returns the new totals.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - key: The key of the entry.
    ///   - recency: The position in the order of use.
    ///   - now: The current date.
    ///   - limit: The maximum number of bytes of the entry, including the blocks of its file.
    /// - Throws: ``SQLiteFailure``. Its kind is `tooLarge` if the entry exceeds `limit` or a limit of SQLite.
    func store(
        _ entry: CachedData, for key: ImageKey, recency: Int64, at now: Timestamp, limit: Int
    ) throws(SQLiteFailure) -> EntryTotals {
        let times = EntryTimes(stored: now, used: now, expiry: entry.expiry.map(Timestamp.init))
        let checksum = EntryChecksum(of: entry, for: key).value(with: times)
        var file: Int64?
        do throws(SQLiteFailure) {
            var totals = EntryTotals(size: 0, count: 0)
            try remove { () throws(SQLiteFailure) in
                var fileSize = 0
                if entry.data.count > Self.maximumInlineByteCount {
                    let value = try values.write(entry.data)
                    (file, fileSize) = (value.token, value.occupiedSize)
                }
                let size = EntryRow.size(of: entry, for: key, fileSize: fileSize)
                guard size <= limit else {
                    throw SQLiteFailure(
                        .tooLarge, "an entry that occupies \(size) bytes exceeds the limit of \(limit) bytes")
                }
                let replaced = try deleteRows("name = ?", [key.fileName])
                try connection.run(
                    """
                    INSERT INTO entry \
                    (name, resource, size, recency, stored, used, expiry, checksum, length, file, blocks) \
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                    [
                        key.fileName, EntryRow.hash(of: key.resource), size, recency, now.milliseconds,
                        now.milliseconds, times.expiry?.milliseconds, checksum, entry.data.count, file, fileSize,
                    ])
                try connection.run(
                    "INSERT INTO content (id, resource, variant, metadata, data) VALUES (?, ?, ?, ?, ?)",
                    [
                        connection.lastInsertedRow, key.resource.description, key.variant, entry.metadata,
                        file == nil ? entry.data : Data(),
                    ])
                try addToTotals(size: size, count: 1, files: fileSize)
                totals = try self.totals()
                return replaced
            }
            return totals
        } catch {
            if let file { values.remove(file) }
            throw error
        }
    }

    /// Removes an entry, unless `isKept` returns true for it. During the call, no other connection changes the entry's
    /// rows. Returns whether the entry was removed.
    func remove(
        _ name: String, unless isKept: ((EntryRow) throws(SQLiteFailure) -> Bool)? = nil
    ) throws(SQLiteFailure) -> Bool {
        try remove { () throws(SQLiteFailure) in
            if let isKept, let row = try self.row(named: name), try isKept(row) { return [] }
            return try deleteRows("name = ?", [name])
        }.count > 0
    }

    /// Removes an entry if it is damaged. The entry is found by its row identifier, because its name may be damaged
    /// too. Returns whether the entry was removed.
    ///
    /// - Throws: ``SQLiteFailure``, also if the file of the entry's data cannot be read now. The entry then stays.
    func removeDamaged(_ id: Int64) throws(SQLiteFailure) -> Bool {
        try remove { () throws(SQLiteFailure) in
            guard let found = try check(from: id, count: 1).first, found.id == id, try !found.isIntact.get() else {
                return []
            }
            return try deleteRows("id = ?", [id])
        }.count > 0
    }

    /// Removes all entries of a resource. Returns the number of removed entries.
    func removeAll(of resource: ResourceKey) throws(SQLiteFailure) -> Int {
        let condition = """
            id IN (SELECT id FROM entry JOIN content USING (id) WHERE entry.resource = ? AND content.resource = ?)
            """
        return try remove { () throws(SQLiteFailure) in
            try deleteRows(condition, [EntryRow.hash(of: resource), resource.description])
        }.count
    }

    /// Removes all entries, and returns the space to the file system. If another connection is using the log, a part of
    /// the space may be returned later.
    func removeAll() throws(SQLiteFailure) {
        try remove { () throws(SQLiteFailure) in
            let rows = try self.rows()
            try connection.execute("DELETE FROM content; DELETE FROM entry")
            try connection.execute("UPDATE total SET size = 0, count = 0, files = 0")
            return rows
        }
        try connection.execute("PRAGMA incremental_vacuum")
        try truncateLog()
    }

    /// Removes the expired entries among those that ``findExpired(after:limits:at:)`` searches, and returns them.
    func removeExpired(
        after id: Int64, limits: DataCacheLimits, at now: Timestamp
    ) throws(SQLiteFailure) -> [EntryRow] {
        try remove { () throws(SQLiteFailure) in
            var removed: [EntryRow] = []
            for id in try findExpired(after: id, limits: limits, at: now).ids {
                removed += try deleteRows("id = ?", [id])
            }
            return removed
        }
    }

    /// Performs one step of a trim: removes the least recently used entries until the goal is reached, but at most
    /// ``sliceCount`` entries. Returns the removed entries, and whether the trim is known to be complete.
    func trim(to goal: TrimGoal) throws(SQLiteFailure) -> (removals: [DataCacheItem], isDone: Bool) {
        var removals: [DataCacheItem] = []
        try remove { () throws(SQLiteFailure) in
            let victims = try self.victims(of: goal, count: Self.sliceCount)
            removals = victims.map { $0.row.item(removedFor: $0.reason) }
            let removed = try deleteRows(
                "id IN (SELECT id FROM entry ORDER BY recency, id LIMIT ?)", [victims.count])
            // When all rows are removed, totals that still count entries are damaged.
            if victims.count < Self.sliceCount, try integer("SELECT EXISTS (SELECT * FROM entry)") == 0 {
                try recount()
            }
            return removed
        }
        return (removals, removals.count < Self.sliceCount)
    }

    /// Removes the files of the entries that a trim would remove, and keeps their rows. Returns these entries.
    func removeFiles(beyond goal: TrimGoal) throws(SQLiteFailure) -> [DataCacheItem] {
        let victims = try self.victims(of: goal, count: -1)
        removeFiles(of: victims.map(\.row))
        return victims.map { $0.row.item(removedFor: $0.reason) }
    }

    /// Returns the least recently used entries that have to be removed to reach a goal, at most `count` unless it is
    /// -1.
    private func victims(
        of goal: TrimGoal, count: Int
    ) throws(SQLiteFailure) -> [(row: EntryRow, reason: EvictionReason)] {
        var totals = try self.totals()
        var victims: [(row: EntryRow, reason: EvictionReason)] = []
        guard goal.reason(for: totals) != nil else { return [] }
        for row in try rows(count: count) {
            guard let reason = goal.reason(for: totals) else { break }
            totals.remove(row)
            victims.append((row, reason))
        }
        return victims
    }

    /// Removes the files that belong to no entry and that no process is writing.
    func removeLeftovers() throws(SQLiteFailure) {
        let leftovers = try values.tokens().subtracting(try files())
        guard !leftovers.isEmpty else { return }
        // During a transaction, no other process has written a file whose row is not in the table yet.
        try connection.transaction { () throws(SQLiteFailure) in
            for file in leftovers.subtracting(try files()) { values.remove(file) }
        }
    }

    /// Writes the uses of entries in one transaction. A use of an entry that has changed since it was read is dropped:
    /// a new entry may have its row identifier, or another process may have written a use.
    func write(_ uses: [Int64: UseLog.Use]) throws(SQLiteFailure) {
        guard !uses.isEmpty else { return }
        try connection.transaction { () throws(SQLiteFailure) in
            for (id, use) in uses {
                try connection.run(
                    """
                    UPDATE entry SET recency = ?1, used = ?2, expiry = ?3, checksum = ?4 \
                    WHERE id = ?5 AND checksum = ?6 AND recency < ?1
                    """,
                    [
                        use.recency, use.times.used.milliseconds, use.times.expiry?.milliseconds,
                        use.checksum.value(with: use.times), id, use.read,
                    ])
            }
        }
    }

    /// Removes content rows without an entry, and recomputes the totals from the entries.
    func repair() throws(SQLiteFailure) {
        try connection.execute("DELETE FROM content WHERE id NOT IN (SELECT id FROM entry)")
        try recount()
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

    private func recount() throws(SQLiteFailure) {
        try connection.execute(
            """
            UPDATE total SET size = (SELECT coalesce(sum(min(max(size, 0), 1 << 50)), 0) FROM entry), \
            count = (SELECT count(*) FROM entry), \
            files = (SELECT coalesce(sum(min(max(blocks, 0), 1 << 50)), 0) FROM entry)
            """)
    }

    /// Runs `delete` in a transaction, and then removes the files of the entries that it returns.
    @discardableResult
    private func remove(_ delete: () throws(SQLiteFailure) -> [EntryRow]) throws(SQLiteFailure) -> [EntryRow] {
        let removed = try connection.transaction(delete)
        removeFiles(of: removed)
        return removed
    }

    /// Deletes the rows of the entries that meet a condition, inside a transaction.
    private func deleteRows(
        _ condition: String, _ parameters: [(any SQLValue)?]
    ) throws(SQLiteFailure) -> [EntryRow] {
        let deleted = try connection.rows(
            "DELETE FROM entry WHERE \(condition) RETURNING \(EntryRow.columns)", parameters
        ) { EntryRow($0) }
        guard !deleted.isEmpty else { return [] }
        for row in deleted { try connection.run("DELETE FROM content WHERE id = ?", [row.id]) }
        try addToTotals(
            size: -deleted.reduce(0) { $0 + $1.size }, count: -deleted.count,
            files: -deleted.reduce(0) { $0 + $1.fileSize })
        return deleted
    }

    private func addToTotals(size: Int, count: Int, files: Int) throws(SQLiteFailure) {
        try connection.run(
            """
            UPDATE total SET size = max(0, size + ?), count = max(0, count + ?), files = max(0, files + ?) \
            WHERE id = 1
            """, [size, count, files])
    }

    private func removeFiles(of rows: [EntryRow]) {
        for row in rows { if let file = row.file { values.remove(file) } }
    }
}
