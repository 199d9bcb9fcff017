import FoundationEssentials
import Glibc

/// An open file, closed when the value goes.
struct Descriptor: ~Copyable {
    private let number: Int32

    init(opening path: UnsafePointer<CChar>, _ flags: Int32) throws(SystemRefusal) {
        let opened = open(path, flags | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw SystemRefusal(number: errno) }
        number = opened
    }

    /// - Parameter path: From `directory` on.
    init(opening path: UnsafePointer<CChar>, in directory: borrowing Descriptor, _ flags: Int32) throws(SystemRefusal) {
        let opened = openat(directory.number, path, flags | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw SystemRefusal(number: errno) }
        number = opened
    }

    deinit { close(number) }

    /// nil when the system does not say.
    var status: stat? {
        var status = stat()
        return fstat(number, &status) == 0 ? status : nil
    }

    /// nil for anything but a regular file.
    var regularFileSize: Int? {
        guard let status, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    /// Reads at most `memory.count` bytes from `offset`: fewer only at the file's end. nil when the system refuses.
    func read(into memory: UnsafeMutableRawBufferPointer, at offset: Int) -> Int? {
        var done = 0
        while done < memory.count, let base = memory.baseAddress {
            let read = pread(number, base + done, memory.count - done, off_t(offset + done))
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { return nil }
            guard read > 0 else { break }
            done += read
        }
        return done
    }

    /// `count` bytes from `offset` on, or nil when there are fewer or the system refuses.
    func read(_ count: Int, at offset: Int = 0) -> FileBytes? {
        FileBytes(count: count) { memory in read(into: memory, at: offset) == count }
    }

    /// All bytes of a file that has `count`, or nil when it has another number or the system refuses.
    func readAll(_ count: Int) -> FileBytes? {
        // Room for one more, which must stay empty.
        FileBytes(count: count, spare: 1) { memory in read(into: memory, at: 0) == count }
    }

    /// Writes both pieces one behind the other; false when the system refuses, and `errno` says why.
    func write(_ first: RawSpan, _ second: RawSpan) -> Bool {
        first.withUnsafeBytes { first in
            second.withUnsafeBytes { second in
                var done = 0
                let whole = first.count + second.count
                while done < whole {
                    let inFirst = min(done, first.count)
                    let pieces = [
                        iovec(rest: first, from: inFirst), iovec(rest: second, from: done - inFirst),
                    ]
                    let written = writev(number, pieces, 2)
                    if written < 0, errno == EINTR { continue }
                    guard written > 0 else { return false }
                    done += written
                }
                return true
            }
        }
    }

    /// Writes all of `bytes` at `offset`; false when the system refuses, and `errno` says why.
    func write(_ bytes: [UInt8], at offset: Int) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count, let base = bytes.baseAddress {
                let written = pwrite(number, base + done, bytes.count - done, off_t(offset + done))
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return false }
                done += written
            }
            return true
        }
    }

    func truncate(to size: Int) { ftruncate(number, off_t(size)) }

    /// Waits until the bytes are on the medium. False when the system refuses, and `errno` says why.
    func synchronize() -> Bool { fdatasync(number) == 0 }

    /// Keeps the file for this value until it is closed, or its process dies. False when somebody else has it.
    func lock() -> Bool { flock(number, LOCK_EX | LOCK_NB) == 0 }

    func unlock() { flock(number, LOCK_UN) }

    /// The file's bytes, mapped into memory; nil when the system refuses.
    func map(_ count: Int) -> UnsafeMutableRawPointer? {
        let memory = mmap(nil, count, PROT_READ, MAP_PRIVATE, number, 0)
        return memory == MAP_FAILED ? nil : memory
    }
}

extension iovec {
    fileprivate init(rest bytes: UnsafeRawBufferPointer, from start: Int) {
        self.init(
            iov_base: bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0 + start) },
            iov_len: bytes.count - start)
    }
}
