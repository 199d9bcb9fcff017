import AlcedoCore
import AlcedoLibc
import FoundationEssentials

/// The files of a disk cache. Every call blocks.
///
/// Nothing but regular files is read. No link is followed for anything, whether in the place of an entry or of its folder;
/// only the cache's directory itself may be one.
struct EntryFolder: Sendable {
    enum Reading {
        case whole(CachedData, storedAt: Timestamp, size: FileSize)
        case absent
        /// What stands in the entry's place is not a whole entry.
        case damaged
        /// It may be whole, but is not to be had now, or not in this way.
        case unavailable
    }

    /// What a file says of itself, unverified.
    struct Outline {
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
    let unfinished: UnfinishedFolder

    init(paths: EntryPaths) {
        self.paths = paths
        unfinished = UnfinishedFolder(paths.unfinished)
    }

    /// Opens the cache's directory, only to look up what is in it: by its path, since it may have been made anew.
    func openDirectory() throws(SystemRefusal) -> Descriptor {
        try Descriptor(opening: paths.directory, Descriptor.onlyPath)
    }

    /// Opens the folder of an entry, only to look up what is in it.
    func openShard(
        of name: EntryName, in directory: borrowing Descriptor
    ) throws(SystemRefusal) -> Descriptor {
        try Descriptor(opening: paths.shard(of: name), beneath: directory, Descriptor.onlyPath)
    }

    func openFile(
        _ name: EntryName, _ suffix: [UInt8]? = nil, in directory: borrowing Descriptor
    ) throws(SystemRefusal) -> Descriptor {
        let number: Result<Descriptor, SystemRefusal> = paths.withFile(name, suffix) { path in
            Result { () throws(SystemRefusal) in
                try Descriptor(opening: path, beneath: directory, O_RDONLY | O_NONBLOCK)
            }
        }
        return try number.get()
    }
}
