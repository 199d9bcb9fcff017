import AlcedoCore
import FoundationEssentials

/// The entries in an open database: what is stored, what was used last, and how much it all is.
///
/// "Last used" is a counter in the table, not a time, so a clock that is set back or forward changes no order.
final class EntryTable {
    /// Bytes that an entry costs beside its data, metadata and key: the name twice, numbers, and pages half filled.
    static let overhead = 256

    private let connection: Connection
    private let find: Statement
    private let highestUse: Statement
    private let touch: Statement
    private let insertEntry: Statement
    private let insertContent: Statement
    private let findSize: Statement
    private let oldest: Statement
    private let deleteEntry: Statement
    private let deleteContent: Statement
    private let readTotal: Statement
    private let changeTotal: Statement

    init(_ connection: Connection) throws(SQLiteFailure) {
        self.connection = connection
        find = try connection.prepare(
            "SELECT id, used, checksum, metadata, data FROM entry JOIN content USING (id) WHERE name = ?")
        highestUse = try connection.prepare("SELECT max(used) FROM entry")
        touch = try connection.prepare("UPDATE entry SET used = ? WHERE id = ?")
        insertEntry = try connection.prepare("INSERT INTO entry (name, size, used, checksum) VALUES (?, ?, ?, ?)")
        insertContent = try connection.prepare("INSERT INTO content (id, key, metadata, data) VALUES (?, ?, ?, ?)")
        findSize = try connection.prepare("SELECT id, size FROM entry WHERE name = ?")
        oldest = try connection.prepare("SELECT id, size FROM entry WHERE id <> ? ORDER BY used LIMIT 1")
        deleteEntry = try connection.prepare("DELETE FROM entry WHERE id = ?")
        deleteContent = try connection.prepare("DELETE FROM content WHERE id = ?")
        readTotal = try connection.prepare("SELECT size FROM total WHERE id = 1")
        changeTotal = try connection.prepare("UPDATE total SET size = size + ? WHERE id = 1")
    }

    /// Bytes that an entry counts for.
    static func size(of entry: CachedData, for key: ImageKey) -> Int {
        entry.data.count + entry.metadata.count + key.description.utf8.count + overhead
    }

    /// Returns the entry, and marks it as the last used one. One that is damaged is removed and not returned.
    func entry(for key: ImageKey) throws(SQLiteFailure) -> CachedData? {
        let name = key.fileName
        let found = try find.firstRow(.text(name)) { row in
            (
                id: row.integer(0), used: row.integer(1), checksum: row.integer(2),
                entry: CachedData(row.bytes(4), metadata: row.bytes(3))
            )
        }
        guard let found else { return nil }
        guard found.checksum == Self.checksum(of: found.entry, for: key) else {
            _ = try remove(key)
            return nil
        }
        // Writing is for the order of eviction only: a file that cannot be written now still answers.
        if let highest = try? highestUse.firstRow(read: { $0.integer(0) }), found.used != highest {
            try? touch.run(.integer(highest &+ 1), .integer(found.id))
        }
        return found.entry
    }

    /// Stores the entry as the last used one; when there is then more than `limit`, removes the least recently used
    /// others until nine tenths of it are left. All of that happens, or nothing.
    func store(_ entry: CachedData, for key: ImageKey, limit: Int) throws(SQLiteFailure) {
        let name = key.fileName
        let size = Self.size(of: entry, for: key)
        let checksum = Self.checksum(of: entry, for: key)
        try connection.transaction { () throws(SQLiteFailure) in
            try removeEntry(named: name)
            let used = try highestUse.firstRow { $0.integer(0) } ?? 0
            try insertEntry.run(.text(name), .integer(Int64(size)), .integer(used &+ 1), .integer(checksum))
            let id = connection.lastInsertedRow
            try insertContent.run(
                .integer(id), .text(key.description), .bytes(entry.metadata), .bytes(entry.data))
            try changeTotal.run(.integer(Int64(size)))
            if try totalSize() > limit { try evict(to: limit - limit / 10, keeping: id, ofSize: size) }
        }
    }

    /// Removes the entry. Returns whether there was one.
    func remove(_ key: ImageKey) throws(SQLiteFailure) -> Bool {
        try connection.transaction { () throws(SQLiteFailure) in try removeEntry(named: key.fileName) }
    }

    /// Removes everything and gives the space back to the file system.
    func removeAll() throws(SQLiteFailure) {
        try connection.transaction { () throws(SQLiteFailure) in
            try connection.execute("DELETE FROM content")
            try connection.execute("DELETE FROM entry")
            try connection.execute("UPDATE total SET size = 0")
        }
        try connection.execute("PRAGMA incremental_vacuum")
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Bytes of all entries. O(1).
    func totalSize() throws(SQLiteFailure) -> Int {
        guard let size = try readTotal.firstRow(read: { $0.integer(0) }) else {
            throw SQLiteFailure(.damaged, "the database has lost its total")
        }
        return Int(size)
    }

    @discardableResult
    private func removeEntry(named name: String) throws(SQLiteFailure) -> Bool {
        guard let row = try findSize.firstRow(.text(name), read: { (id: $0.integer(0), size: $0.integer(1)) }) else {
            return false
        }
        try removeRow(row.id, size: row.size)
        return true
    }

    private func removeRow(_ id: Int64, size: Int64) throws(SQLiteFailure) {
        try deleteContent.run(.integer(id))
        try deleteEntry.run(.integer(id))
        // A damaged number must not end the process, and nothing smaller than the smallest has a negation.
        try changeTotal.run(.integer(size == .min ? .max : -size))
    }

    private func evict(to target: Int, keeping kept: Int64, ofSize size: Int) throws(SQLiteFailure) {
        while try totalSize() > target {
            let victim = try oldest.firstRow(.integer(kept)) { (id: $0.integer(0), size: $0.integer(1)) }
            guard let victim else {
                // Alone, so the total is known; a damaged one is set right.
                try changeTotal.run(.integer(Int64(size) &- Int64(try totalSize())))
                return
            }
            try removeRow(victim.id, size: victim.size)
        }
    }

    /// Covers the key too, so that a row under a wrong name is not believed.
    private static func checksum(of entry: CachedData, for key: ImageKey) -> Int64 {
        let keyHash = XXH64.hash(Data(key.description.utf8).bytes)
        let metadataHash = XXH64.hash(entry.metadata.bytes, seed: keyHash)
        return Int64(bitPattern: XXH64.hash(entry.data.bytes, seed: metadataHash))
    }
}
