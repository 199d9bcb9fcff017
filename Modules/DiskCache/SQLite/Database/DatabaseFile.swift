import AlcedoCore
import AlcedoLibc
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
    private let lockPatience: Duration
    /// The first use of a connection.
    private let prepare: Preparation
    /// Told of each file that was removed because it was damaged, or none.
    private let noteDamage: @Sendable () -> Void
    private var opened: (queries: Queries, identity: FileIdentity)?
    /// What SQLite keeps beside the file, and would go on with though nobody else could find it. Of a writer.
    private var companions: [(path: String, file: HeldFile)] = []
    /// What was opened, where that must not change; nil where SQLite sees to changes.
    private var unchanged: FileState?
    /// The file that the last attempt to open found, whether or not it could be used.
    private var tried: HeldFile?

    init(
        directory: URL, role: Role, lockPatience: Duration, noteDamage: @escaping @Sendable () -> Void = {},
        prepare: @escaping Preparation
    ) {
        self.directory = directory
        self.noteDamage = noteDamage
        self.role = role
        self.lockPatience = lockPatience
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
        let lock = try DirectoryLock(path: path + ".lock", patience: lockPatience, isReading: isReading)
        defer { extendLifetime(lock) }
        // Under the lock, so that what makes way is not another's new file.
        for suffix in ["", "-wal", "-shm"] where !isFileOrNothing(path + suffix) {
            guard role == .writer else { return nil }
            guard FolderRemoval.remove(path + suffix) else {
                throw SQLiteFailure(.notWritable, "\(path)\(suffix) is no file, and cannot be removed")
            }
            noteDamage()
        }

        if isReading, !hasLog(path) { unchanged = FileState(path: path) }
        let access: Connection.Access =
            isReading ? unchanged == nil ? .reading : .readingUnchanged : role == .writer ? .making : .changing
        let connection = try Connection(path: path, busyTimeout: busyTimeout, access: access)
        tried = HeldFile(path: path)
        // The first use of the connection, so that it opens its log under the lock too.
        let queries = try prepare(connection)
        guard let tried else { throw SQLiteFailure(.other, "the database file has been removed") }
        opened = (queries, tried.identity)
        guard role == .writer else { return queries }
        companions = ["-wal", "-shm"].compactMap { suffix in
            HeldFile(path: path + suffix).map { (path + suffix, $0) }
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
    private var busyTimeout: Int32 { Int32(max(0, min(Double(Int32.max), lockPatience / .milliseconds(1)))) }

    /// Removes the file, unless another process has already replaced it.
    private mutating func discard(isDamaged: Bool) throws(SQLiteFailure) {
        let path = try self.path
        (opened, unchanged, companions) = (nil, nil, [])
        let lock = try DirectoryLock(path: path + ".lock", patience: lockPatience)
        defer { extendLifetime(lock) }
        guard tried?.identity == FileIdentity(path: path) else { return }
        // At once, not when the last connection closes: the reason may be that the disk is full. Who still reads there
        // sees damage, and then the new file.
        for suffix in ["", "-wal"] { Self.empty(path + suffix) }
        for suffix in ["", "-wal", "-shm"] {
            guard FolderRemoval.remove(path + suffix) else {
                throw SQLiteFailure(systemError: errno, doing: "cannot remove the damaged \(path)\(suffix)")
            }
        }
        if isDamaged { noteDamage() }
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
