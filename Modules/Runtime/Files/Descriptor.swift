package import AlcedoLibc
private import CFileSystemShim

/// A file descriptor, which is closed when the value is destroyed.
package struct Descriptor: ~Copyable {
    private let number: Int32
    /// The hook for the calls of this descriptor, and the path of the file. Nil without a hook.
    private let hook: (call: FileHook, path: String)?
    /// The flags for opening a directory only to look up names in it. The value is that of Linux on the architectures
    /// that Swift supports.
    package static let onlyPath = ALCEDO_O_PATH | O_DIRECTORY
    /// The flag for opening a file only to keep its identity. Closing such a descriptor releases no lock that another
    /// descriptor of this process has on the file.
    package static let identityOnly = ALCEDO_O_PATH

    /// Opens a file. If `flags` contains `O_CREAT`, a new file is readable and writable only by its owner. Throws the
    /// error number if the file cannot be opened.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - flags: The flags of `open`.
    ///   - hook: A closure that may let calls fail, also those of descriptors that are opened below this one. The
    ///     default is nil.
    package init(
        opening path: UnsafePointer<CChar>, _ flags: Int32, hook: FileHook? = nil
    ) throws(SystemError) {
        let hooked = Self.hooked(hook, path)
        try Self.announce(flags & (O_WRONLY | O_RDWR | O_CREAT) == 0 ? .open : .openForWriting, hooked)
        let opened = open(path, flags | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw SystemError(number: errno) }
        number = opened
        self.hook = hooked
    }

    /// Opens a file below a directory. A symbolic link anywhere in the path fails with `ELOOP`.
    ///
    /// - Parameters:
    ///   - path: A path relative to `directory`, without `..`.
    ///   - directory: The directory to start from.
    ///   - flags: The flags of `open`.
    package init(
        opening path: UnsafePointer<CChar>, beneath directory: borrowing Descriptor, _ flags: Int32
    ) throws(SystemError) {
        let hooked = Self.hooked(directory.hook?.call, path)
        try Self.announce(flags & (O_WRONLY | O_RDWR | O_CREAT) == 0 ? .open : .openForWriting, hooked)
        let opened = alcedo_open_beneath(directory.number, path, flags, 0o600)
        guard opened >= 0 else { throw SystemError(number: errno) }
        number = opened
        hook = hooked
    }

    /// Opens a file below a directory for reading, without waiting for a disk. Throws `EAGAIN` or another error number
    /// if that is not possible, although a call that may wait could succeed.
    package init(
        openingCached path: UnsafePointer<CChar>, beneath directory: borrowing Descriptor
    ) throws(SystemError) {
        let hooked = Self.hooked(directory.hook?.call, path)
        try Self.announce(.open, hooked)
        let opened = alcedo_open_cached(directory.number, path)
        guard opened >= 0 else { throw SystemError(number: errno) }
        number = opened
        hook = hooked
    }

    deinit { close(number) }

    // MARK: Hook

    private static func hooked(_ hook: FileHook?, _ path: UnsafePointer<CChar>) -> (call: FileHook, path: String)? {
        hook.map { ($0, String(cString: path)) }
    }

    /// Calls the hook. Returns the number of bytes that the call may handle. Throws the error of the hook.
    @discardableResult
    private static func announce(
        _ action: FileCall.Action, _ hook: (call: FileHook, path: String)?, _ byteCount: Int = 0
    ) throws(SystemError) -> Int {
        guard let hook else { return byteCount }
        switch hook.call(FileCall(action, hook.path, byteCount: byteCount)) {
        case nil: return byteCount
        case .error(let number): throw SystemError(number: number)
        case .shortened(let count): return min(byteCount, max(1, count))
        }
    }

    /// Calls the hook for a call on this file. Returns the number of bytes that the call may handle, or nil with the
    /// hook's error in `errno`.
    private func announced(_ action: FileCall.Action, _ byteCount: Int = 0) -> Int? {
        do throws(SystemError) {
            return try Self.announce(action, hook, byteCount)
        } catch {
            errno = error.number
            return nil
        }
    }

    /// Calls the hook for a call on a name in this directory. Returns zero, or the error number of the hook.
    private func announced(_ action: FileCall.Action, _ name: UnsafePointer<CChar>) -> Int32 {
        do throws(SystemError) {
            try Self.announce(action, Self.hooked(hook?.call, name))
            return 0
        } catch {
            return error.number
        }
    }

    /// The status of the file, or nil if the system reports an error.
    package var status: stat? {
        var status = stat()
        return fstat(number, &status) == 0 ? status : nil
    }

    /// Returns the size of a regular file, or nil for any other kind of file. Throws the error number if the status
    /// cannot be read.
    package func regularFileSize() throws(SystemError) -> FileSize? {
        guard let status else { throw SystemError(number: errno) }
        return status.st_mode & S_IFMT == S_IFREG ? FileSize(status) : nil
    }

    /// Reads at most `memory.count` bytes from `offset`, and returns the number of bytes that were read. Reads fewer
    /// only at the end of the file. Throws the error number if a read fails.
    package func read(into memory: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
        var done = 0
        while done < memory.count, let base = memory.baseAddress {
            let wanted = try Self.announce(.read, hook, memory.count - done)
            let read = pread(number, base + done, wanted, off_t(offset + done))
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw SystemError(number: errno) }
            guard read > 0 else { break }
            done += read
        }
        return done
    }

    /// Returns `count` bytes from `offset`, or nil if the file has fewer. Throws the error number if a read fails or
    /// memory is not available.
    package func read(_ count: Int, at offset: Int = 0) throws(SystemError) -> FileBytes? {
        let bytes = try FileBytes(count: count)
        guard try read(into: bytes.room, at: offset) == count else { return nil }
        return bytes
    }

    /// Returns all bytes of a file of `count` bytes, or nil if it has another length. Throws the error number if a read
    /// fails or memory is not available.
    ///
    /// - Parameters:
    ///   - count: The expected length of the file.
    ///   - blockSize: The maximum number of bytes of one read. The default is no limit.
    ///   - waits: Whether to wait for bytes that are not in the system's memory. If false, the call throws `EAGAIN` for
    ///     such a file, and `EOPNOTSUPP` if the file system does not support such reads. The default is true.
    ///   - onRead: A closure that receives the bytes of each read, in the order of the file. The default does nothing.
    package func readAll(
        _ count: Int, blockSize: Int = .max, waits: Bool = true, onRead: (RawSpan) -> Void = { _ in }
    ) throws(SystemError) -> FileBytes? {
        let bytes = try FileBytes(count: count, spare: 1)
        guard let base = bytes.room.baseAddress else { return nil }
        var done = 0
        repeat {
            // The last read asks for one more byte than the file should have. If it gets that byte, the file is longer.
            // If it does not, it has reached the end of the file, so no further read is necessary.
            let rest = count + 1 - done
            let wanted = try Self.announce(.read, hook, rest - 1 <= blockSize ? rest : blockSize)
            let read =
                waits
                ? pread(number, base + done, wanted, off_t(done))
                : alcedo_read_cached(number, base + done, wanted, done)
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw SystemError(number: errno) }
            guard read > 0 || count == 0, done + read <= count else { return nil }
            onRead(UnsafeRawBufferPointer(start: base + done, count: read).bytes)
            done += read
        } while done < count
        return bytes
    }

    /// Writes both spans in sequence at the file position. Returns false if the system refuses, with the reason in
    /// `errno`. A part of the bytes may then have been written.
    package func write(_ first: RawSpan, _ second: RawSpan) -> Bool {
        first.withUnsafeBytes { first in
            second.withUnsafeBytes { second in
                var done = 0
                let total = first.count + second.count
                while done < total {
                    let inFirst = min(done, first.count)
                    var pieces = [
                        iovec(rest: first, from: inFirst), iovec(rest: second, from: done - inFirst),
                    ]
                    guard let permitted = announced(.write, total - done) else { return false }
                    pieces[0].iov_len = min(pieces[0].iov_len, permitted)
                    pieces[1].iov_len = min(pieces[1].iov_len, permitted - pieces[0].iov_len)
                    let written = writev(number, pieces, 2)
                    if written < 0, errno == EINTR { continue }
                    guard written > 0 else { return false }
                    done += written
                }
                return true
            }
        }
    }

    /// Writes all of `bytes` at `offset`. Returns false if the system refuses, with the reason in `errno`. A part of
    /// the bytes may then have been written.
    package func write(_ bytes: [UInt8], at offset: Int) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count, let base = bytes.baseAddress {
                guard let permitted = announced(.write, bytes.count - done) else { return false }
                let written = pwrite(number, base + done, permitted, off_t(offset + done))
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return false }
                done += written
            }
            return true
        }
    }

    package func truncate(to size: Int) { ftruncate(number, off_t(size)) }

    /// Waits until the bytes are on the storage medium. Returns false if the system refuses, with the reason in
    /// `errno`.
    package func synchronize() -> Bool { announced(.synchronize) != nil && fdatasync(number) == 0 }

    /// Locks the file until ``unlock()`` is called, the descriptor is closed or the process ends. Does not wait:
    /// returns false if another descriptor has the lock, or if the system refuses.
    package func lock() -> Bool { flock(number, LOCK_EX | LOCK_NB) == 0 }

    /// Locks the file as ``lock()`` does. If another descriptor has the lock, tries again for about `timeout`. Blocks
    /// the thread meanwhile. Returns false with the reason in `errno`, which is `EWOULDBLOCK` after the timeout.
    package func lock(timeout: Duration) -> Bool {
        var (waited, pause) = (0, 50)
        // `flock` has no timeout, so the lock is polled. Callers are on threads for blocking work, and another process
        // holds the lock in real time.
        while !lock() {
            guard errno == EWOULDBLOCK || errno == EINTR, Duration.microseconds(waited) < timeout else { return false }
            usleep(UInt32(pause))
            waited += pause
            pause = min(5_000, pause * 2)
        }
        return true
    }

    package func unlock() { flock(number, LOCK_UN) }

    /// Maps the first `count` bytes of the file into memory for reading. The caller must unmap them. Throws the error
    /// number if the system refuses.
    package func map(_ count: Int) throws(SystemError) -> UnsafeMutableRawPointer {
        try Self.announce(.read, hook, count)
        guard let memory = mmap(nil, count, PROT_READ, MAP_PRIVATE, number, 0), memory != MAP_FAILED else {
            throw SystemError(number: errno)
        }
        return memory
    }

    // MARK: Directories

    /// Returns all names in the directory, or nil if they cannot be listed.
    package func names() -> [String]? { DirectoryListing.names(in: ".", of: number) }

    /// Calls `body` with each name in a directory. Returns zero, or the error number if not all names can be listed.
    package func forEachName(in directory: String = ".", _ body: (UnsafeBufferPointer<UInt8>) -> Void) -> Int32 {
        let refused = directory.withCString { announced(.list, $0) }
        return refused != 0 ? refused : DirectoryListing.forEachName(in: directory, of: number, body)
    }

    /// Returns the kind of the file with a name, or nil if there is none or the system reports an error. Does not
    /// follow a symbolic link.
    package func kind(of name: UnsafePointer<CChar>) -> mode_t? { status(of: name).map { $0.st_mode & S_IFMT } }

    /// Returns the status of a name in the directory, without following a symbolic link. Returns nil on an error, with
    /// the reason in `errno`.
    package func status(of name: UnsafePointer<CChar>) -> stat? {
        var status = stat()
        return fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// Creates a directory that only its owner can access. Does nothing if the name is taken, even by a file. Throws
    /// the error number if the system refuses.
    package func makeDirectory(_ name: UnsafePointer<CChar>) throws(SystemError) {
        let refused = announced(.makeDirectory, name)
        guard refused == 0 else { throw SystemError(number: refused) }
        guard mkdirat(number, name, 0o700) == 0 || errno == EEXIST else { throw SystemError(number: errno) }
    }

    /// Removes a symbolic link. Does nothing for any other file. Ignores errors.
    package func removeLink(_ name: UnsafePointer<CChar>) {
        if kind(of: name) == S_IFLNK { _ = unlink(name) }
    }

    /// Removes a file that is not a directory. Returns zero, or the error number.
    package func unlink(_ name: UnsafePointer<CChar>) -> Int32 {
        let refused = announced(.remove, name)
        return refused != 0 ? refused : unlinkat(number, name, 0) == 0 ? 0 : errno
    }

    /// Removes a file, or a directory with its content. Ignores errors.
    package func clear(_ name: UnsafePointer<CChar>) { DirectoryRemoval.remove(name, in: number) }

    /// Renames a file, replacing an existing one. Returns zero, or the error number.
    package func rename(
        _ name: UnsafePointer<CChar>, to directory: borrowing Descriptor, _ newName: UnsafePointer<CChar>
    ) -> Int32 {
        let refused = announced(.rename, newName)
        return refused != 0 ? refused : renameat(number, name, directory.number, newName) == 0 ? 0 : errno
    }

    /// Renames a file to a path, replacing an existing one. Returns zero, or the error number.
    package func rename(_ name: UnsafePointer<CChar>, toPath path: UnsafePointer<CChar>) -> Int32 {
        let refused = announced(.rename, path)
        return refused != 0 ? refused : renameat(number, name, AT_FDCWD, path) == 0 ? 0 : errno
    }

    /// Renames a file, or removes it if the new name is taken. After any other failure, the file keeps its name.
    /// Returns whether the file was renamed.
    package func renameOrRemove(_ name: UnsafePointer<CChar>, _ newName: UnsafePointer<CChar>) -> Bool {
        guard announced(.rename, newName) == 0 else { return false }
        let isMoved = linkat(number, name, number, newName, 0) == 0
        // On a file system without hard links, the file keeps its name.
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

package struct FileSize: Equatable, Sendable {
    /// The length of the file in bytes.
    package var length: Int
    /// The number of bytes that the file occupies on disk.
    package var occupied: Int

    package init(length: Int, occupied: Int) {
        self.length = length
        self.occupied = occupied
    }

    package init(_ status: stat) {
        length = Int(status.st_size)
        occupied = DiskUsage.byteCount(
            length: length, blocks: Int(status.st_blocks), blockSize: Int(status.st_blksize))
    }
}
