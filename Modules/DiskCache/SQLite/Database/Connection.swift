import AlcedoCore
import AlcedoRuntime
private import CSQLite
import FoundationEssentials

/// A connection to a database file, with its compiled statements. Only one thread at a time may use it.
final class Connection {
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

    /// The current row of a statement. Valid only during the call of the closure that receives it.
    struct Row {
        fileprivate let handle: OpaquePointer

        func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

        /// Returns an integer, or nil for NULL.
        func optionalInteger(_ column: Int32) -> Int64? {
            sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : integer(column)
        }

        func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

        /// Returns a copy of the bytes, which is empty for NULL.
        func bytes(_ column: Int32) -> Data {
            // The order matters: `sqlite3_column_blob` may convert the value and change its length.
            guard let start = sqlite3_column_blob(handle, column) else { return Data() }
            return Data(bytes: start, count: Int(sqlite3_column_bytes(handle, column)))
        }
    }

    private let handle: OpaquePointer
    /// The statements by their text. Each is compiled when it is first needed.
    private var statements: [String: OpaquePointer] = [:]

    /// Opens the file at a path, which must not contain a zero byte. Operations wait at most `busyTimeout` milliseconds
    /// for another connection.
    init(path: String, busyTimeout: Int32, access: Access = .making) throws(SQLiteFailure) {
        var opened: OpaquePointer?
        var location = path
        if access == .readingUnchanged {
            let escaped = path.utf8.percentEncoded { $0.isUnreserved || $0 == UInt8(ascii: "/") }
            location = "file:\(escaped)?immutable=1"
        }
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

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// Runs statements whose results are not needed, without keeping them compiled.
    func execute(_ sql: String) throws(SQLiteFailure) { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

    /// Runs a statement to its end.
    func run(_ sql: String, _ values: [(any SQLValue)?] = []) throws(SQLiteFailure) {
        _ = try rows(sql, values) { _ in }
    }

    /// Runs a statement, and returns the result of `read` for its first row, or nil if there is no row.
    func firstRow<Result>(
        _ sql: String, _ values: [(any SQLValue)?] = [], read: (Row) throws(SQLiteFailure) -> Result
    ) throws(SQLiteFailure) -> Result? {
        try rows(sql, values, limit: 1, read: read).first
    }

    /// Runs a statement with the values of its parameters. Returns the results of `read` for its first `limit` rows.
    func rows<Result>(
        _ sql: String, _ values: [(any SQLValue)?] = [], limit: Int = .max,
        read: (Row) throws(SQLiteFailure) -> Result
    ) throws(SQLiteFailure) -> [Result] {
        let statement = try statement(sql)
        defer {
            sqlite3_reset(statement)
            // This releases SQLite's copies of the values, and sets all parameters to NULL.
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() { try check(bind(value, to: statement, at: Int32(index + 1))) }
        var results: [Result] = []
        while results.count < limit {
            let status = sqlite3_step(statement)
            try check(status)
            guard status == SQLITE_ROW else { break }
            results.append(try read(Row(handle: statement)))
            // If memory is exhausted, SQLite returns empty bytes.
            if sqlite3_errcode(handle) & 0xFF == SQLITE_NOMEM { try check(SQLITE_NOMEM) }
        }
        return results
    }

    /// Runs `work` in a transaction: all of its changes happen, or none.
    func transaction<Result>(_ work: () throws(SQLiteFailure) -> Result) throws(SQLiteFailure) -> Result {
        // The transaction takes the write lock at its start, because a transaction that begins with a read cannot wait
        // for the write lock later.
        try run("BEGIN IMMEDIATE")
        do {
            let result = try work()
            try run("COMMIT")
            return result
        } catch {
            // Some failures have already ended the transaction, which then needs no rollback.
            if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
            throw error
        }
    }

    /// The row identifier of the last inserted row.
    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    private func statement(_ sql: String) throws(SQLiteFailure) -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        var compiled: OpaquePointer?
        try check(sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &compiled, nil))
        guard let compiled else { throw SQLiteFailure(.other, "the SQL statement is empty") }
        statements[sql] = compiled
        return compiled
    }

    private func bind(_ value: (any SQLValue)?, to statement: OpaquePointer, at index: Int32) -> Int32 {
        // SQLITE_TRANSIENT, a macro with a cast, which Swift does not import. It makes SQLite copy the bytes.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case let value as Int: return sqlite3_bind_int64(statement, index, Int64(value))
        case let value as Int64: return sqlite3_bind_int64(statement, index, value)
        case var value as String:
            return value.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    sqlite3_bind_text64(
                        statement, index, $0.baseAddress, UInt64($0.count), copied, UInt8(SQLITE_UTF8))
                }
            }
        // A null pointer would bind NULL instead of an empty blob.
        case let value as Data where value.isEmpty: return sqlite3_bind_zeroblob(statement, index, 0)
        case let value as Data:
            return value.withUnsafeBytes {
                sqlite3_bind_blob64(statement, index, $0.baseAddress, UInt64($0.count), copied)
            }
        default: return sqlite3_bind_null(statement, index)
        }
    }

    private func check(_ status: Int32) throws(SQLiteFailure) {
        guard status != SQLITE_OK, status != SQLITE_ROW, status != SQLITE_DONE else { return }
        throw SQLiteFailure(status: status, of: handle)
    }
}

/// A value for a parameter of a statement: `Int`, `Int64`, `String` or `Data`.
protocol SQLValue {}

extension Int: SQLValue {}
extension Int64: SQLValue {}
extension String: SQLValue {}
extension Data: SQLValue {}
