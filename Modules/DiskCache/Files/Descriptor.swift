import FoundationEssentials
import Glibc

/// An open file, closed when the value goes.
struct Descriptor: ~Copyable {
    private let number: Int32

    init(opening path: String, _ flags: Int32) throws(SystemRefusal) {
        let opened = open(path, flags | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw SystemRefusal(number: errno) }
        number = opened
    }

    /// A new file, locked so that other processes see that it is being written.
    init(creating path: String) throws(SystemRefusal) {
        try self.init(opening: path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        _ = lock()
    }

    deinit { close(number) }

    /// nil for anything but a regular file.
    var regularFileSize: Int? {
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    /// The first `count` bytes, or nil when there are fewer or the system refuses.
    func read(_ count: Int) -> FileBytes? {
        FileBytes(count: count) { memory in
            var done = 0
            while done < count {
                let read = pread(number, memory + done, count - done, off_t(done))
                if read < 0, errno == EINTR { continue }
                guard read > 0 else { return false }
                done += read
            }
            return true
        }
    }

    /// Writes all of `data`; false when the system refuses, and `errno` says why.
    func write(_ data: Data) -> Bool {
        data.bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let written = Glibc.write(number, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return false }
                done += written
            }
            return true
        }
    }

    /// Keeps the file for this value until it is closed, or its process dies. False when somebody else has it.
    func lock() -> Bool { flock(number, LOCK_EX | LOCK_NB) == 0 }

    func setModificationTime(_ date: Date) {
        let seconds = date.timeIntervalSince1970
        guard seconds.isFinite, abs(seconds) < 1e15 else { return }
        let whole = seconds.rounded(.down)
        let time = timespec(tv_sec: Int(whole), tv_nsec: Int((seconds - whole) * 1e9))
        _ = [time, time].withUnsafeBufferPointer { futimens(number, $0.baseAddress) }
    }
}
