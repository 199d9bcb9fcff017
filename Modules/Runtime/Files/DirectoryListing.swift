import AlcedoLibc

/// Functions that list the names in a directory, without `.` and `..`.
package enum DirectoryListing {
    /// Calls `body` with each name in a directory.
    ///
    /// A path that does not exist, is not a directory, or is a link that is not followed counts as an empty directory.
    ///
    /// - Parameters:
    ///   - path: The path of the directory, relative to `directory`.
    ///   - directory: The descriptor of an open directory. Default: the current directory of the process.
    ///   - followsLink: Whether to list the target of a link. Default: false.
    ///   - body: Receives the bytes of a name, valid during the call.
    /// - Returns: Zero, or `errno` if the directory exists but cannot be opened or read completely, for example because
    ///   the process has no descriptors left.
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
        // The name is read in place up to its zero byte. An entry may be shorter than `dirent`, so it must not be
        // copied as one.
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return 0 }
        while true {
            errno = 0
            // A null result means the end, or an error if `errno` is set.
            guard let entry = readdir(stream) else { return errno }
            let name = (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: UInt8.self)
            let bytes = UnsafeBufferPointer(
                start: name, count: strlen(UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self)))
            if !bytes.elementsEqual([0x2E]), !bytes.elementsEqual([0x2E, 0x2E]) { body(bytes) }
        }
    }

    /// Returns all names; nil if the directory exists but cannot be read, which differs from an empty directory.
    package static func names(in path: String, of directory: Int32 = AT_FDCWD) -> [String]? {
        var names: [String] = []
        let number = forEachName(in: path, of: directory) { names.append(String(decoding: $0, as: UTF8.self)) }
        return number == 0 ? names : nil
    }
}
