private import CSQLite
import FoundationEssentials

/// A compiled statement. Each run binds values to its parameters.
final class Statement {
    /// A value for a parameter of the statement.
    enum ColumnValue {
        case null
        case integer(Int64)
        case text(String)
        case bytes(Data)

        static func optional(_ number: Int64?) -> Self { number.map(Self.integer) ?? .null }
    }

    /// The current row of the statement. Valid only during the call of the closure that receives it.
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
    private let owner: AnyObject

    /// Creates a statement.
    ///
    /// - Parameters:
    ///   - handle: The compiled statement. It is finalized when this object is released.
    ///   - owner: The connection. This reference keeps the connection open until the statement is finalized.
    init(_ handle: OpaquePointer, owner: AnyObject) {
        self.handle = handle
        self.owner = owner
    }

    deinit { sqlite3_finalize(handle) }

    /// Runs the statement to its end.
    func run(_ values: ColumnValue...) throws(SQLiteFailure) {
        defer { reset() }
        try bind(values)
        while try step() {}
    }

    /// Runs the statement, and returns the result of `read` for its first row, or nil if there is no row.
    func firstRow<Result>(_ values: ColumnValue..., read: (Row) -> Result) throws(SQLiteFailure) -> Result? {
        defer { reset() }
        try bind(values)
        return try step() ? readRow(read) : nil
    }

    /// Runs the statement, and returns the results of `read` for all rows.
    func rows<Result>(_ values: ColumnValue..., read: (Row) -> Result) throws(SQLiteFailure) -> [Result] {
        defer { reset() }
        try bind(values)
        var results: [Result] = []
        while try step() { results.append(try readRow(read)) }
        return results
    }

    private func readRow<Result>(_ read: (Row) -> Result) throws(SQLiteFailure) -> Result {
        let result = read(Row(handle: handle))
        // If memory is exhausted, SQLite returns empty bytes.
        guard let database = sqlite3_db_handle(handle), sqlite3_errcode(database) & 0xFF == SQLITE_NOMEM else {
            return result
        }
        throw SQLiteFailure(status: SQLITE_NOMEM, of: database)
    }

    private func step() throws(SQLiteFailure) -> Bool {
        let status = sqlite3_step(handle)
        try check(status)
        return status == SQLITE_ROW
    }

    private func reset() {
        sqlite3_reset(handle)
        // This releases SQLite's copies of the values.
        sqlite3_clear_bindings(handle)
    }

    private func bind(_ values: [ColumnValue]) throws(SQLiteFailure) {
        for (index, value) in values.enumerated() {
            try check(bind(value, at: Int32(index + 1)))
        }
    }

    private func check(_ status: Int32) throws(SQLiteFailure) {
        guard let database = sqlite3_db_handle(handle) else { return }
        try SQLiteFailure.check(status, of: database)
    }

    private func bind(_ value: ColumnValue, at index: Int32) -> Int32 {
        // SQLITE_TRANSIENT is a macro with a cast, which Swift does not import. It makes SQLite copy the bytes before
        // the call returns.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .null:
            return sqlite3_bind_null(handle, index)
        case .integer(let number):
            return sqlite3_bind_int64(handle, index, number)
        case .text(let text):
            var text = text
            return text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    sqlite3_bind_text64(handle, index, $0.baseAddress, UInt64($0.count), copied, UInt8(SQLITE_UTF8))
                }
            }
        case .bytes(let data):
            return data.withUnsafeBytes { bytes in
                // A null pointer would bind NULL instead of an empty blob.
                guard let start = bytes.baseAddress, !bytes.isEmpty else {
                    return sqlite3_bind_zeroblob(handle, index, 0)
                }
                return sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), copied)
            }
        }
    }
}
