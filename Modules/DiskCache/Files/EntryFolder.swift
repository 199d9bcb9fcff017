import AlcedoCore
import FoundationEssentials
import Glibc
import Synchronization

/// The files of a disk cache: 256 folders by the first two digits of an entry's name, and one for unfinished files.
///
/// Every call blocks. Nothing but regular files is read; links in the place of entries are not followed, and folders
/// of entries that are links are not looked into.
struct EntryFolder: Sendable {
    struct Listed: Sendable {
        var name: String
        var size: Int
        var lastUse: Date
    }

    enum Reading {
        case whole(CachedData, size: Int)
        case absent
        /// What stands in the entry's place is not a whole entry.
        case damaged
    }

    let path: String

    private var unfinished: String { "\(path)/unfinished" }
    // Process numbers come again, in containers at every start; what is left of a dead one must be in nobody's way.
    private static let process = String(UInt64.random(in: .min ... .max), radix: 36)
    private static let serial = Atomic<Int>(0)

    /// nil when `directory` is not a path that the system understands.
    init?(_ directory: URL) {
        path = directory.path(percentEncoded: false)
        guard directory.isFileURL, !path.isEmpty, !path.utf8.contains(0) else { return nil }
    }

    private func file(_ name: String) -> String { "\(path)/\(name.prefix(2))/\(name.dropFirst(2))" }

    /// Reads and verifies an entry, and dates its use.
    func read(_ name: String, key: ImageKey, largest: Int, usedAt date: Date) -> Reading {
        let descriptor: Descriptor
        do {
            descriptor = try Descriptor(opening: file(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        } catch {
            // A link or a socket in the place of the file is damage; a file that is not to be had now may be whole.
            return [ELOOP, ENXIO, ENODEV].contains(error.number) ? .damaged : .absent
        }
        guard let size = descriptor.regularFileSize, size <= largest, let bytes = descriptor.read(size),
            let (dataCount, metadata) = bytes.withBytes({ EntryFile.decode($0, key: key) })
        else { return .damaged }
        descriptor.setModificationTime(date)
        return .whole(CachedData(bytes.prefix(dataCount), metadata: metadata), size: size)
    }

    /// Writes an entry beside its place and renames it into it. Makes folders that are missing.
    func write(_ image: EntryFile.Image, name: String, usedAt date: Date) throws(DataCacheError) {
        let target = file(name)
        let serial = Self.serial.add(1, ordering: .relaxed).newValue
        let temporary = "\(unfinished)/entry-\(Self.process)-\(serial)"
        let descriptor = try create(temporary)
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

    private func create(_ temporary: String) throws(DataCacheError) -> Descriptor {
        do throws(SystemRefusal) {
            return try Descriptor(creating: temporary)
        } catch {
            guard error.number == ENOENT else { throw self.error(error.number, "write to") }
        }
        try makeFolder(unfinished)
        do throws(SystemRefusal) {
            return try Descriptor(creating: temporary)
        } catch {
            throw self.error(error.number, "write to")
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
        // Nothing but what has an entry's name is ours: somebody may have named the wrong directory.
        for shard in names(in: path, followsLink: true) where Self.isHexadecimal(shard, count: 2) {
            for rest in names(in: "\(path)/\(shard)") where Self.isHexadecimal(rest, count: 62) {
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

    /// Removes unfinished files that nobody writes any more.
    func removeAbandonedFiles() {
        for name in names(in: unfinished) where name.hasPrefix("entry-") {
            let file = "\(unfinished)/\(name)"
            guard let descriptor = try? Descriptor(opening: file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else { continue }
            if descriptor.lock() { unlink(file) }
        }
    }

    private static func isHexadecimal(_ name: String, count: Int) -> Bool {
        name.utf8.count == count && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private func names(in folder: String, followsLink: Bool = false) -> [String] {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW))
        guard descriptor >= 0 else { return [] }
        guard let stream = fdopendir(descriptor) else {
            close(descriptor)
            return []
        }
        defer { closedir(stream) }
        // The name ends where its zero byte is: an entry is shorter than its type, and must not be copied as one.
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return [] }
        var names: [String] = []
        while let entry = readdir(stream) {
            let bytes = UnsafeRawPointer(entry) + offset
            let name = String(cString: bytes.assumingMemoryBound(to: CChar.self))
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
