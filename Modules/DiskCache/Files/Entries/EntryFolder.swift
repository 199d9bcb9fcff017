import AlcedoCore
import FoundationEssentials
import Glibc

/// The files of a disk cache. Every call blocks.
///
/// Nothing but regular files is read. No link is followed for anything, whether in the place of an entry or of its folder;
/// only the cache's directory itself may be one.
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
    private let unfinished: UnfinishedFolder

    init(paths: EntryPaths) {
        self.paths = paths
        unfinished = UnfinishedFolder(paths.unfinished)
    }

    /// Opens the cache's directory, only to look up what is in it: by its path, since it may have been made anew.
    private func openDirectory() throws(SystemRefusal) -> Descriptor {
        try Descriptor(opening: paths.directory, Descriptor.onlyPath)
    }

    /// Opens the folder of an entry, only to look up what is in it.
    private func openShard(
        of name: EntryName, in directory: borrowing Descriptor
    ) throws(SystemRefusal) -> Descriptor {
        try Descriptor(opening: paths.shard(of: name), beneath: directory, Descriptor.onlyPath)
    }

    private func openFile(
        _ name: EntryName, _ suffix: [UInt8]? = nil, in directory: borrowing Descriptor
    ) throws(SystemRefusal) -> Descriptor {
        let number: Result<Descriptor, SystemRefusal> = paths.withFile(name, suffix) { path in
            Result { () throws(SystemRefusal) in
                try Descriptor(opening: path, beneath: directory, O_RDONLY | O_NONBLOCK)
            }
        }
        return try number.get()
    }

    // MARK: Reading

    /// Opens the file of an entry, and tells its size.
    func open(_ name: EntryName, suffix: [UInt8]? = nil) -> Opening {
        do throws(SystemRefusal) {
            let descriptor = try openFile(name, suffix, in: openDirectory())
            guard let size = try descriptor.regularFileSize(), size >= EntryTrailer.size else { return .damaged }
            return .open(descriptor, size: size)
        } catch {
            return switch error.number {
            case ENOENT, ENOTDIR: .absent
            // A link or a socket in the place of the file, or a link in that of its folder.
            case ELOOP, ENXIO, ENODEV: .damaged
            default: .unavailable(error)
            }
        }
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
            Self.read(descriptor, size, key, isMapped: isMapped)
        }
    }

    /// Reads and verifies an entry in a directory that is open, and nothing but the whole of it.
    ///
    /// - Parameter size: Of the file.
    func read(_ name: EntryName, key: ImageKey, size: Int, in directory: borrowing Descriptor) -> Reading {
        do throws(SystemRefusal) {
            return try Self.copy(openFile(name, in: directory), size, key)
        } catch {
            return .unavailable
        }
    }

    private static func read(
        _ descriptor: borrowing Descriptor, _ size: Int, _ key: ImageKey, isMapped: Bool
    ) -> Reading {
        do throws(SystemRefusal) {
            guard try hasTrailer(descriptor, size) else { return .damaged }
            return isMapped ? try map(descriptor, size, key) : try copy(descriptor, size, key)
        } catch {
            return .unavailable
        }
    }

    /// Whether a file ends as an entry of its size does. Asked before there has to be memory for all of it: a file may claim
    /// to be of any size.
    private static func hasTrailer(_ descriptor: borrowing Descriptor, _ size: Int) throws(SystemRefusal) -> Bool {
        let end = try descriptor.read(EntryTrailer.size, at: size - EntryTrailer.size)
        return end?.withBytes { EntryTrailer($0, fileSize: size) } != nil
    }

    private static func copy(
        _ descriptor: borrowing Descriptor, _ size: Int, _ key: ImageKey
    ) throws(SystemRefusal) -> Reading {
        guard let bytes = try descriptor.readAll(size),
            let (trailer, metadata) = bytes.withBytes({ verify($0, key: key) })
        else { return .damaged }
        return .whole(
            CachedData(bytes.prefix(trailer.dataCount), metadata: metadata, expiry: trailer.expiry?.date),
            storedAt: trailer.storedAt, size: size)
    }

    private static func map(
        _ descriptor: borrowing Descriptor, _ size: Int, _ key: ImageKey
    ) throws(SystemRefusal) -> Reading {
        let memory = try descriptor.map(size)
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
    /// - Parameter suffix: What the file's name ends with, if not with what the cache would give it.
    /// - Throws: Why the file is not to be had now.
    func verifiedEntry(
        _ name: EntryName, suffix: [UInt8]? = nil
    ) throws(SystemRefusal) -> VerifiedEntry? {
        guard let file = try open(name, suffix: suffix).file(),
            try Self.hasTrailer(file.descriptor, file.size), let bytes = try file.descriptor.read(file.size)
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
        let end = try file.descriptor.read(EntryTrailer.size, at: size - EntryTrailer.size)
        guard let trailer = end?.withBytes({ EntryTrailer($0, fileSize: size) }) else { return nil }
        let resource = try file.descriptor.read(trailer.resourceCount, at: trailer.dataCount)
        guard let hash = resource?.withBytes({ XXH64.hash($0) }) else { return nil }
        return Outline(trailer: trailer, size: size, resourceHash: hash)
    }

    /// The size of an entry's file, and when it was written, in seconds since 1970; nil when there is none, or that is not
    /// to be told.
    func sizeAndDate(of name: EntryName) -> (size: Int, written: Double)? {
        guard let directory = try? openDirectory(), let shard = try? openShard(of: name, in: directory) else {
            return nil
        }
        let found: stat? = paths.withFileName(name) { shard.status(of: $0) }
        guard let status = found, status.st_mode & S_IFMT == S_IFREG else { return nil }
        // No sum of integers: the date of a file may be any.
        return (Int(status.st_size), Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9)
    }

    /// Whether something has the entry's name, or that is not to be told. A link counts, and so does one in the place of
    /// its folder.
    func contains(_ name: EntryName) -> Bool {
        do throws(SystemRefusal) {
            let shard = try openShard(of: name, in: openDirectory())
            return paths.withFileName(name) { shard.kind(of: $0) != nil || errno != ENOENT && errno != ENOTDIR }
        } catch {
            return error.number != ENOENT && error.number != ENOTDIR
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
                return try unfinished.makeFile()
            } catch {
                refusal = error
            }
            switch refusal.number {
            case ENOENT: try makeFolder(paths.unfinished)
            case ENOTDIR where isLink(paths.unfinished): unlink(paths.unfinished)
            case UnfinishedFile.sweptAway: continue
            default: throw refusal.cacheError("write to", paths.directory)
            }
        }
        throw refusal.cacheError("write to", paths.directory)
    }

    private func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Moves a written file into its entry's place. A folder there, or a link in the place of the entry's folder, makes way.
    ///
    /// - Parameter directory: The cache's.
    /// - Returns: Whether something made way that was damage.
    func place(
        _ file: UnfinishedFile, as name: EntryName, in directory: borrowing Descriptor, durability: Durability
    ) throws(DataCacheError) -> Bool {
        do throws(SystemRefusal) {
            var hasMadeWay = false
            let shard = try makeShard(of: name, in: directory, &hasMadeWay)
            var number = paths.withFileName(name) { file.move(to: shard, $0) }
            if number == EISDIR {
                paths.withFileName(name) { shard.clear($0) }
                hasMadeWay = true
                number = paths.withFileName(name) { file.move(to: shard, $0) }
            }
            guard number == 0 else {
                // The folder that is held may be that of a directory that had this path before.
                unfinished.forget()
                throw SystemRefusal(number: number)
            }
            if durability == .directory {
                // The shard is only looked up in.
                let folder = try Descriptor(opening: ".", beneath: shard, O_RDONLY | O_DIRECTORY)
                // That folder may be new. If it is not, this costs next to nothing.
                let parent = try Descriptor(opening: ".", beneath: directory, O_RDONLY | O_DIRECTORY)
                guard folder.synchronize(), parent.synchronize() else { throw refusal }
            }
            return hasMadeWay
        } catch {
            throw error.cacheError("write to", paths.directory)
        }
    }

    /// The folder of an entry, made where there is none.
    private func makeShard(
        of name: EntryName, in directory: borrowing Descriptor, _ hasMadeWay: inout Bool
    ) throws(SystemRefusal) -> Descriptor {
        do throws(SystemRefusal) {
            return try openShard(of: name, in: directory)
        } catch {
            guard [ENOENT, ELOOP].contains(error.number) else { throw error }
            if error.number == ELOOP {
                _ = directory.unlink(paths.shard(of: name))
                hasMadeWay = true
            }
        }
        try directory.makeFolder(paths.shard(of: name))
        return try openShard(of: name, in: directory)
    }

    /// Removes an entry, or what stands in its place, or a link in the place of its folder.
    ///
    /// - Parameters:
    ///   - suffix: What the file's name ends with, if not with what the cache would give it.
    ///   - directory: The cache's.
    /// - Returns: Whether a file is gone that was there.
    @discardableResult
    func remove(_ name: EntryName, suffix: [UInt8]? = nil, in directory: borrowing Descriptor) -> Bool {
        do throws(SystemRefusal) {
            let shard = try openShard(of: name, in: directory)
            return paths.withFileName(name, suffix) { file in
                let number = shard.unlink(file)
                if number == EISDIR { shard.clear(file) }
                return number == 0
            }
        } catch {
            if error.number == ELOOP { _ = directory.unlink(paths.shard(of: name)) }
            return false
        }
    }

    /// The same where the directory is.
    @discardableResult
    func remove(_ name: EntryName, suffix: [UInt8]? = nil) -> Bool {
        guard let directory = try? openDirectory() else { return false }
        return remove(name, suffix: suffix, in: directory)
    }

    /// Gives a file that has another extension the one that the cache gives; where that name is taken, it goes. Returns
    /// whether it has the name now.
    func rename(_ name: EntryName, from suffix: [UInt8]) -> Bool {
        guard let directory = try? openDirectory(), let shard = try? openShard(of: name, in: directory) else {
            return false
        }
        return paths.withFileName(name, suffix) { other in
            paths.withFileName(name) { shard.renameOrRemove(other, $0) }
        }
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

    /// Calls `body` with the name of every file that an entry could have, and with its extension where that is another one
    /// than the cache gives. Reads no file.
    ///
    /// - Throws: Why a folder cannot be looked into. What is in it then may be there all the same.
    func forEachName(_ body: (EntryName, _ otherSuffix: [UInt8]?) -> Void) throws(SystemRefusal) {
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
        if number != 0 { throw SystemRefusal(number: number) }
    }

    /// nil when there is no directory.
    private func openIfThere() throws(SystemRefusal) -> Descriptor? {
        do throws(SystemRefusal) {
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
        do throws(SystemRefusal) {
            let folder = try Descriptor(opening: paths.unfinished, Descriptor.onlyPath | O_NOFOLLOW)
            var names: [String] = []
            let number = folder.forEachName { names.append(String(decoding: $0, as: UTF8.self)) }
            guard number == 0 else { return false }
            for name in names where name.hasPrefix(UnfinishedFile.prefix) {
                guard let file = try? Descriptor(opening: name, beneath: folder, O_RDONLY | O_NONBLOCK) else {
                    continue
                }
                if file.lock() { _ = folder.unlink(name) }
            }
            return true
        } catch {
            return [ENOENT, ENOTDIR].contains(error.number)
        }
    }

    /// Makes way where something stands that is no file of ours.
    func clear(_ path: String) { FolderRemoval.remove(path) }
}
