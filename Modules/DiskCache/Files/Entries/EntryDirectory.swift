import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials

/// The files of a disk cache. Every call blocks.
///
/// Nothing but regular files is read. No link is followed for anything, whether in the place of an entry or of its folder;
/// only the cache's directory itself may be one.
struct EntryDirectory: Sendable {
    enum Reading {
        case valid(CachedData, storedAt: Timestamp, size: FileSize)
        case absent
        /// What stands in the entry's place is not a whole entry.
        case damaged
        /// It may be whole, but is not to be had now, or not in this way.
        case unavailable
    }

    /// What a file says of itself, unverified.
    struct Summary {
        var trailer: EntryTrailer
        var size: FileSize
        var resourceHash: UInt64
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
        unfinished = UnfinishedDirectory(paths.unfinished)
    }

    /// Opens the cache's directory, only to look up what is in it: by its path, since it may have been made anew.
    func openDirectory() throws(SystemError) -> Descriptor {
        try Descriptor(opening: paths.directory, Descriptor.onlyPath)
    }

    /// Opens the folder of an entry, only to look up what is in it.
    func openShard(
        of name: EntryName, in directory: borrowing Descriptor
    ) throws(SystemError) -> Descriptor {
        try Descriptor(opening: paths.shard(of: name), beneath: directory, Descriptor.onlyPath)
    }

    func openFile(
        _ name: EntryName, _ suffix: [UInt8]? = nil, in directory: borrowing Descriptor
    ) throws(SystemError) -> Descriptor {
        let number: Result<Descriptor, SystemError> = paths.withFile(name, suffix) { path in
            Result { () throws(SystemError) in
                try Descriptor(opening: path, beneath: directory, O_RDONLY | O_NONBLOCK)
            }
        }
        return try number.get()
    }
}

extension EntryDirectory {
    /// Whether both are one directory, or that is not to be told.
    func isSame(as other: EntryDirectory) -> Bool {
        var (status, otherStatus) = (stat(), stat())
        guard stat(paths.directory, &status) == 0 else { return true }
        guard stat(other.paths.directory, &otherStatus) == 0 else { return errno != ENOENT }
        return status.st_dev == otherStatus.st_dev && status.st_ino == otherStatus.st_ino
    }

    /// Calls `body` with the name of every file that an entry could have, and with its extension where that is another one
    /// than the cache gives. Reads no file.
    ///
    /// - Throws: Why a folder cannot be looked into. What is in it then may be there all the same.
    func forEachName(_ body: (EntryName, _ otherSuffix: [UInt8]?) -> Void) throws(SystemError) {
        let suffix = paths.suffixBytes
        guard let directory = try openIfThere() else { return }
        // Nothing but what has an entry's name is ours: somebody may have named the wrong directory.
        var shards: [String] = []
        var number = directory.forEachName { name in
            if name.count == 2 { shards.append(String(decoding: name, as: UTF8.self)) }
        }
        for shard in shards where number == 0 {
            number = directory.forEachName(in: shard) { rest in
                guard rest.count >= 62, let name = EntryName(digits: Array(shard.utf8) + rest[..<62]),
                    rest.count == 62 || rest[62] == UInt8(ascii: ".")
                else { return }
                let isUsual = rest[62...].elementsEqual(suffix)
                body(name, isUsual ? nil : Array(rest[62...]))
            }
        }
        if number != 0 { throw SystemError(number: number) }
    }

    /// nil when there is no directory.
    private func openIfThere() throws(SystemError) -> Descriptor? {
        do throws(SystemError) {
            return try openDirectory()
        } catch {
            guard [ENOENT, ENOTDIR, ELOOP].contains(error.number) else { throw error }
            return nil
        }
    }

    /// Removes links that stand in the places of entries' folders. Returns the first digits of the entries that should be
    /// there.
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

    /// Removes unfinished files that nobody writes any more. False when they are not to be had now.
    @discardableResult
    func removeAbandonedFiles() -> Bool {
        do throws(SystemError) {
            let directory = try Descriptor(opening: paths.unfinished, Descriptor.onlyPath | O_NOFOLLOW)
            var names: [String] = []
            let number = directory.forEachName { names.append(String(decoding: $0, as: UTF8.self)) }
            guard number == 0 else { return false }
            for name in names where name.hasPrefix(UnfinishedFile.prefix) {
                guard let file = try? Descriptor(opening: name, beneath: directory, O_RDONLY | O_NONBLOCK) else {
                    continue
                }
                if file.lock() { _ = directory.unlink(name) }
                // Locked until it has no name: whoever has made it and not locked it yet then takes another.
                extendLifetime(file)
            }
            return true
        } catch {
            return [ENOENT, ENOTDIR].contains(error.number)
        }
    }

    /// Makes way where something stands that is no file of ours.
    func clear(_ path: String) { DirectoryRemoval.remove(path) }
}
