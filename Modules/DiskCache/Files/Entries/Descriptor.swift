import AlcedoCore
import AlcedoLibc
private import CBeneath
import AlcedoRuntime
import FoundationEssentials

/// An open file, closed when the value goes.
struct Descriptor: ~Copyable {
    private let number: Int32
    /// Opens a folder only to look up what is in it. Of Linux on the machines that Swift runs on.
    static let onlyPath = ALCEDO_O_PATH | O_DIRECTORY

    init(opening path: UnsafePointer<CChar>, _ flags: Int32) throws(SystemError) {
        let opened = open(path, flags | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw SystemError(number: errno) }
        number = opened
    }

    /// Follows no link, wherever in the path it is: that is refused with `ELOOP`.
    ///
    /// - Parameter path: From `directory` on, and not out of it.
    init(
        opening path: UnsafePointer<CChar>, beneath directory: borrowing Descriptor, _ flags: Int32
    ) throws(SystemError) {
        let opened = alcedo_open_beneath(directory.number, path, flags, 0o600)
        guard opened >= 0 else { throw SystemError(number: errno) }
        number = opened
    }

    deinit { close(number) }

    /// nil when the system does not say.
    var status: stat? {
        var status = stat()
        return fstat(number, &status) == 0 ? status : nil
    }

    /// nil for anything but a regular file.
    func regularFileSize() throws(SystemError) -> FileSize? {
        guard let status else { throw SystemError(number: errno) }
        return status.st_mode & S_IFMT == S_IFREG ? FileSize(status) : nil
    }

    /// Reads at most `memory.count` bytes from `offset`: fewer only at the file's end.
    func read(into memory: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
        var done = 0
        while done < memory.count, let base = memory.baseAddress {
            let read = pread(number, base + done, memory.count - done, off_t(offset + done))
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw SystemError(number: errno) }
            guard read > 0 else { break }
            done += read
        }
        return done
    }

    /// `count` bytes from `offset` on, or nil when there are fewer.
    func read(_ count: Int, at offset: Int = 0) throws(SystemError) -> FileBytes? {
        let bytes = try FileBytes(count: count)
        guard try read(into: bytes.room, at: offset) == count else { return nil }
        return bytes
    }

    /// All bytes of a file that has `count`, or nil when it has another number.
    func readAll(_ count: Int) throws(SystemError) -> FileBytes? {
        // Room for one more, which must stay empty.
        let bytes = try FileBytes(count: count, spare: 1)
        guard try read(into: bytes.room, at: 0) == count else { return nil }
        return bytes
    }

    /// Writes both pieces one behind the other; false when the system refuses, and `errno` says why.
    func write(_ first: RawSpan, _ second: RawSpan) -> Bool {
        first.withUnsafeBytes { first in
            second.withUnsafeBytes { second in
                var done = 0
                let total = first.count + second.count
                while done < total {
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

    /// The file's bytes, mapped into memory.
    func map(_ count: Int) throws(SystemError) -> UnsafeMutableRawPointer {
        guard let memory = mmap(nil, count, PROT_READ, MAP_PRIVATE, number, 0), memory != MAP_FAILED else {
            throw SystemError(number: errno)
        }
        return memory
    }

    // MARK: What is in a folder

    /// Nought, or why not all names are to be had.
    func forEachName(in directory: String = ".", _ body: (UnsafeBufferPointer<UInt8>) -> Void) -> Int32 {
        DirectoryListing.forEachName(in: directory, of: number, body)
    }

    /// nil when nothing has the name. Tells of a link itself.
    func kind(of name: UnsafePointer<CChar>) -> mode_t? { status(of: name).map { $0.st_mode & S_IFMT } }

    /// What the system knows of a name in the folder, a link itself; nil with `errno` when there is nothing to be known.
    func status(of name: UnsafePointer<CChar>) -> stat? {
        var status = stat()
        return fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// Makes a folder, unless something has the name.
    func makeDirectory(_ name: UnsafePointer<CChar>) throws(SystemError) {
        guard mkdirat(number, name, 0o700) == 0 || errno == EEXIST else { throw SystemError(number: errno) }
    }

    /// Removes what is no folder; nought, or why not.
    func unlink(_ name: UnsafePointer<CChar>) -> Int32 { unlinkat(number, name, 0) == 0 ? 0 : errno }

    /// Removes what has the name, a folder with everything in it too.
    func clear(_ name: UnsafePointer<CChar>) { DirectoryRemoval.remove(name, in: number) }

    /// Gives a file another name, replacing what has it already; nought, or why not.
    func rename(
        _ name: UnsafePointer<CChar>, to directory: borrowing Descriptor, _ newName: UnsafePointer<CChar>
    ) -> Int32 {
        renameat(number, name, directory.number, newName) == 0 ? 0 : errno
    }

    /// The same with a path.
    func rename(_ name: UnsafePointer<CChar>, toPath path: UnsafePointer<CChar>) -> Int32 {
        renameat(number, name, AT_FDCWD, path) == 0 ? 0 : errno
    }

    /// Gives a file another name; where that is taken, the file goes. Returns whether it has the name now.
    func renameOrRemove(_ name: UnsafePointer<CChar>, _ newName: UnsafePointer<CChar>) -> Bool {
        let isMoved = linkat(number, name, number, newName, 0) == 0
        // Where there are no second names, it keeps its first.
        if isMoved || errno == EEXIST { unlinkat(number, name, 0) }
        return isMoved
    }
}

extension iovec {
    fileprivate init(rest bytes: UnsafeRawBufferPointer, from start: Int) {
        self.init(
            iov_base: bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0 + start) },
            iov_len: bytes.count - start)
    }
}

/// The bytes of a file in memory of their own, freed when the value goes.
struct FileBytes: ~Copyable {
    private let memory: UnsafeMutableRawPointer
    private let count: Int
    /// What it can hold, to be filled.
    let room: UnsafeMutableRawBufferPointer

    /// Allocates room for `count` bytes, and for `spare` more.
    init(count: Int, spare: Int = 0) throws(SystemError) {
        guard let memory = malloc(max(1, count + spare)) else { throw SystemError(number: ENOMEM) }
        self.memory = memory
        self.count = count
        room = UnsafeMutableRawBufferPointer(start: memory, count: count + spare)
    }

    deinit { free(memory) }

    func withBytes<Result>(_ body: (RawSpan) -> Result) -> Result {
        body(UnsafeRawBufferPointer(start: memory, count: count).bytes)
    }

    /// Gives the memory away as its first `length` bytes, without copying.
    consuming func prefix(_ length: Int) -> Data {
        let memory = memory
        discard self
        return Data(bytesNoCopy: memory, count: length, deallocator: .free)
    }
}

/// The size of an entry's file.
struct FileSize: Equatable, Sendable {
    /// The number of its bytes.
    var length: Int
    /// The bytes that it occupies on the disk, which is what limits, listings and reports count.
    var occupied: Int

    init(length: Int, occupied: Int) {
        self.length = length
        self.occupied = occupied
    }

    init(_ status: stat) {
        length = Int(status.st_size)
        occupied = DiskUsage.byteCount(
            length: length, blocks: Int(status.st_blocks), blockSize: Int(status.st_blksize))
    }
}

extension SystemError {
    /// - Parameter directory: The path; empty where it is not known.
    func cacheError(_ action: String, _ directory: String = "") -> DataCacheError {
        let code: DataCacheError.Code =
            switch number {
            case ENOSPC, EDQUOT, EFBIG: .noSpace
            case EACCES, EPERM, EROFS, ENOTDIR, ENOENT, ELOOP: .notWritable
            default: .failed
            }
        return DataCacheError(
            code,
            "cannot \(action) the cache directory\(directory.isEmpty ? "" : " ")\(directory): \(String(cString: strerror(number)))"
        )
    }

    /// Whether it says something of one file, rather than of the process or the machine at this time.
    var isOfOneFile: Bool { [EACCES, EPERM, EIO, ESTALE].contains(number) }
}
