import AlcedoCore
import Glibc

/// Keeps other processes from opening or replacing the database file while this one does.
///
/// Held only for that, by a lock on a file beside it; the kernel frees it when the process dies.
struct DirectoryLock: ~Copyable {
    private let file: Int32

    /// Waits at most `patience` for another process. Blocks.
    init(path: String, patience: Duration) throws(SQLiteFailure) {
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw SQLiteFailure(systemError: errno, doing: "cannot open \(path)") }
        for _ in 0..<max(1, min(Int(Int32.max), patience.milliseconds / 10)) {
            if flock(file, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else { break }
            // The kernel can wait for a lock, but not for at most so long. The thread is the cache's own, which does
            // nothing else meanwhile.
            usleep(10_000)
        }
        let reason = errno
        close(file)
        throw SQLiteFailure(systemError: reason, doing: "cannot lock \(path)")
    }

    deinit { close(file) }
}
