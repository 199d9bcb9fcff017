import FoundationEssentials
import Glibc

/// An open file, closed when the value goes.
struct Descriptor: ~Copyable {
    private let number: Int32

    /// nil when the system refuses; `errno` says why.
    init?(opening path: String, _ flags: Int32) {
        let opened = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard opened >= 0 else { return nil }
        number = opened
    }

    deinit { close(number) }

    /// The first `count` bytes of a regular file of just that length; else nil.
    func wholeFile(count: Int) -> Data? {
        guard let status, status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) == count,
            let memory = malloc(max(1, count))
        else { return nil }
        // Not copied again: the memory becomes the value's own.
        let data = Data(bytesNoCopy: memory, count: count, deallocator: .free)
        var done = 0
        while done < count {
            let read = pread(number, memory + done, count - done, off_t(done))
            if read < 0, errno == EINTR { continue }
            guard read > 0 else { return nil }
            done += read
        }
        return data
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

    /// Keeps the file for this value until it is closed, or its process dies. False when somebody else has it, or when
    /// it has no name any more.
    func lock() -> Bool {
        guard flock(number, LOCK_EX | LOCK_NB) == 0, let status else { return false }
        return status.st_nlink > 0
    }

    private var status: stat? {
        var status = stat()
        return fstat(number, &status) == 0 ? status : nil
    }
}
