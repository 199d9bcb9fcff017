import AlcedoCore
import AlcedoLibc

/// Keeps other processes from opening or replacing the database file while this one does.
///
/// Held only for that, by a lock on a file beside it; the kernel frees it when the process dies.
struct DirectoryLock: ~Copyable {
    /// Below nought where nothing is locked.
    private let file: Int32

    /// Waits at most `patience` for another process. Blocks.
    ///
    /// - Parameter isReading: Whether nobody may write here: then a lock that is not there is not missed.
    init(path: String, patience: Duration, isReading: Bool = false) throws(SQLiteFailure) {
        let opened = isReading ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : try Self.openFile(path)
        file = try Self.locked(opened, isReading ? LOCK_SH : LOCK_EX, patience, path)
    }

    deinit { if file >= 0 { close(file) } }

    private static func openFile(_ path: String) throws(SQLiteFailure) -> Int32 {
        for isLast in [false, true] {
            let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            if file >= 0 { return file }
            // A link, a folder or a socket in its place.
            guard !isLast, [ELOOP, EISDIR, ENXIO].contains(errno) else { break }
            FolderRemoval.remove(path)
        }
        throw SQLiteFailure(systemError: errno, doing: "cannot open \(path)")
    }

    /// Locks a file if there is one.
    private static func locked(
        _ file: Int32, _ kind: Int32, _ patience: Duration, _ path: String
    ) throws(SQLiteFailure) -> Int32 {
        guard file >= 0 else { return file }
        for _ in 0..<max(1, min(Int(Int32.max), patience.milliseconds / 10)) {
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
