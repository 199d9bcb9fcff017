import AlcedoCore
import AlcedoRuntime
private import CSQLite

/// One connection to a database file. Not for two threads at once.
final class Connection {
    private let handle: OpaquePointer

    /// What may be done with a file.
    enum Access {
        /// It is changed, and made when it is missing.
        case making
        case changing
        /// It is read where nobody may write, with the log that is there.
        case reading
        /// The same where there is no log, and none can be made. The file must not change meanwhile.
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
    ///   - path: Without a zero byte.
    ///   - busyTimeout: Longest wait for another process, in milliseconds.
    init(path: String, busyTimeout: Int32, access: Access = .making) throws(SQLiteFailure) {
        var opened: OpaquePointer?
        let place = access == .readingUnchanged ? Self.unchangedURI(path) : path
        // No mutex in SQLite, because one thread at a time uses the connection.
        let flags = access.flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let status = sqlite3_open_v2(place, &opened, flags, nil)
        guard let opened else { throw SQLiteFailure(status: status, message: "SQLite has no memory for a connection") }
        guard status == SQLITE_OK else {
            defer { sqlite3_close_v2(opened) }
            throw SQLiteFailure(status: status, of: opened)
        }
        handle = opened
        sqlite3_busy_timeout(opened, busyTimeout)
    }

    deinit { sqlite3_close_v2(handle) }

    /// How SQLite is told of a path that nothing below is written to or locked.
    private static func unchangedURI(_ path: String) -> String {
        let escaped = path.utf8.percentEncoded { $0.isUnreserved || $0 == UInt8(ascii: "/") }
        return "file:\(escaped)?immutable=1"
    }

    /// Runs statements that return nothing of interest.
    func execute(_ sql: StaticString) throws(SQLiteFailure) {
        try check(sqlite3_exec(handle, sql.description, nil, nil, nil))
    }

    /// Compiles one statement, to be run many times.
    func prepare(_ sql: String) throws(SQLiteFailure) -> Statement {
        var statement: OpaquePointer?
        try check(
            sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        guard let statement else { throw SQLiteFailure(.other, "the statement is empty") }
        return Statement(statement, owner: self)
    }

    /// Runs `work` so that all of its changes happen, or none.
    func transaction<ColumnValue>(_ work: () throws(SQLiteFailure) -> ColumnValue) throws(SQLiteFailure) -> ColumnValue
    {
        // Immediate: a transaction that begins by reading cannot wait for the write lock later.
        try execute("BEGIN IMMEDIATE")
        do {
            let value = try work()
            try execute("COMMIT")
            return value
        } catch {
            // Some failures have ended the transaction already; then there is nothing to roll back.
            if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
            throw error
        }
    }

    /// The identity of the row that was inserted last.
    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    private func check(_ status: Int32) throws(SQLiteFailure) { try SQLiteFailure.check(status, of: handle) }
}
