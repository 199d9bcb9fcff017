import AlcedoCore
import FoundationEssentials
import Glibc
import Synchronization

/// The files of a disk cache: 256 folders by the first two digits of an entry's name, and one for unfinished files.
///
/// Every call blocks. Symbolic links are never followed, and nothing but regular files is read.
struct EntryFolder: Sendable {
    struct Listed: Sendable {
        var name: String
        var size: Int
        var lastUse: Date
    }

    enum Reading {
        case whole(CachedData, size: Int)
        case absent
        /// The file was not a whole entry, and has been removed.
        case damaged
    }

    let path: String

    private var unfinished: String { "\(path)/unfinished" }
    private static let serial = Atomic<Int>(0)

    private func file(_ name: String) -> String { "\(path)/\(name.prefix(2))/\(name.dropFirst(2))" }

    /// Reads and verifies an entry, and dates its use.
    func read(_ name: String, key: ImageKey, largest: Int, usedAt date: Date) -> Reading {
        let file = file(name)
        guard let descriptor = Descriptor(opening: file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else {
            // A link or a folder where the file should be is damage too; an absent file is not.
            guard errno != ENOENT && errno != EACCES && errno != EMFILE && errno != ENFILE else { return .absent }
            remove(name)
            return .damaged
        }
        guard let size = descriptor.regularFileSize, size <= largest, let bytes = descriptor.read(size),
            let (dataCount, metadata) = bytes.withBytes({ EntryFile.decode($0, key: key) })
        else {
            remove(name)
            return .damaged
        }
        descriptor.setModificationTime(date)
        return .whole(CachedData(bytes.prefix(dataCount), metadata: metadata), size: size)
    }

    /// Writes an entry beside its place and renames it into it. Makes folders that are missing.
    func write(_ image: EntryFile.Image, name: String, usedAt date: Date) throws(DataCacheError) {
        let target = file(name)
        let serial = Self.serial.add(1, ordering: .relaxed).newValue
        let temporary = "\(unfinished)/\(getpid())-\(serial)"
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        var opened = Descriptor(opening: temporary, flags)
        if opened == nil, errno == ENOENT {
            try makeFolder(unfinished)
            opened = Descriptor(opening: temporary, flags)
        }
        guard let descriptor = opened else { throw error(errno, "write to") }
        do throws(DataCacheError) {
            guard descriptor.write(image.data), descriptor.write(image.rest) else { throw error(errno, "write to") }
            descriptor.setModificationTime(date)
            if rename(temporary, target) != 0 {
                guard errno == ENOENT || errno == ENOTDIR || errno == EISDIR else { throw error(errno, "write to") }
                if errno == EISDIR { removeTree(target) }
                try makeFolder("\(path)/\(name.prefix(2))")
                guard rename(temporary, target) == 0 else { throw error(errno, "write to") }
            }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    @discardableResult
    func remove(_ name: String) -> Bool {
        let file = file(name)
        if unlink(file) == 0 { return true }
        if errno == EISDIR { removeTree(file) }
        return false
    }

    /// All entries, by their files' sizes and dates. Reads no file.
    func list() -> [Listed] {
        var entries: [Listed] = []
        for shard in names(in: path) where shard.utf8.count == 2 {
            for rest in names(in: "\(path)/\(shard)") {
                var status = stat()
                guard lstat("\(path)/\(shard)/\(rest)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                    continue
                }
                let seconds = Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9
                entries.append(
                    Listed(
                        name: shard + rest, size: Int(status.st_size), lastUse: Date(timeIntervalSince1970: seconds)))
            }
        }
        return entries
    }

    /// Removes unfinished files of processes that are no more.
    func removeAbandonedFiles() {
        for name in names(in: unfinished) {
            guard let owner = Int32(name.prefix { $0 != "-" }), owner != getpid() else { continue }
            if kill(owner, 0) != 0, errno == ESRCH { unlink("\(unfinished)/\(name)") }
        }
    }

    private func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private func makeFolder(_ folder: String) throws(DataCacheError) {
        var made = ""
        for part in folder.split(separator: "/", omittingEmptySubsequences: true) {
            made += folder.hasPrefix("/") || !made.isEmpty ? "/\(part)" : "\(part)"
            guard mkdir(made, 0o700) == 0 || errno == EEXIST else { throw error(errno, "make") }
        }
    }

    /// Removes a folder that stands where a file of ours should be. Only what is in it by links is left alone.
    private func removeTree(_ folder: String, depth: Int = 0) {
        guard depth < 16 else { return }
        for name in names(in: folder) where unlink("\(folder)/\(name)") != 0 {
            removeTree("\(folder)/\(name)", depth: depth + 1)
        }
        rmdir(folder)
    }

    private func error(_ number: Int32, _ action: String) -> DataCacheError {
        let code: DataCacheError.Code =
            switch number {
            case ENOSPC, EDQUOT, EFBIG: .noSpace
            case EACCES, EPERM, EROFS, ENOTDIR, ENOENT, ELOOP: .notWritable
            default: .failed
            }
        return DataCacheError(
            code, "cannot \(action) the cache directory \(path): \(String(cString: strerror(number)))")
    }
}
