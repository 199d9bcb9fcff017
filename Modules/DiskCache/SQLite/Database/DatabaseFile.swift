import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials

/// One connection to the database file of a cache, with what it is asked: opened when it is first needed, and again when
/// the file was removed or replaced. Blocks; not for two threads at once.
struct DatabaseFile<Queries> {
    /// What a connection may do about a file that is missing or damaged.
    enum Role {
        case reader
        /// Makes the file, and makes a damaged one anew.
        case writer
    }

    typealias Preparation = @Sendable (Connection) throws(SQLiteFailure) -> Queries

    private let directory: URL
    private let role: Role
    /// Longest wait for another process that writes.
    private let lockTimeout: Duration
    /// The first use of a connection.
    private let prepare: Preparation
    /// Told of each file that was removed because it was damaged, or none.
    private let onDamage: @Sendable () -> Void
    private var opened: (queries: Queries, identity: FileIdentity)?
    /// What SQLite keeps beside the file, and would go on with though nobody else could find it. Of a writer.
    private var companions: [(path: String, file: PinnedFile)] = []
    /// What was opened, where that must not change; nil where SQLite sees to changes.
    private var unchanged: FileState?
    /// The file that the last attempt to open found, whether or not it could be used.
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

    /// Runs `work` on the file; on no file, returns nil, when there is none yet and `makesFile` is false.
    ///
    /// A writer makes a damaged file anew, and the work then runs once more. Throws ``SQLiteFailure``.
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
        let identity = FileIdentity(path: path)
        if let opened, opened.identity == identity, isUnchanged(path) {
            guard companions.allSatisfy({ FileIdentity(path: $0.path) == $0.file.identity }) else {
                throw SQLiteFailure(.damaged, "somebody has taken the log of \(path)")
            }
            return opened.queries
        }
        // Someone removed or replaced the file: what would be written to the old one could never be found.
        (opened, unchanged, companions) = (nil, nil, [])
        guard makesFile || identity != nil else { return nil }
        if role == .writer { try makeDirectory() }
        let isReading = role == .reader && !isWritable
        let lock = try DirectoryLock(path: path + ".lock", timeout: lockTimeout, isReading: isReading)
        defer { extendLifetime(lock) }
        // Under the lock, so that what makes way is not another's new file.
        for suffix in ["", "-wal", "-shm"] where !isFileOrNothing(path + suffix) {
            guard role == .writer else { return nil }
            guard DirectoryRemoval.remove(path + suffix) else {
                throw SQLiteFailure(.notWritable, "\(path)\(suffix) is no file, and cannot be removed")
            }
            onDamage()
        }

        if isReading, !hasLog(path) { unchanged = FileState(path: path) }
        let access: Connection.Access =
            isReading ? unchanged == nil ? .reading : .readingUnchanged : role == .writer ? .making : .changing
        let connection = try Connection(path: path, busyTimeout: busyTimeout, access: access)
        tried = PinnedFile(path: path)
        // The first use of the connection, so that it opens its log under the lock too.
        let queries = try prepare(connection)
        guard let tried else { throw SQLiteFailure(.other, "the database file has been removed") }
        opened = (queries, tried.identity)
        guard role == .writer else { return queries }
        companions = ["-wal", "-shm"].compactMap { suffix in
            PinnedFile(path: path + suffix).map { (path + suffix, $0) }
        }
        return queries
    }

    /// Whether the directory can be written to: SQLite needs files of its own beside the database, even to read.
    private var isWritable: Bool { access(directory.path, W_OK | X_OK) == 0 }

    /// Whether the file's last changes are in a log.
    private func hasLog(_ path: String) -> Bool { FileState(path: path + "-wal").map { !$0.isEmpty } ?? false }

    /// Whether what is known of a file that must not change is still right.
    private func isUnchanged(_ path: String) -> Bool {
        unchanged.map { $0 == FileState(path: path) && !hasLog(path) } ?? true
    }

    /// In milliseconds.
    private var busyTimeout: Int32 { Int32(max(0, min(Double(Int32.max), lockTimeout / .milliseconds(1)))) }

    /// Removes the file, unless another process has already replaced it.
    private mutating func discard(isDamaged: Bool) throws(SQLiteFailure) {
        let path = try self.path
        (opened, unchanged, companions) = (nil, nil, [])
        let lock = try DirectoryLock(path: path + ".lock", timeout: lockTimeout)
        defer { extendLifetime(lock) }
        guard tried?.identity == FileIdentity(path: path) else { return }
        // At once, not when the last connection closes: the reason may be that the disk is full. Who still reads there
        // sees damage, and then the new file.
        for suffix in ["", "-wal"] { Self.empty(path + suffix) }
        for suffix in ["", "-wal", "-shm"] {
            guard DirectoryRemoval.remove(path + suffix) else {
                throw SQLiteFailure(systemError: errno, doing: "cannot remove the damaged \(path)\(suffix)")
            }
        }
        if isDamaged { onDamage() }
    }

    /// Gives back the space of a file that is ours alone. Links lead to what is not.
    private static func empty(_ path: String) {
        let file = AlcedoLibc.open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { AlcedoLibc.close(file) }
        var facts = stat()
        guard fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_nlink == 1 else { return }
        ftruncate(file, 0)
    }

    /// Whether nothing but a file stands at `path`: no link, folder or pipe.
    private func isFileOrNothing(_ path: String) -> Bool {
        var facts = stat()
        return lstat(path, &facts) != 0 || facts.st_mode & S_IFMT == S_IFREG
    }

    private var path: String {
        get throws(SQLiteFailure) {
            let path = directory.appending(path: "alcedo.sqlite").path
            guard directory.isFileURL, !path.utf8.contains(0) else {
                throw SQLiteFailure(.notWritable, "\(directory) does not name a directory")
            }
            return path
        }
    }

    private func makeDirectory() throws(SQLiteFailure) {
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        } catch let error as CocoaError where error.code == .fileWriteOutOfSpace {
            throw SQLiteFailure(.noSpace, "no space to make \(directory.path)")
        } catch {
            throw SQLiteFailure(.notWritable, "cannot make \(directory.path): \(error)")
        }
    }
}

/// Keeps other processes from opening or replacing the database file while this one does.
///
/// Held only for that, by a lock on a file beside it; the kernel frees it when the process dies.
private struct DirectoryLock: ~Copyable {
    /// Below nought where nothing is locked.
    private let file: Int32

    /// Waits at most `timeout` for another process. Blocks.
    ///
    /// - Parameter isReading: Whether nobody may write here: then a lock that is not there is not missed.
    init(path: String, timeout: Duration, isReading: Bool = false) throws(SQLiteFailure) {
        let opened = isReading ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : try Self.openFile(path)
        file = try Self.locked(opened, isReading ? LOCK_SH : LOCK_EX, timeout, path)
    }

    deinit { if file >= 0 { close(file) } }

    private static func openFile(_ path: String) throws(SQLiteFailure) -> Int32 {
        for isLast in [false, true] {
            let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            if file >= 0 { return file }
            // A link, a folder or a socket in its place.
            guard !isLast, [ELOOP, EISDIR, ENXIO].contains(errno) else { break }
            DirectoryRemoval.remove(path)
        }
        throw SQLiteFailure(systemError: errno, doing: "cannot open \(path)")
    }

    /// Locks a file if there is one.
    private static func locked(
        _ file: Int32, _ kind: Int32, _ timeout: Duration, _ path: String
    ) throws(SQLiteFailure) -> Int32 {
        guard file >= 0 else { return file }
        for _ in 0..<max(1, min(Int(Int32.max), timeout.milliseconds / 10)) {
            if flock(file, kind | LOCK_NB) == 0 { return file }
            guard errno == EWOULDBLOCK || errno == EINTR else { break }
            // The kernel can wait for a lock, but not for at most so long. The thread is the cache's own, which does
            // nothing else meanwhile.
            usleep(10_000)
        }
        let reason = errno
        close(file)
        throw SQLiteFailure(systemError: reason, doing: "cannot lock \(path)")
    }
}

/// Tells a file from another one that has taken its name.
private struct FileIdentity: Equatable {
    private let device: UInt64
    private let node: UInt64

    /// The file that has this name now; nil when there is none.
    init?(path: String) {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return nil }
        self.init(facts)
    }

    /// nil when the descriptor is none.
    init?(descriptor: Int32) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { return nil }
        self.init(facts)
    }

    private init(_ facts: stat) {
        device = UInt64(facts.st_dev)
        node = UInt64(facts.st_ino)
    }
}

/// Tells whether a file that nobody here may write to has been changed by somebody who may.
private struct FileState: Equatable {
    private let identity: FileIdentity
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    /// nil when there is no file of this name.
    init?(path: String) {
        var facts = stat()
        guard let identity = FileIdentity(path: path), lstat(path, &facts) == 0 else { return nil }
        self.identity = identity
        size = Int(facts.st_size)
        seconds = facts.st_mtim.tv_sec
        nanoseconds = facts.st_mtim.tv_nsec
    }

    var isEmpty: Bool { size == 0 }
}

/// Keeps a file that has no name any more from making room for another one of the same number, so that its identity
/// stays its own.
private final class PinnedFile {
    let identity: FileIdentity
    private let descriptor: Int32
    /// O_PATH, which is a macro of macros. Of Linux on the machines that Swift runs on.
    private static let onlyPath: Int32 = 0o10_000_000

    /// nil when there is no file of this name.
    init?(path: String) {
        // Only a path: closing any other descriptor of the file would take away the locks that SQLite has on it.
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
