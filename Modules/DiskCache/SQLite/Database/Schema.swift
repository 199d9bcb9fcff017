import AlcedoCore

/// The tables of the database.
///
/// The content of entries is in a separate table. So recording a use does not rewrite the content, and a trim chooses
/// entries from small rows. Another table keeps the totals, so that a store does not have to sum the sizes of all
/// entries.
enum Schema {
    /// The version of the layout. A file with another version is replaced.
    static let version: Int64 = 6

    /// Configures a new connection.
    ///
    /// Memory mapping is off, because another process that truncates a mapped file could end this process.
    ///
    /// Without durability, a store rarely waits for the disk (`synchronous = NORMAL`): a power failure may lose the
    /// last stores, but the database stays valid. To keep the database valid, SQLite waits for the log before it
    /// changes the database, usually once in a thousand pages. With `OFF`, it would not wait at all, and a power
    /// failure could destroy the whole cache. The time saved is not worth that risk.
    static func configure(
        _ connection: Connection, _ durability: Durability, isWriter: Bool
    ) throws(SQLiteFailure) {
        let role =
            isWriter
            ? """
            PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; \
            PRAGMA synchronous = \(durability == .none ? "NORMAL" : "FULL"); PRAGMA journal_size_limit = 4194304
            """ : "PRAGMA query_only = ON"
        try connection.execute(
            "\(role); PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF")
    }

    /// Checks that the file has these tables in this version. Creates the tables in an empty file if `makesTables` is
    /// true.
    ///
    /// - Throws: ``SQLiteFailure`` with the kind `damaged` if the tables or the version of the file differ from those
    ///   of this schema.
    static func prepare(_ connection: Connection, makesTables: Bool) throws(SQLiteFailure) {
        let found = try connection.firstRow("PRAGMA user_version") { $0.integer(0) }
        let tables = try connection.rows("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid") {
            $0.text(0)
        }
        if makesTables, found == 0, tables.isEmpty {
            try connection.transaction { () throws(SQLiteFailure) in
                for statement in statements { try connection.execute(statement) }
                try connection.execute("INSERT INTO total (id, size, count, files) VALUES (1, 0, 0, 0)")
                try connection.execute("PRAGMA user_version = \(version)")
            }
        } else if found != version || tables != statements {
            throw SQLiteFailure(.damaged, "the database schema belongs to another version or program")
        }
    }

    private static let statements = [
        // Dates are in milliseconds since 1970. `recency` is the order of use. `file` is the token of a large value's
        // file, and `blocks` is the number of bytes that the file occupies.
        """
        CREATE TABLE entry (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, resource INTEGER NOT NULL, \
        size INTEGER NOT NULL, recency INTEGER NOT NULL, stored INTEGER NOT NULL, used INTEGER NOT NULL, \
        expiry INTEGER, checksum INTEGER NOT NULL, length INTEGER NOT NULL, file INTEGER, \
        blocks INTEGER NOT NULL)
        """,
        "CREATE INDEX entry_recency ON entry (recency)",
        // An index of long URLs would be large, so it contains a hash of the resource.
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
