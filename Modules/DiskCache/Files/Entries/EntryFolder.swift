import AlcedoCore
import FoundationEssentials
import Glibc

/// The files of a disk cache. Every call blocks.
///
/// Nothing but regular files is read; links in the place of entries are not followed, and folders of entries that are
/// links are not looked into.
struct EntryFolder: Sendable {
    enum Reading {
        case whole(CachedData, storedAt: Timestamp, size: Int)
        case absent
        /// What stands in the entry's place is not a whole entry.
        case damaged
        /// It may be whole, but is not to be had now, or not in this way.
        case unavailable
    }

    /// What a file says of itself, unverified.
    struct Outline {
        var trailer: EntryTrailer
        var size: Int
        var resourceHash: UInt64
    }

    struct VerifiedEntry {
        var key: ImageKey
        var entry: CachedData
        var storedAt: Timestamp
        /// Bytes of the file.
        var size: Int
    }

    let paths: EntryPaths

    // MARK: Reading

    /// Opens the file of an entry, and tells its size.
    func open(_ name: EntryName) -> Opening {
        paths.withFile(name) { Self.open($0) }
    }

    private static func open(_ path: UnsafePointer<CChar>) -> Opening {
        let descriptor: Descriptor
        do {
            descriptor = try Descriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        } catch {
            return switch error.number {
            case ENOENT, ENOTDIR: .absent
            // A link or a socket in the place of the file.
            case ELOOP, ENXIO, ENODEV: .damaged
            default: .unavailable(error)
            }
        }
        guard let size = descriptor.regularFileSize, size >= EntryTrailer.size else {
            return .damaged
        }
        return .open(descriptor, size: size)
    }

    enum Opening: ~Copyable {
        case open(Descriptor, size: Int)
        case absent
        case damaged
        /// The file may be whole, but is not to be had now: the process has no descriptors left, for one.
        case unavailable(SystemRefusal)

        /// nil when there is none, or none of an entry.
        consuming func file() throws(SystemRefusal) -> OpenFile? {
            switch consume self {
            case .open(let descriptor, let size): return OpenFile(descriptor: descriptor, size: size)
            case .absent: return nil
            case .damaged: return nil
            case .unavailable(let refusal): throw refusal
            }
        }
    }

    struct OpenFile: ~Copyable {
        let descriptor: Descriptor
        let size: Int
    }

    /// Reads and verifies an entry.
    ///
    /// - Parameter isMapped: Whether the data is the file itself, mapped into memory, rather than a copy.
    func read(_ name: EntryName, key: ImageKey, isMapped: Bool) -> Reading {
        switch open(name) {
        case .absent: .absent
        case .damaged: .damaged
        case .unavailable: .unavailable
        case .open(let descriptor, let size):
            if isMapped {
                Self.map(descriptor, size, key)
            } else if Self.trailer(descriptor, size) == nil {
                // All of a foreign file may be more than there is memory for.
                .damaged
            } else {
                Self.read(descriptor, size, key)
            }
        }
    }

    /// Reads and verifies an entry in a directory that is open, and nothing but the whole of it.
    ///
    /// - Parameter size: Of the file.
    func read(_ name: EntryName, key: ImageKey, size: Int, in directory: borrowing Descriptor) -> Reading {
        let descriptor = paths.withRelativeFile(name) { path in
            try? Descriptor(opening: path, in: directory, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        }
        guard let descriptor else { return .unavailable }
        return Self.read(descriptor, size, key)
    }

    private static func read(_ descriptor: borrowing Descriptor, _ size: Int, _ key: ImageKey) -> Reading {
        guard let bytes = descriptor.readAll(size), let (trailer, metadata) = bytes.withBytes({ verify($0, key: key) })
        else { return .damaged }
        return .whole(
            CachedData(bytes.prefix(trailer.dataCount), metadata: metadata, expiry: trailer.expiry?.date),
            storedAt: trailer.storedAt, size: size)
    }

    private static func map(_ descriptor: borrowing Descriptor, _ size: Int, _ key: ImageKey) -> Reading {
        guard let memory = descriptor.map(size) else { return .unavailable }
        let file = UnsafeRawBufferPointer(start: memory, count: size)
        guard let (trailer, metadata) = verify(file.bytes, key: key) else {
            munmap(memory, size)
            return .damaged
        }
        let data = Data(
            bytesNoCopy: memory, count: trailer.dataCount, deallocator: .custom { start, _ in munmap(start, size) })
        return .whole(
            CachedData(data, metadata: metadata, expiry: trailer.expiry?.date), storedAt: trailer.storedAt, size: size)
    }

    private static func verify(_ file: RawSpan, key: ImageKey) -> (EntryTrailer, metadata: Data)? {
        guard let trailer = EntryFile.verify(file) else { return nil }
        let notes = file.extracting(trailer.dataCount..<trailer.dataCount + trailer.notesCount)
        guard EntryFile.notes(notes, of: trailer, belongTo: key) else { return nil }
        return (trailer, EntryFile.metadata(notes, of: trailer))
    }

    /// An entry that is verified and has the right name, with its key; nil for any other.
    ///
    /// - Parameter path: Where its file is, if not where the cache would have it.
    /// - Throws: Why the file is not to be had now.
    func verifiedEntry(
        _ name: EntryName, at path: String? = nil
    ) throws(SystemRefusal) -> VerifiedEntry? {
        let opening = path.map { Self.open($0) } ?? open(name)
        guard let file = try opening.file(), Self.trailer(file.descriptor, file.size) != nil,
            let bytes = file.descriptor.read(file.size)
        else { return nil }
        let size = file.size
        let found = bytes.withBytes { file -> (EntryTrailer, ImageKey, metadata: Data)? in
            guard let trailer = EntryFile.verify(file) else { return nil }
            let notes = file.extracting(trailer.dataCount..<trailer.dataCount + trailer.notesCount)
            guard let key = EntryFile.key(notes, of: trailer), EntryName(key) == name else { return nil }
            return (trailer, key, EntryFile.metadata(notes, of: trailer))
        }
        guard let (trailer, key, metadata) = found else { return nil }
        let entry = CachedData(
            bytes.prefix(trailer.dataCount), metadata: metadata, expiry: trailer.expiry?.date)
        return VerifiedEntry(key: key, entry: entry, storedAt: trailer.storedAt, size: size)
    }

    /// What the file of an entry says of itself; nil for what is no entry. Reads its end only.
    ///
    /// - Throws: Why the file is not to be had now.
    func outline(_ name: EntryName) throws(SystemRefusal) -> Outline? {
        guard let file = try open(name).file() else { return nil }
        let size = file.size
        guard let trailer = Self.trailer(file.descriptor, size),
            let hash = file.descriptor.read(trailer.resourceCount, at: trailer.dataCount)?.withBytes({ XXH64.hash($0) })
        else { return nil }
        return Outline(trailer: trailer, size: size, resourceHash: hash)
    }

    /// nil for the file of no entry.
    private static func trailer(_ descriptor: borrowing Descriptor, _ size: Int) -> EntryTrailer? {
        descriptor.read(EntryTrailer.size, at: size - EntryTrailer.size)?.withBytes { EntryTrailer($0, fileSize: size) }
    }

    /// Whether something has the entry's name, or that is not to be told. A link counts.
    func contains(_ name: EntryName) -> Bool {
        paths.withFile(name) { path in
            var status = stat()
            return lstat(path, &status) == 0 || errno != ENOENT && errno != ENOTDIR
        }
    }

    // MARK: Writing

    /// Writes an entry beside its place. Makes folders that are missing.
    func write(_ image: EntryFile.Image, durability: Durability) throws(DataCacheError) -> UnfinishedFile {
        let file = try makeUnfinishedFile()
        guard file.descriptor.write(image.data.bytes, image.rest.span.bytes),
            durability == .none || file.descriptor.synchronize()
        else { throw refusal.cacheError("write to", paths.directory) }
        return file
    }

    func makeUnfinishedFile() throws(DataCacheError) -> UnfinishedFile {
        var refusal = SystemRefusal(number: ENOENT)
        for _ in 0..<8 {
            do throws(SystemRefusal) {
                return try UnfinishedFile(in: paths.unfinished)
            } catch {
                refusal = error
            }
            switch refusal.number {
            case ENOENT: try makeFolder(paths.unfinished)
            case UnfinishedFile.sweptAway: continue
            default: throw refusal.cacheError("write to", paths.directory)
            }
        }
        throw refusal.cacheError("write to", paths.directory)
    }

    /// Moves a written file into its entry's place.
    func place(_ file: UnfinishedFile, as name: EntryName, durability: Durability) throws(DataCacheError) {
        do throws(SystemRefusal) {
            do throws(SystemRefusal) {
                try move(file, to: name)
            } catch {
                guard [ENOENT, ENOTDIR, EISDIR].contains(error.number) else { throw error }
                if error.number == EISDIR { removeTree(paths.file(name)) }
                guard mkdir(paths.shard(of: name), 0o700) == 0 || errno == EEXIST else {
                    throw SystemRefusal(number: errno)
                }
                try move(file, to: name)
            }
            if durability == .directory {
                try synchronize(paths.shard(of: name))
                // That folder may be new. If it is not, this costs next to nothing.
                try synchronize(paths.directory)
            }
        } catch {
            throw error.cacheError("write to", paths.directory)
        }
    }

    private func move(_ file: UnfinishedFile, to name: EntryName) throws(SystemRefusal) {
        let refusal = paths.withFile(name) { path -> SystemRefusal? in
            do throws(SystemRefusal) {
                try file.move(to: path)
                return nil
            } catch {
                return error
            }
        }
        if let refusal { throw refusal }
    }

    private func synchronize(_ folder: String) throws(SystemRefusal) {
        let descriptor = try Descriptor(opening: folder, O_RDONLY | O_DIRECTORY)
        guard descriptor.synchronize() else { throw refusal }
    }

    /// Whether something is gone that was there.
    @discardableResult
    func remove(_ name: EntryName) -> Bool {
        let number = paths.withFile(name) { unlink($0) == 0 ? 0 : errno }
        if number == EISDIR { removeTree(paths.file(name)) }
        return number == 0
    }

    func makeFolder(_ folder: String) throws(DataCacheError) {
        var made = ""
        for part in folder.split(separator: "/", omittingEmptySubsequences: true) {
            made += folder.hasPrefix("/") || !made.isEmpty ? "/\(part)" : "\(part)"
            guard mkdir(made, 0o700) == 0 || errno == EEXIST else {
                throw refusal.cacheError("make", paths.directory)
            }
        }
    }

    private var refusal: SystemRefusal { SystemRefusal(number: errno) }

    // MARK: Sweeping

    /// Whether both are one directory, or that is not to be told.
    func isSame(as other: EntryFolder) -> Bool {
        var (status, otherStatus) = (stat(), stat())
        guard stat(paths.directory, &status) == 0 else { return true }
        guard stat(other.paths.directory, &otherStatus) == 0 else { return errno != ENOENT }
        return status.st_dev == otherStatus.st_dev && status.st_ino == otherStatus.st_ino
    }

    /// Calls `body` with the name of every file that an entry could have, and with its path where that has another
    /// extension than the cache gives. Reads no file.
    ///
    /// - Throws: Why a folder cannot be looked into. What is in it then may be there all the same.
    func forEachName(_ body: (EntryName, _ otherPath: String?) -> Void) throws(SystemRefusal) {
        let suffix = Array(paths.suffix.utf8)
        // Nothing but what has an entry's name is ours: somebody may have named the wrong directory.
        var shards: [String] = []
        var number = FolderListing.forEachName(in: paths.directory, followsLink: true) { name in
            if name.count == 2 { shards.append(String(decoding: name, as: UTF8.self)) }
        }
        for shard in shards where number == 0 {
            let folder = "\(paths.directory)/\(shard)"
            number = FolderListing.forEachName(in: folder) { rest in
                guard rest.count >= 62, let name = EntryName(digits: Array(shard.utf8) + rest[..<62]),
                    rest.count == 62 || rest[62] == UInt8(ascii: ".")
                else { return }
                let isUsual = rest[62...].elementsEqual(suffix)
                body(name, isUsual ? nil : "\(folder)/\(String(decoding: rest, as: UTF8.self))")
            }
        }
        if number != 0 { throw SystemRefusal(number: number) }
    }

    /// Removes unfinished files that nobody writes any more.
    func removeAbandonedFiles() {
        for name in FolderListing.names(in: paths.unfinished) where name.hasPrefix(UnfinishedFile.prefix) {
            let file = "\(paths.unfinished)/\(name)"
            guard let descriptor = try? Descriptor(opening: file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else { continue }
            if descriptor.lock() { unlink(file) }
        }
    }

    /// Makes way where something stands that is no file of ours.
    func clear(_ path: String) {
        if unlink(path) != 0 { removeTree(path) }
    }

    /// Removes a folder that stands where a file of ours should be. Only what is in it by links is left alone.
    private func removeTree(_ folder: String, depth: Int = 0) {
        guard depth < 16 else { return }
        for name in FolderListing.names(in: folder) where unlink("\(folder)/\(name)") != 0 {
            removeTree("\(folder)/\(name)", depth: depth + 1)
        }
        rmdir(folder)
    }
}
