/// The tables of the database file.
///
/// The bytes stand in a table of their own, so that marking an entry as used rewrites a few dozen bytes and eviction
/// walks over small rows only. The total is kept, not summed.
enum Schema {
    /// Another number in the file means another layout; the file is then made anew.
    static let version: Int64 = 1

    /// Waits for no disk: after a power cut the last stores may be missing, but the file is whole. Memory-mapped
    /// reading is off, because a file that another process cuts short would end this one.
    static func configure(_ connection: Connection) throws(SQLiteFailure) {
        try connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        try connection.execute("PRAGMA journal_mode = WAL")
        try connection.execute("PRAGMA synchronous = NORMAL")
        try connection.execute("PRAGMA journal_size_limit = 4194304")
        try connection.execute("PRAGMA mmap_size = 0")
        try connection.execute("PRAGMA cell_size_check = ON")
        try connection.execute("PRAGMA trusted_schema = OFF")
    }

    /// Makes the tables in an empty file.
    ///
    /// - Throws: ``SQLiteFailure`` of the kind `damaged` when the file has other tables, or another version of these.
    static func prepare(_ connection: Connection) throws(SQLiteFailure) {
        let version = try connection.prepare("PRAGMA user_version").firstRow { $0.integer(0) }
        let found = try connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
            .rows { $0.text(0) }
        if version == 0, found.isEmpty {
            try connection.transaction { () throws(SQLiteFailure) in
                for statement in statements { try connection.execute(statement) }
                try connection.execute("INSERT INTO total (id, size) VALUES (1, 0)")
                try connection.execute("PRAGMA user_version = 1")
            }
        } else if version != Self.version || found != statements.map(\.description) {
            throw SQLiteFailure(.damaged, "the database file has the tables of another version or program")
        }
    }

    private static let statements: [StaticString] = [
        """
        CREATE TABLE entry (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, \
        used INTEGER NOT NULL, checksum INTEGER NOT NULL)
        """,
        "CREATE INDEX entry_used ON entry (used)",
        """
        CREATE TABLE content (id INTEGER PRIMARY KEY, key TEXT NOT NULL, metadata BLOB NOT NULL, data BLOB NOT NULL)
        """,
        "CREATE TABLE total (id INTEGER PRIMARY KEY, size INTEGER NOT NULL)",
    ]
}
