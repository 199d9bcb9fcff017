import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials

/// The files of a disk cache. Its methods may block.
///
/// No symbolic link below the cache's directory is followed. The path of the directory itself may contain symbolic
/// links.
struct EntryDirectory: Sendable {
    enum Reading {
        case valid(CachedData, storedAt: Timestamp, size: FileSize)
        case absent
        /// The file in the entry's place is not a whole entry of the key, or its length differs from the known length.
        case damaged
        /// The system reported an error, so it is unknown whether the entry is whole.
        case unavailable
    }

    /// The trailer of a file, the size of the file, the hash of its resource, and the number of the path extension that
    /// the file should have. The checksum has not been verified.
    struct Summary {
        var trailer: EntryTrailer
        var size: FileSize
        var resourceHash: UInt64
        var suffixNumber: UInt8
    }

    struct VerifiedEntry {
        var key: ImageKey
        var entry: CachedData
        var storedAt: Timestamp
        var size: FileSize
    }

    let paths: EntryPaths
    let unfinished: UnfinishedDirectory

    init(paths: EntryPaths) {
        self.paths = paths
        unfinished = UnfinishedDirectory(paths.unfinished, hook: paths.hook)
    }

    /// Opens the cache's directory to look up names. The path is looked up each time, because the directory may have
    /// been replaced.
    func openDirectory() throws(SystemError) -> Descriptor {
        try Descriptor(opening: paths.directory, Descriptor.onlyPath, hook: paths.hook)
    }

    /// Opens the directory of an entry to look up names.
    func openShard(
        of name: EntryName, in directory: borrowing Descriptor
    ) throws(SystemError) -> Descriptor {
        try Descriptor(opening: paths.shard(of: name), beneath: directory, Descriptor.onlyPath)
    }

    /// Opens the file of an entry. If `waits` is false, throws an error if that needs the disk.
    func openFile(
        _ name: EntryName, _ suffix: [UInt8]? = nil, in directory: borrowing Descriptor, waits: Bool = true
    ) throws(SystemError) -> Descriptor {
        let opened: Result<Descriptor, SystemError> = paths.withFile(name, suffix) { path in
            Result { () throws(SystemError) in
                guard waits else { return try Descriptor(openingCached: path, beneath: directory) }
                return try Descriptor(opening: path, beneath: directory, O_RDONLY | O_NONBLOCK)
            }
        }
        return try opened.get()
    }
}

extension EntryDirectory {
    /// Returns whether `self` and `other` are the same directory. Also returns true if the directory of `self` does not
    /// exist, or if an error prevents the comparison. Returns false if only the directory of `other` does not exist.
    func isSame(as other: EntryDirectory) -> Bool {
        var (status, otherStatus) = (stat(), stat())
        guard stat(paths.directory, &status) == 0 else { return true }
        guard stat(other.paths.directory, &otherStatus) == 0 else { return errno != ENOENT }
        return status.st_dev == otherStatus.st_dev && status.st_ino == otherStatus.st_ino
    }

    /// Calls `body` for every file that has an entry's name, with or without an extension. The first argument is the
    /// entry's name. The second is the file's extension with its dot, or nil if the extension equals the cache's, or is
    /// one that the cache keeps and that the name contains. A name may occur with several extensions. Reads no file.
    /// Does nothing if there is no directory at the cache's path.
    ///
    /// - Throws: The reason why a directory cannot be listed. That directory may contain entries.
    func forEachName(_ body: (EntryName, _ otherSuffix: [UInt8]?) -> Void) throws(SystemError) {
        guard let directory = try openIfThere() else { return }
        // Other files are skipped. They do not belong to the cache: the user may have passed the wrong directory.
        var shards: [String] = []
        var number = directory.forEachName { name in
            if name.count == 2 { shards.append(String(decoding: name, as: UTF8.self)) }
        }
        for shard in shards where number == 0 {
            number = directory.forEachName(in: shard) { rest in
                guard rest.count >= 62, let name = EntryName(digits: Array(shard.utf8) + rest[..<62]),
                    rest.count == 62 || rest[62] == UInt8(ascii: ".")
                else { return }
                let usual = paths.name(name, listedWith: rest[62...])
                body(usual ?? name, usual == nil ? Array(rest[62...]) : nil)
            }
        }
        if number != 0 { throw SystemError(number: number) }
    }

    /// Returns the opened directory, or nil if there is none at the path.
    private func openIfThere() throws(SystemError) -> Descriptor? {
        do throws(SystemError) {
            return try openDirectory()
        } catch {
            guard [ENOENT, ENOTDIR, ELOOP].contains(error.number) else { throw error }
            return nil
        }
    }

    /// Removes symbolic links in place of the entries' directories. Returns the names of the removed links. The name of
    /// each lost entry begins with one of these names.
    func removeLinkedShards() -> Set<String> {
        guard let directory = try? openDirectory() else { return [] }
        var links: Set<String> = []
        _ = directory.forEachName { name in
            let text = String(decoding: name, as: UTF8.self)
            guard name.count == 2, EntryName.isHexadecimal(name), directory.kind(of: text) == S_IFLNK else { return }
            links.insert(text)
        }
        return links.filter { directory.unlink($0) == 0 }
    }

    /// Removes the temporary files that this call can lock. No process is writing those files. Returns false if the
    /// temporary files cannot be listed now.
    @discardableResult
    func removeAbandonedFiles() -> Bool {
        do throws(SystemError) {
            let flags = Descriptor.onlyPath | O_NOFOLLOW
            let directory = try Descriptor(opening: paths.unfinished, flags, hook: paths.hook)
            var names: [String] = []
            let number = directory.forEachName { names.append(String(decoding: $0, as: UTF8.self)) }
            guard number == 0 else { return false }
            for name in names where name.hasPrefix(UnfinishedFile.prefix) {
                guard let file = try? Descriptor(opening: name, beneath: directory, O_RDONLY | O_NONBLOCK) else {
                    continue
                }
                if file.lock() { _ = directory.unlink(name) }
                // The file stays locked until it is removed. If its creator has yet to lock the file, the creator
                // notices the removal and makes another file.
                extendLifetime(file)
            }
            return true
        } catch {
            return [ENOENT, ENOTDIR].contains(error.number)
        }
    }

    /// Removes a file or directory that does not belong to the cache and has a name that the cache needs.
    func clear(_ path: String) { DirectoryRemoval.remove(path) }
}
