import AlcedoLibc

/// Functions that remove directories with their contents. They do not follow links.
package enum DirectoryRemoval {
    /// A name that ends with a zero byte.
    private typealias Name = [CChar]

    /// Removes a file, a link, or a directory with its contents. Blocks. O(*n*) in the number of files and directories.
    ///
    /// At most two directories are open at a time, however deep they are nested: deeper directories are moved up before
    /// they are removed.
    ///
    /// - Parameters:
    ///   - path: The path relative to `parent`. Links in all components except the last are followed.
    ///   - parent: The descriptor of an open directory. Default: the current directory of the process.
    /// - Returns: Whether nothing exists at the path any more.
    @discardableResult
    package static func remove(_ path: UnsafePointer<CChar>, in parent: Int32 = AT_FDCWD) -> Bool {
        if removeAlone(path, in: parent) { return true }
        let directory = openDirectory(path, in: parent)
        guard directory >= 0 else { return false }
        empty(directory)
        close(directory)
        return removeAlone(path, in: parent)
    }

    /// Removes a file, a link, or an empty directory. Returns whether it was removed or did not exist.
    private static func removeAlone(_ path: UnsafePointer<CChar>, in parent: Int32) -> Bool {
        if unlinkat(parent, path, 0) == 0 || errno == ENOENT { return true }
        return errno == EISDIR && (unlinkat(parent, path, AT_REMOVEDIR) == 0 || errno == ENOENT)
    }

    private static func openDirectory(_ path: UnsafePointer<CChar>, in parent: Int32) -> Int32 {
        openat(parent, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    }

    private static func empty(_ directory: Int32) {
        var serial = 0
        var isMoving = true
        // Each pass moves up the directories that are one level deeper. Entries that can be neither removed nor moved
        // remain.
        while isMoving {
            isMoving = false
            for name in names(in: directory) where !removeAlone(name, in: directory) {
                let subdirectory = openDirectory(name, in: directory)
                guard subdirectory >= 0 else { continue }
                for innerName in names(in: subdirectory) where !removeAlone(innerName, in: subdirectory) {
                    if moveUp(innerName, from: subdirectory, to: directory, &serial) { isMoving = true }
                }
                close(subdirectory)
                _ = removeAlone(name, in: directory)
            }
        }
    }

    /// Moves an entry from `subdirectory` to `directory`, under an unused name. Returns false if the system refuses.
    private static func moveUp(_ name: Name, from subdirectory: Int32, to directory: Int32, _ serial: inout Int) -> Bool
    {
        while true {
            serial += 1
            if renameat(subdirectory, name, directory, "moved-\(serial)") == 0 { return true }
            guard [ENOTEMPTY, EEXIST, ENOTDIR].contains(errno) else { return false }
        }
    }

    private static func names(in directory: Int32) -> [Name] {
        var names: [Name] = []
        DirectoryListing.forEachName(in: ".", of: directory) { bytes in
            names.append(bytes.map { CChar(bitPattern: $0) } + [0])
        }
        return names
    }
}
