import FoundationEssentials
import Glibc

/// The database file of a cache: opened when it is first needed, again when it was removed or replaced, and made anew
/// when it is damaged. Blocks; not for two threads at once.
struct CacheFile {
    /// Longest wait for another process that writes, in milliseconds.
    private static let busyTimeout: Int32 = 2_000

    private let directory: URL
    private var opened: (table: EntryTable, identity: FileIdentity)?
    /// The file that the last attempt to open found, whether or not it could be used.
    private var tried: FileIdentity?

    init(directory: URL) { self.directory = directory }

    /// Runs `work` on the entries; on no entries, returns nil, when there is no file yet and `makesFile` is false.
    ///
    /// A damaged file is made anew, and the work then runs once more. Throws ``SQLiteFailure``.
    mutating func perform<ColumnValue>(
        makesFile: Bool, _ work: (EntryTable) throws -> ColumnValue
    ) throws -> ColumnValue? {
        do {
            return try open(makesFile: makesFile).map(work)
        } catch let failure as SQLiteFailure where failure.kind == .damaged {
            try discard()
            return try open(makesFile: makesFile).map(work)
        }
    }

    /// Closes the file. The next work opens it again.
    mutating func close() { opened = nil }

    private mutating func open(makesFile: Bool) throws(SQLiteFailure) -> EntryTable? {
        let path = try self.path
        let identity = FileIdentity(path: path)
        if let opened, opened.identity == identity { return opened.table }
        // Someone removed or replaced the file: what would be written to the old one could never be found.
        opened = nil
        guard makesFile || identity != nil else { return nil }

        try makeDirectory()
        let lock = try DirectoryLock(path: path + ".lock")
        defer { extendLifetime(lock) }
        let connection = try Connection(path: path, busyTimeout: Self.busyTimeout)
        tried = FileIdentity(path: path)
        // The first use of the connection, so that it opens its log under the lock too.
        try Schema.configure(connection)
        try Schema.prepare(connection)
        let table = try EntryTable(connection)
        guard let tried else { throw SQLiteFailure(.other, "the database file has been removed") }
        opened = (table, tried)
        return table
    }

    /// Removes the file, unless another process has already replaced it.
    private mutating func discard() throws(SQLiteFailure) {
        let path = try self.path
        opened = nil
        let lock = try DirectoryLock(path: path + ".lock")
        defer { extendLifetime(lock) }
        guard tried == FileIdentity(path: path) else { return }
        for suffix in ["", "-wal", "-shm"] {
            guard unlink(path + suffix) == 0 || errno == ENOENT else {
                throw SQLiteFailure(systemError: errno, doing: "cannot remove the damaged \(path)\(suffix)")
            }
        }
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
