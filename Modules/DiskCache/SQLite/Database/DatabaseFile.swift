import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials

/// A connection to the database file of a cache, with its prepared statements. It opens the file when necessary. All
/// calls block. Only one thread at a time may use the connection.
struct DatabaseFile<Queries> {
    /// The role of a connection, which determines whether it may create and remove the file.
    enum Role {
        case reader
        /// Creates a missing file on request, and removes a file that has to be replaced.
        case writer
    }

    typealias Preparation = @Sendable (Connection) throws(SQLiteFailure) -> Queries

    private let directory: URL
    private let role: Role
    /// The maximum time of one wait for another connection.
    private let lockTimeout: Duration
    /// A closure that prepares a new connection for use.
    private let prepare: Preparation
    /// A closure that is called after damage to the cache's files was removed.
    private let onDamage: @Sendable () -> Void
    private var opened: (queries: Queries, identity: FileIdentity)?
    /// The log and the shared memory that SQLite keeps beside the database. If another process removed these files,
    /// SQLite would continue to use them, and other processes might not see its changes. Only a writer checks them.
    private var companions: [(path: String, file: PinnedFile)] = []
    /// The state of a file that was opened with ``Connection/Access/readingUnchanged``; otherwise, nil. SQLite does not
    /// detect changes to such a file.
    private var unchanged: FileState?
    /// The file that was opened last, even if it turned out to be unusable.
    private var tried: PinnedFile?

    init(
        directory: URL, role: Role, lockTimeout: Duration, onDamage: @escaping @Sendable () -> Void = {},
        prepare: @escaping Preparation
    ) {
        self.directory = directory
        self.onDamage = onDamage
        self.role = role
        self.lockTimeout = lockTimeout
        self.prepare = prepare
    }

    /// Runs `work` on the file. Returns nil if there is no file and `makesFile` is false. A reader also returns nil if
    /// anything other than a regular file is at the path of the database, of the log or of the shared memory.
    ///
    /// If the file is damaged or abandoned, a writer removes it and tries once more. Throws ``SQLiteFailure`` and the
    /// errors of `work`.
    mutating func perform<Value>(makesFile: Bool, _ work: (Queries) throws -> Value) throws -> Value? {
        do {
            return try open(makesFile: makesFile).map(work)
        } catch let failure as SQLiteFailure where failure.needsNewFile && role == .writer {
            try discard(isDamaged: failure.kind == .damaged)
            return try open(makesFile: makesFile).map(work)
        }
    }

    /// Closes the file. The next work opens it again.
    mutating func close() { (opened, unchanged, tried, companions) = (nil, nil, nil, []) }

    private mutating func open(makesFile: Bool) throws(SQLiteFailure) -> Queries? {
        let path = try self.path
        let identity = FileIdentity(linkAt: path)
        if let opened, opened.identity == identity, isUnchanged(path) {
            guard companions.allSatisfy({ FileIdentity(linkAt: $0.path) == $0.file.identity }) else {
                throw SQLiteFailure(
                    .damaged, "the write-ahead log or shared-memory file of \(path) was removed or replaced")
            }
            return opened.queries
        }
        // A file that is still open here was removed, replaced or changed. It is closed, because changes to it would be
        // lost.
        (opened, unchanged, companions) = (nil, nil, [])
        guard makesFile || identity != nil else { return nil }
        if role == .writer { try makeDirectory() }
        let isReading = role == .reader && !isWritable
        let lock = try DirectoryLock(path: path + ".lock", timeout: lockTimeout, isReading: isReading)
        defer { extendLifetime(lock) }
        // The removal happens under the lock, so that it does not remove a file that another connection has just
        // created.
        for suffix in ["", "-wal", "-shm"] where !isFileOrNothing(path + suffix) {
            guard role == .writer else { return nil }
            guard DirectoryRemoval.remove(path + suffix) else {
                throw SQLiteFailure(.notWritable, "cannot remove \(path)\(suffix): it is not a regular file")
            }
            onDamage()
        }

        if isReading, !hasLog(path) { unchanged = FileState(path: path) }
        let access: Connection.Access =
            isReading ? unchanged == nil ? .reading : .readingUnchanged : role == .writer ? .making : .changing
        let connection = try Connection(path: path, busyTimeout: busyTimeout, access: access)
        tried = PinnedFile(path: path)
        // Preparing the statements opens the log, which must also happen under the lock.
        let queries = try prepare(connection)
        guard let tried else { throw SQLiteFailure(.other, "the database file was removed while it was opened") }
        opened = (queries, tried.identity)
        guard role == .writer else { return queries }
        companions = ["-wal", "-shm"].compactMap { suffix in
            PinnedFile(path: path + suffix).map { (path + suffix, $0) }
        }
        return queries
    }

    /// Whether the directory can be written to. If it can, SQLite may create files beside the database, even to read.
    private var isWritable: Bool { access(directory.path, W_OK | X_OK) == 0 }

    /// Returns whether the database has a log that is not empty. Such a log may contain the last changes.
    private func hasLog(_ path: String) -> Bool { FileState(path: path + "-wal").map { !$0.isEmpty } ?? false }

    /// Returns whether the opened file can still be used. If SQLite does not detect changes to the file, returns false
    /// after the file has changed or has received a log that is not empty.
    private func isUnchanged(_ path: String) -> Bool {
        unchanged.map { $0 == FileState(path: path) && !hasLog(path) } ?? true
    }

    /// The maximum time to wait for another connection, in milliseconds.
    private var busyTimeout: Int32 { Int32(max(0, min(Double(Int32.max), lockTimeout / .milliseconds(1)))) }

    /// Removes the file, unless it has already been removed or replaced.
    private mutating func discard(isDamaged: Bool) throws(SQLiteFailure) {
        let path = try self.path
        (opened, unchanged, companions) = (nil, nil, [])
        let lock = try DirectoryLock(path: path + ".lock", timeout: lockTimeout)
        defer { extendLifetime(lock) }
        guard tried?.identity == FileIdentity(linkAt: path) else { return }
        // The space is freed at once, not when the last connection closes, because the disk may be full. Connections
        // that still read the old file may find it damaged. Their next work opens the new one.
        for suffix in ["", "-wal"] { Self.empty(path + suffix) }
        for suffix in ["", "-wal", "-shm"] {
            guard DirectoryRemoval.remove(path + suffix) else {
                throw SQLiteFailure(systemError: errno, doing: "cannot remove the damaged \(path)\(suffix)")
            }
        }
        if isDamaged { onDamage() }
    }

    /// Frees the space of a regular file that has no other hard links. Does not follow symbolic links, because their
    /// targets do not belong to the cache.
    private static func empty(_ path: String) {
        let file = AlcedoLibc.open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { AlcedoLibc.close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else { return }
        ftruncate(file, 0)
    }

    /// Returns false if `path` is a symbolic link, a directory, a pipe or anything else that is not a regular file.
    private func isFileOrNothing(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }

    private var path: String {
        get throws(SQLiteFailure) {
            let path = directory.appending(path: "alcedo.sqlite").path
            guard directory.isFileURL, !path.utf8.contains(0) else {
                throw SQLiteFailure(.notWritable, "not a file URL of a directory: \(directory)")
            }
            return path
        }
    }

    private func makeDirectory() throws(SQLiteFailure) {
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        } catch let error as CocoaError where error.code == .fileWriteOutOfSpace {
            throw SQLiteFailure(.noSpace, "cannot create \(directory.path): no space left")
        } catch {
            throw SQLiteFailure(.notWritable, "cannot create \(directory.path): \(error)")
        }
    }
}

/// A lock between connections, in any process, that open or replace the database file.
///
/// The lock is on a file beside the database. The kernel releases it if the process ends.
private struct DirectoryLock: ~Copyable {
    /// The descriptor of the locked file, or a negative number if there is no lock.
    private let file: Int32

    /// Takes the lock. Blocks while another connection has it.
    ///
    /// - Parameters:
    ///   - path: The path of the lock file.
    ///   - timeout: The approximate maximum time to wait, which is at least 10 ms.
    ///   - isReading: Whether the directory is read-only. If true, the lock is shared, and if the lock file cannot be
    ///     opened, no lock is taken. The default is false.
    init(path: String, timeout: Duration, isReading: Bool = false) throws(SQLiteFailure) {
        let opened = isReading ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : try Self.openFile(path)
        file = try Self.locked(opened, isReading ? LOCK_SH : LOCK_EX, timeout, path)
    }

    deinit { if file >= 0 { close(file) } }

    private static func openFile(_ path: String) throws(SQLiteFailure) -> Int32 {
        for isLast in [false, true] {
            let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            if file >= 0 { return file }
            // Something other than a regular file, such as a symbolic link, has the name of the lock file.
            guard !isLast, [ELOOP, EISDIR, ENXIO].contains(errno) else { break }
            DirectoryRemoval.remove(path)
        }
        throw SQLiteFailure(systemError: errno, doing: "cannot open \(path)")
    }

    /// Locks a file. Returns its descriptor. A negative descriptor is returned unchanged.
    private static func locked(
        _ file: Int32, _ kind: Int32, _ timeout: Duration, _ path: String
    ) throws(SQLiteFailure) -> Int32 {
        guard file >= 0 else { return file }
        for _ in 0..<max(1, min(Int(Int32.max), timeout.milliseconds / 10)) {
            if flock(file, kind | LOCK_NB) == 0 { return file }
            guard errno == EWOULDBLOCK || errno == EINTR else { break }
            // `flock` has no timeout, so the lock is polled. The thread belongs to the cache, so only other work of the
            // cache waits for it.
            usleep(10_000)
        }
        let reason = errno
        close(file)
        throw SQLiteFailure(systemError: reason, doing: "cannot lock \(path)")
    }
}

/// The identity, size and modification date of a file. If two states are equal, the file counts as unchanged between
/// them.
private struct FileState: Equatable {
    private let identity: FileIdentity
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    /// Creates the state of the file at a path. Returns nil if the file does not exist or cannot be accessed.
    init?(path: String) {
        var status = stat()
        guard let identity = FileIdentity(linkAt: path), lstat(path, &status) == 0 else { return nil }
        self.identity = identity
        size = Int(status.st_size)
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }

    var isEmpty: Bool { size == 0 }
}

/// A file that is kept open so that its identity stays unique. While the file is open, the system does not reuse its
/// inode number, even after the file is removed.
private final class PinnedFile {
    let identity: FileIdentity
    private let descriptor: Int32
    /// The value of O_PATH, a macro that Swift does not import. The value is that of Linux on the architectures that
    /// Swift supports.
    private static let onlyPath: Int32 = 0o10_000_000

    /// Opens the file at a path. Returns nil if that fails.
    init?(path: String) {
        // O_PATH is necessary: closing an ordinary descriptor of the file would release the locks that SQLite has on
        // it.
        let opened = open(path, Self.onlyPath | O_CLOEXEC)
        guard opened >= 0 else { return nil }
        guard let identity = FileIdentity(descriptor: opened) else {
            close(opened)
            return nil
        }
        descriptor = opened
        self.identity = identity
    }

    deinit { close(descriptor) }
}
