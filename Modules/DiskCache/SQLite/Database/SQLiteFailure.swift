import AlcedoCore
import AlcedoLibc
private import CSQLite

/// An error of SQLite, of the file system, or of a check by the cache.
struct SQLiteFailure: Error {
    /// The kind of an error, which decides how the cache reacts.
    enum Kind {
        /// The database is damaged or incomplete, or belongs to another program or version. It has to be replaced.
        case damaged
        /// The file is intact, but the cache cannot continue with it. It has to be replaced.
        case abandoned
        case noSpace
        case notWritable
        case tooLarge
        case other
    }

    var kind: Kind
    var message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// Creates an error from a result code of SQLite, and the `errno` that SQLite reports.
    init(status: Int32, systemError: Int32 = 0, message: String) {
        self.init(Self.kind(status: status, systemError: systemError), message)
    }

    /// Creates an error from a failed system call.
    init(systemError: Int32, doing action: String) {
        let kind = Self.kind(status: SQLITE_IOERR, systemError: systemError)
        self.init(kind, "\(action): \(String(cString: strerror(systemError)))")
    }

    /// Creates an error from a database's last call.
    init(status: Int32, of database: OpaquePointer) {
        self.init(
            status: status, systemError: sqlite3_system_errno(database),
            message: String(cString: sqlite3_errmsg(database)))
    }

    var needsNewFile: Bool { kind == .damaged || kind == .abandoned }

    /// The error that the cache throws for this one.
    var cacheError: DataCacheError {
        switch kind {
        case .noSpace: DataCacheError(.noSpace, message)
        case .notWritable: DataCacheError(.notWritable, message)
        case .tooLarge: DataCacheError(.tooLarge, message)
        case .damaged, .abandoned, .other: DataCacheError(.failed, message)
        }
    }

    private static func kind(status: Int32, systemError: Int32) -> Kind {
        // The low byte is the primary result code. The rest gives details.
        switch status & 0xFF {
        // A constraint fails only if the database is damaged.
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_CONSTRAINT: return .damaged
        case SQLITE_FULL: return .noSpace
        case SQLITE_TOOBIG: return .tooLarge
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: return .notWritable
        case SQLITE_CANTOPEN where systemError == 0: return .notWritable
        case SQLITE_IOERR, SQLITE_CANTOPEN: return kind(systemError: systemError)
        default: return .other
        }
    }

    private static func kind(systemError: Int32) -> Kind {
        switch systemError {
        case ENOSPC, EDQUOT, EFBIG: .noSpace
        case EACCES, EPERM, EROFS, ENOTDIR, EISDIR, ENOENT, ELOOP, ENAMETOOLONG: .notWritable
        default: .other
        }
    }
}
