import AlcedoCore
import AlcedoRuntime
private import CSQLite

/// A connection to a database file. Only one thread at a time may use it.
final class Connection {
    private let handle: OpaquePointer

    /// The permitted access to the file.
    enum Access {
        /// Reads and writes; creates a missing file.
        case making
        /// Reads and writes an existing file.
        case changing
        /// Reads from a directory that cannot be written to. Uses the existing log.
        case reading
        /// Reads from a directory that cannot be written to. Uses no log. The file must not change while it is open.
        case readingUnchanged

        fileprivate var flags: Int32 {
            switch self {
            case .making: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .changing: SQLITE_OPEN_READWRITE
            case .reading: SQLITE_OPEN_READONLY
            case .readingUnchanged: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            }
        }
    }

    /// Opens the file.
    ///
    /// - Parameters:
    ///   - path: The path of the file. The path must not contain a zero byte.
    ///   - busyTimeout: The maximum time to wait for another connection, in milliseconds.
    ///   - access: The permitted access. The default creates a missing file.
    init(path: String, busyTimeout: Int32, access: Access = .making) throws(SQLiteFailure) {
        var opened: OpaquePointer?
        let location = access == .readingUnchanged ? Self.unchangedURI(path) : path
        // SQLite needs no mutex, because one thread at a time uses the connection.
        let flags = access.flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let status = sqlite3_open_v2(location, &opened, flags, nil)
        guard let opened else {
            throw SQLiteFailure(status: status, message: "cannot open a connection: out of memory")
        }
        guard status == SQLITE_OK else {
            defer { sqlite3_close_v2(opened) }
            throw SQLiteFailure(status: status, of: opened)
        }
        handle = opened
        sqlite3_busy_timeout(opened, busyTimeout)
    }

    deinit { sqlite3_close_v2(handle) }

    /// Returns the URI by which SQLite opens a file without locking it or creating files beside it.
    private static func unchangedURI(_ path: String) -> String {
        let escaped = path.utf8.percentEncoded { $0.isUnreserved || $0 == UInt8(ascii: "/") }
        return "file:\(escaped)?immutable=1"
    }

    /// Runs statements whose results are not needed.
    func execute(_ sql: StaticString) throws(SQLiteFailure) {
        try check(sqlite3_exec(handle, sql.description, nil, nil, nil))
    }

    /// Compiles a statement, which can run many times.
    func prepare(_ sql: String) throws(SQLiteFailure) -> Statement {
        var statement: OpaquePointer?
        try check(
            sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        guard let statement else { throw SQLiteFailure(.other, "the SQL statement is empty") }
        return Statement(statement, owner: self)
    }

    /// Runs `work` in a transaction: all of its changes happen, or none.
    func transaction<ColumnValue>(_ work: () throws(SQLiteFailure) -> ColumnValue) throws(SQLiteFailure) -> ColumnValue
    {
        // The transaction takes the write lock at its start, because a transaction that begins with a read cannot wait
        // for the write lock later.
        try execute("BEGIN IMMEDIATE")
        do {
            let value = try work()
            try execute("COMMIT")
            return value
        } catch {
            // Some failures have already ended the transaction, which then needs no rollback.
            if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
            throw error
        }
    }

    /// The row identifier of the last inserted row.
    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    private func check(_ status: Int32) throws(SQLiteFailure) { try SQLiteFailure.check(status, of: handle) }
}
