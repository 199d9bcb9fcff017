import AlcedoCore

/// The tables of the database file.
///
/// The bytes stand in a table of their own, so that marking an entry as used rewrites a few dozen bytes and eviction
/// walks over small rows only. The totals are kept, not summed.
enum Schema {
    /// Another number in the file means another layout; the file is then made anew.
    static let version: Int64 = 3

    /// For the connection that writes.
    ///
    /// Without durability a store waits for no disk: after a power cut the last ones may be missing, but the file is whole.
    /// For that the log is on the medium before the file is changed, which is waited for once in a thousand pages. Without
    /// that wait, too (OFF), a power cut could take the whole cache, which is no price for a file a store.
    static func configure(_ connection: Connection, _ durability: Durability = .none) throws(SQLiteFailure) {
        try connection.execute("PRAGMA page_size = 4096")
        try connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        try connection.execute("PRAGMA journal_mode = WAL")
        switch durability {
        case .none: try connection.execute("PRAGMA synchronous = NORMAL")
        case .entry, .directory: try connection.execute("PRAGMA synchronous = FULL")
        }
        try connection.execute("PRAGMA journal_size_limit = 4194304")
        try protect(connection)
    }

    /// For a connection that only reads.
    static func configureReader(_ connection: Connection) throws(SQLiteFailure) {
        try connection.execute("PRAGMA query_only = ON")
        try protect(connection)
    }

    /// Memory-mapped reading is off, because a file that another process cuts short would end this one.
    private static func protect(_ connection: Connection) throws(SQLiteFailure) {
        try connection.execute("PRAGMA mmap_size = 0")
        try connection.execute("PRAGMA cell_size_check = ON")
        try connection.execute("PRAGMA trusted_schema = OFF")
    }

    /// Makes the tables in an empty file.
    ///
    /// - Throws: ``SQLiteFailure`` of the kind `damaged` when the file has other tables, or another version of these.
    static func prepare(_ connection: Connection) throws(SQLiteFailure) {
        let found = try Found(connection)
        guard found.version == 0, found.tables.isEmpty else { return try check(found) }
        try connection.transaction { () throws(SQLiteFailure) in
            for statement in statements { try connection.execute(statement) }
            try connection.execute("INSERT INTO total (id, size, count, files) VALUES (1, 0, 0, 0)")
            try connection.prepare("PRAGMA user_version = \(version)").run()
        }
    }

    /// - Throws: ``SQLiteFailure`` of the kind `damaged` when the file has not these tables.
    static func check(_ connection: Connection) throws(SQLiteFailure) { try check(Found(connection)) }

    private struct Found {
        let version: Int64?
        let tables: [String]

        init(_ connection: Connection) throws(SQLiteFailure) {
            version = try connection.prepare("PRAGMA user_version").firstRow { $0.integer(0) }
            tables = try connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
                .rows { $0.text(0) }
        }
    }

    private static func check(_ found: Found) throws(SQLiteFailure) {
        guard found.version == version, found.tables == statements.map(\.description) else {
            throw SQLiteFailure(.damaged, "the database file has the tables of another version or program")
        }
    }

    private static let statements: [StaticString] = [
        // Dates in milliseconds since 1970; recency is the order of use; file tells a large value's file from others, and
        // blocks are the bytes that it occupies.
        """
        CREATE TABLE entry (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, resource INTEGER NOT NULL, \
        size INTEGER NOT NULL, recency INTEGER NOT NULL, stored INTEGER NOT NULL, used INTEGER NOT NULL, \
        expiry INTEGER, checksum INTEGER NOT NULL, length INTEGER NOT NULL, file INTEGER, \
        blocks INTEGER NOT NULL)
        """,
        "CREATE INDEX entry_recency ON entry (recency)",
        // By a hash of its text: an index of long URLs would be as large as the table.
        "CREATE INDEX entry_resource ON entry (resource)",
        """
        CREATE TABLE content (id INTEGER PRIMARY KEY, resource TEXT NOT NULL, variant TEXT NOT NULL, \
        metadata BLOB NOT NULL, data BLOB NOT NULL)
        """,
        """
        CREATE TABLE total (id INTEGER PRIMARY KEY, size INTEGER NOT NULL, count INTEGER NOT NULL, \
        files INTEGER NOT NULL)
        """,
    ]
}
