import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials

/// The database file of a cache, with at most one connection to it. It opens the file when necessary. All calls block.
/// Only one thread at a time may use it.
struct DatabaseFile {
    private struct Opened {
        let table: EntryTable
        let file: PinnedFile
        /// The log and the shared memory that SQLite keeps beside the database. If another process removed these files,
        /// SQLite would continue to use them, and other processes might not see its changes. Only a writer checks them.
        let companions: [PinnedFile]
        /// The state of a file that was opened with ``Connection/Access/readingUnchanged``; otherwise, nil. SQLite does
        /// not detect changes to such a file.
        let unchanged: FileState?
    }

    private let directory: URL
    private let values: ValueDirectory
    /// Whether the file may be created and removed.
    private let isWriter: Bool
    /// The maximum time of one wait for another connection.
    private let lockTimeout: Duration
    /// A closure that is called with the highest recency in a file that was opened.
    private let onOpen: @Sendable (Int64) -> Void
    /// A closure that is called after damage to the cache's files was removed.
    private let onDamage: @Sendable () -> Void
    private var opened: Opened?
    /// The file that was opened last, even if it turned out to be unusable.
    private var tried: PinnedFile?

    init(
        directory: URL, values: ValueDirectory, isWriter: Bool, lockTimeout: Duration,
        onOpen: @escaping @Sendable (Int64) -> Void = { _ in }, onDamage: @escaping @Sendable () -> Void = {}
    ) {
        self.directory = directory
        self.values = values
        self.isWriter = isWriter
        self.lockTimeout = lockTimeout
        self.onOpen = onOpen
        self.onDamage = onDamage
    }

    /// Runs `work` on the file. Returns nil if there is no file and `makesFile` is false. A reader also returns nil if
    /// anything other than a regular file is at the path of the database, of the log or of the shared memory.
    ///
    /// If the file is damaged or abandoned, a writer removes it and tries once more. Throws ``SQLiteFailure`` and the
    /// errors of `work`.
    mutating func perform<Value>(makesFile: Bool, _ work: (EntryTable) throws -> Value) throws -> Value? {
        do {
            return try open(makesFile: makesFile).map(work)
        } catch let failure as SQLiteFailure where failure.needsNewFile && isWriter {
            try discard(isDamaged: failure.kind == .damaged)
            return try open(makesFile: makesFile).map(work)
        }
    }

    /// Closes the file. The next work opens it again.
    mutating func close() { (opened, tried) = (nil, nil) }

    private mutating func open(makesFile: Bool) throws(SQLiteFailure) -> EntryTable? {
        let path = try self.path
        if let opened, opened.file.isAtPath, opened.unchanged.map({ $0 == FileState(path) && !hasLog(path) }) ?? true {
            guard opened.companions.allSatisfy(\.isAtPath) else {
                throw SQLiteFailure(
                    .damaged, "the write-ahead log or shared-memory file of \(path) was removed or replaced")
            }
            return opened.table
        }
        // A file that is still open here was removed, replaced or changed. It is closed, because changes to it would be
        // lost.
        opened = nil
        guard makesFile || FileIdentity(linkAt: path) != nil else { return nil }
        if isWriter { try makeDirectory() }
        // If the directory can be written to, SQLite may create files beside the database, even to read.
        let isReading = !isWriter && access(directory.path, W_OK | X_OK) != 0
        let lock = try self.lock(path + ".lock", isReading: isReading)
        defer { extendLifetime(lock) }
        // The removal happens under the lock, so that it does not remove a file that another connection has just
        // created.
        for suffix in ["", "-wal", "-shm"] where FileState(path + suffix)?.isRegular == false {
            guard isWriter else { return nil }
            guard DirectoryRemoval.remove(path + suffix) else {
                throw SQLiteFailure(.notWritable, "cannot remove \(path)\(suffix): it is not a regular file")
            }
            onDamage()
        }

        let unchanged = isReading && !hasLog(path) ? FileState(path) : nil
        let permitted: Connection.Access =
            isReading ? unchanged == nil ? .reading : .readingUnchanged : isWriter ? .making : .changing
        let busyTimeout = Int32(max(0, min(Double(Int32.max), lockTimeout / .milliseconds(1))))
        let connection = try Connection(path: path, busyTimeout: busyTimeout, access: permitted)
        tried = PinnedFile(path)
        // Preparing the connection opens the log, which must also happen under the lock.
        let table = try EntryTable(connection, values: values, isWriter: isWriter)
        onOpen(try table.lastRecency())
        guard let tried else { throw SQLiteFailure(.other, "the database file was removed while it was opened") }
        let companions = isWriter ? ["-wal", "-shm"].compactMap { PinnedFile(path + $0) } : []
        opened = Opened(table: table, file: tried, companions: companions, unchanged: unchanged)
        return table
    }

    /// Returns whether the database has a log that is not empty. Such a log may contain the last changes.
    private func hasLog(_ path: String) -> Bool { FileState(path + "-wal").map { $0.size > 0 } ?? false }

    /// Removes the file, unless it has already been removed or replaced.
    private mutating func discard(isDamaged: Bool) throws(SQLiteFailure) {
        let path = try self.path
        opened = nil
        let lock = try self.lock(path + ".lock")
        defer { extendLifetime(lock) }
        guard tried.map(\.isAtPath) ?? (FileIdentity(linkAt: path) == nil) else { return }
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
        guard let file = try? Descriptor(opening: path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK),
            let status = file.status, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1
        else { return }
        file.truncate(to: 0)
    }

    /// Takes the lock between connections, in any process, that open or replace the database file. Blocks while another
    /// connection has it.
    ///
    /// The lock is on a file beside the database. The kernel releases it if the process ends. If `isReading` is true
    /// and the file cannot be opened, because the directory is read-only, no lock is taken.
    private func lock(_ path: String, isReading: Bool = false) throws(SQLiteFailure) -> Descriptor? {
        let flags = (isReading ? O_RDONLY : O_RDWR | O_CREAT) | O_NOFOLLOW | O_NONBLOCK
        // Something other than a regular file, such as a symbolic link, may have the name of the lock file.
        if !isReading, FileState(path)?.isRegular == false { DirectoryRemoval.remove(path) }
        var reason: Int32
        do throws(SystemError) {
            let file = try Descriptor(opening: path, flags)
            // The thread belongs to the cache, so only other work of the cache waits for the lock.
            if file.lock(timeout: lockTimeout) { return file }
            reason = errno
        } catch {
            if isReading { return nil }
            reason = error.number
        }
        throw SQLiteFailure(systemError: reason, doing: "cannot lock \(path)")
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

/// The identity, kind, size and modification date of the file at a path, whose last component is not followed if it is
/// a link. If two states are equal, the file counts as unchanged between them.
private struct FileState: Equatable {
    private let identity: FileIdentity
    private let modified: [Int]
    let isRegular: Bool
    let size: Int

    /// Creates the state of a file. Returns nil if the file does not exist or cannot be accessed.
    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        identity = FileIdentity(status)
        modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        isRegular = status.st_mode & S_IFMT == S_IFREG
        size = Int(status.st_size)
    }
}

/// A file that is kept open so that its identity stays unique. While the file is open, the system does not reuse its
/// inode number, even after the file is removed.
private final class PinnedFile {
    private let path: String
    private let identity: FileIdentity
    // An ordinary descriptor would not do: closing it would release the locks that SQLite has on the file.
    private let file: Descriptor

    /// Opens the file at a path. Returns nil if that fails.
    init?(_ path: String) {
        guard let file = try? Descriptor(opening: path, Descriptor.identityOnly), let status = file.status else {
            return nil
        }
        self.path = path
        self.identity = FileIdentity(status)
        self.file = file
    }

    /// Whether the path still leads to the file.
    var isAtPath: Bool { FileIdentity(linkAt: path) == identity }
}
