import AlcedoCore
import AlcedoLibc
private import CBeneath
import AlcedoRuntime
import FoundationEssentials

/// An open file, closed when the value goes.
struct Descriptor: ~Copyable {
    private let number: Int32
    /// Opens a folder only to look up what is in it.
    private static let onlyPath = ALCEDO_O_PATH | O_DIRECTORY | O_CLOEXEC

    /// Opens a folder, or what a link to one leads to, to look up what is in it.
    init(openingDirectory path: String) throws(SystemError) {
        let opened = open(path, Self.onlyPath)
        guard opened >= 0 else { throw SystemError(number: errno) }
        number = opened
    }

    /// Opens what is below a folder. Follows no link, wherever in the path it is: that is refused with `ELOOP`.
    init(opening path: String, beneath directory: borrowing Descriptor, _ flags: Int32) throws(SystemError) {
        let opened = alcedo_open_beneath(directory.number, path, flags, 0o600)
        guard opened >= 0 else { throw SystemError(number: errno) }
        number = opened
    }

    /// Opens a folder below a folder, to look up what is in it.
    init(openingDirectory path: String, beneath directory: borrowing Descriptor) throws(SystemError) {
        try self.init(opening: path, beneath: directory, Self.onlyPath)
    }

    deinit { close(number) }

    // MARK: Files

    /// The first `count` bytes of a regular file of just that length; nil for any other.
    func contents(count: Int) throws(SystemError) -> Data? {
        guard let status else { throw SystemError(number: errno) }
        guard status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) == count else { return nil }
        guard let memory = malloc(max(1, count)) else { throw SystemError(number: ENOMEM) }
        // Not copied again: the memory becomes the value's own.
        let data = Data(bytesNoCopy: memory, count: count, deallocator: .free)
        var done = 0
        while done < count {
            let read = pread(number, memory + done, count - done, off_t(done))
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw SystemError(number: errno) }
            // It has been cut short.
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
                let written = AlcedoLibc.write(number, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return false }
                done += written
            }
            return true
        }
    }

    /// Waits until a file or folder is on the medium. False when the system refuses, and `errno` says why.
    func synchronize() -> Bool { fsync(number) == 0 }

    /// Keeps the file for this value until it is closed, or its process dies. False when somebody else has it, or when
    /// it has no name any more.
    func lock() -> Bool {
        guard flock(number, LOCK_EX | LOCK_NB) == 0, let status else { return false }
        return status.st_nlink > 0
    }

    /// The bytes that the file occupies; nil when the system does not say, and `errno` says why.
    var occupiedSize: Int? {
        status.map { status in
            DiskUsage.byteCount(
                length: Int(status.st_size), blocks: Int(status.st_blocks), blockSize: Int(status.st_blksize))
        }
    }

    private var status: stat? {
        var status = stat()
        return fstat(number, &status) == 0 ? status : nil
    }

    // MARK: Folders

    /// The names of what is in it; nil when they are not to be had.
    func names() -> [String]? { DirectoryListing.names(in: ".", of: number) }

    /// Makes a folder, unless one has the name. A link makes way for it.
    func makeDirectory(_ name: String) throws(SystemError) {
        removeLink(name)
        guard mkdirat(number, name, 0o700) == 0 || errno == EEXIST else { throw SystemError(number: errno) }
    }

    /// Removes what has the name if that is a link.
    func removeLink(_ name: String) {
        var status = stat()
        guard fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFLNK else {
            return
        }
        unlinkat(number, name, 0)
    }

    /// Removes what has the name, a folder with everything in it too.
    func clear(_ name: String) { DirectoryRemoval.remove(name, in: number) }
}
