import AlcedoLibc

/// The names in a directory, without `.` and `..`.
package enum DirectoryListing {
    /// Calls `body` with each name. What is no directory has none, nor has a link to one, unless it is followed.
    ///
    /// - Parameters:
    ///   - path: From `directory` on.
    ///   - directory: An open directory. Default: where the process is.
    /// - Returns: Zero, or `errno` when a directory is there and not to be had, or not all of it: the process may have no
    ///   descriptors left.
    @discardableResult
    package static func forEachName(
        in path: String, of directory: Int32 = AT_FDCWD, followsLink: Bool = false,
        _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) -> Int32 {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW)
        let descriptor = openat(directory, path, flags)
        guard descriptor >= 0 else { return [ENOENT, ENOTDIR, ELOOP].contains(errno) ? 0 : errno }
        guard let stream = fdopendir(descriptor) else {
            let number = errno
            close(descriptor)
            return number
        }
        defer { closedir(stream) }
        // The name ends where its zero byte is: an entry is shorter than its type, and must not be copied as one.
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return 0 }
        while true {
            errno = 0
            // Nothing is the end, or a refusal.
            guard let entry = readdir(stream) else { return errno }
            let name = (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: UInt8.self)
            let bytes = UnsafeBufferPointer(
                start: name, count: strlen(UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self)))
            if !bytes.elementsEqual([0x2E]), !bytes.elementsEqual([0x2E, 0x2E]) { body(bytes) }
        }
    }

    /// All names; nil when a directory is there and not to be had, which is not the same as an empty one.
    package static func names(in path: String, of directory: Int32 = AT_FDCWD) -> [String]? {
        var names: [String] = []
        let number = forEachName(in: path, of: directory) { names.append(String(decoding: $0, as: UTF8.self)) }
        return number == 0 ? names : nil
    }
}
