import AlcedoLibc

/// Removes directories with everything in them. Follows no link.
package enum DirectoryRemoval {
    /// What ends with a zero byte.
    private typealias Name = [CChar]

    /// Removes what has a name: a file, a link, or a directory with everything in it. Blocks; O(*n*) in the files and
    /// directories.
    ///
    /// However deep directories are nested, two are open at a time: what is deeper moves up before it goes.
    ///
    /// - Parameters:
    ///   - path: From `parent` on. Links on the way to its last part are followed.
    ///   - parent: An open directory. Default: where the process is.
    /// - Returns: Whether nothing has the name any more.
    @discardableResult
    package static func remove(_ path: UnsafePointer<CChar>, in parent: Int32 = AT_FDCWD) -> Bool {
        if removeAlone(path, in: parent) { return true }
        let directory = openDirectory(path, in: parent)
        guard directory >= 0 else { return false }
        empty(directory)
        close(directory)
        return removeAlone(path, in: parent)
    }

    /// Removes what is no directory, or an empty one.
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
        // Each time around, what is one directory deeper comes up; what cannot be removed or moved stays.
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

    /// Gives a directory a place in another one, under a name that nobody has there.
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
