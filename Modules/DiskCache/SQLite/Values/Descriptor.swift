import AlcedoCore
import AlcedoLibc
private import CFileSystemShim
import AlcedoRuntime
import FoundationEssentials

/// A file descriptor, which is closed with the value.
struct Descriptor: ~Copyable {
    private let number: Int32
    /// The flags that open a directory only to look up names.
    private static let onlyPath = ALCEDO_O_PATH | O_DIRECTORY | O_CLOEXEC

    /// Opens a directory, or the target of a symbolic link to one, to look up names.
    init(openingDirectory path: String) throws(SystemError) {
        let opened = open(path, Self.onlyPath)
        guard opened >= 0 else { throw SystemError(number: errno) }
        number = opened
    }

    /// Opens a file below a directory. A symbolic link anywhere in the path fails with `ELOOP`.
    init(opening path: String, beneath directory: borrowing Descriptor, _ flags: Int32) throws(SystemError) {
        let opened = alcedo_open_beneath(directory.number, path, flags, 0o600)
        guard opened >= 0 else { throw SystemError(number: errno) }
        number = opened
    }

    /// Opens a directory below a directory, to look up names.
    init(openingDirectory path: String, beneath directory: borrowing Descriptor) throws(SystemError) {
        try self.init(opening: path, beneath: directory, Self.onlyPath)
    }

    deinit { close(number) }

    // MARK: Files

    /// Returns the bytes of a regular file of `count` bytes, or nil for any other file.
    func contents(count: Int) throws(SystemError) -> Data? {
        guard let status else { throw SystemError(number: errno) }
        guard status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) == count else { return nil }
        guard let memory = malloc(max(1, count)) else { throw SystemError(number: ENOMEM) }
        // The data owns the memory, so it is not copied again.
        let data = Data(bytesNoCopy: memory, count: count, deallocator: .free)
        var done = 0
        while done < count {
            let read = pread(number, memory + done, count - done, off_t(done))
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw SystemError(number: errno) }
            // The file has been truncated.
            guard read > 0 else { return nil }
            done += read
        }
        return data
    }

    /// Writes all of `data`. Returns false if the system refuses, with the reason in `errno`.
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

    /// Waits until a file or directory is on the storage medium. Returns false if the system refuses, with the reason
    /// in `errno`.
    func synchronize() -> Bool { fsync(number) == 0 }

    /// Locks the file until the descriptor is closed or the process ends. Returns false if another descriptor has the
    /// lock, or if the file has been removed.
    func lock() -> Bool {
        guard flock(number, LOCK_EX | LOCK_NB) == 0, let status else { return false }
        return status.st_nlink > 0
    }

    /// The number of bytes that the file occupies on disk, or nil on an error, with the reason in `errno`.
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

    // MARK: Directories

    /// Returns the names in the directory, or nil if they cannot be listed.
    func names() -> [String]? { DirectoryListing.names(in: ".", of: number) }

    /// Creates a directory, unless a file has the name. Replaces a symbolic link.
    func makeDirectory(_ name: String) throws(SystemError) {
        removeLink(name)
        guard mkdirat(number, name, 0o700) == 0 || errno == EEXIST else { throw SystemError(number: errno) }
    }

    /// Removes a symbolic link. Leaves any other file.
    func removeLink(_ name: String) {
        var status = stat()
        guard fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFLNK else {
            return
        }
        unlinkat(number, name, 0)
    }

    /// Removes a file, or a directory with its content.
    func clear(_ name: String) { DirectoryRemoval.remove(name, in: number) }
}
