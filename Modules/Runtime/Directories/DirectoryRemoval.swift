import AlcedoLibc

/// Removes folders with everything in them. Follows no link.
package enum DirectoryRemoval {
    /// What ends with a zero byte.
    private typealias Name = [CChar]

    /// Removes what has a name: a file, a link, or a folder with everything in it. Blocks; O(*n*) in the files and folders.
    ///
    /// However deep folders are nested, two are open at a time: what is deeper moves up before it goes.
    ///
    /// - Parameters:
    ///   - path: From `directory` on. Links on the way to its last part are followed.
    ///   - directory: An open folder. Default: where the process is.
    /// - Returns: Whether nothing has the name any more.
    @discardableResult
    package static func remove(_ path: UnsafePointer<CChar>, in directory: Int32 = AT_FDCWD) -> Bool {
        if removeAlone(path, in: directory) { return true }
        let folder = openFolder(path, in: directory)
        guard folder >= 0 else { return false }
        empty(folder)
        close(folder)
        return removeAlone(path, in: directory)
    }

    /// Removes what is no folder, or an empty one.
    private static func removeAlone(_ path: UnsafePointer<CChar>, in directory: Int32) -> Bool {
        if unlinkat(directory, path, 0) == 0 || errno == ENOENT { return true }
        return errno == EISDIR && (unlinkat(directory, path, AT_REMOVEDIR) == 0 || errno == ENOENT)
    }

    private static func openFolder(_ path: UnsafePointer<CChar>, in directory: Int32) -> Int32 {
        openat(directory, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    }

    private static func empty(_ folder: Int32) {
        var serial = 0
        var isMoving = true
        // Each time around, what is one folder deeper comes up; what cannot be removed or moved stays.
        while isMoving {
            isMoving = false
            for name in names(in: folder) where !removeAlone(name, in: folder) {
                let inner = openFolder(name, in: folder)
                guard inner >= 0 else { continue }
                for innerName in names(in: inner) where !removeAlone(innerName, in: inner) {
                    if moveUp(innerName, from: inner, to: folder, &serial) { isMoving = true }
                }
                close(inner)
                _ = removeAlone(name, in: folder)
            }
        }
    }

    /// Gives a folder a place in another one, under a name that nobody has there.
    private static func moveUp(_ name: Name, from inner: Int32, to folder: Int32, _ serial: inout Int) -> Bool {
        while true {
            serial += 1
            if renameat(inner, name, folder, "moved-\(serial)") == 0 { return true }
            guard [ENOTEMPTY, EEXIST, ENOTDIR].contains(errno) else { return false }
        }
    }

    private static func names(in folder: Int32) -> [Name] {
        var names: [Name] = []
        DirectoryListing.forEachName(in: ".", of: folder) { bytes in
            names.append(bytes.map { CChar(bitPattern: $0) } + [0])
        }
        return names
    }
}
