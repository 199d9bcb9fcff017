import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials

/// The files of large values. They are in up to 256 directories, which are named after the first two digits of the
/// entries' names.
///
/// The cache writes a value under a unique name, and in the same transaction the row that names the value. The commit
/// of the row publishes the value, so no rename is needed. The cache removes a value after its row or, if the disk is
/// full, before its row. A crash in between may leave a file that no row names. The cache removes such a file after it
/// next opens the database for a change.
///
/// All file operations block. Only regular files are read. No symbolic link is followed in place of a value or of a
/// directory. Only the path of the cache's own directory may contain symbolic links.
struct ValueDirectory: Sendable {
    private static let name = "values"

    let durability: Durability
    /// The path of the cache's directory.
    private let directory: String

    /// Creates the directory of values without accessing the file system.
    ///
    /// - Parameters:
    ///   - directory: The cache's directory.
    ///   - durability: The data that survives a power failure. The default is ``/AlcedoCore/Durability/none``.
    init(directory: URL, durability: Durability = .none) {
        self.directory = directory.path
        self.durability = durability
    }

    /// Returns the bytes of a value. Returns nil if the file is absent, is not a regular file, or has a length other
    /// than `count`.
    ///
    /// - Throws: The reason why the file cannot be read now. Its bytes may be valid.
    func read(_ name: ValueName, count: Int) throws(SQLiteFailure) -> Data? {
        do throws(SystemError) {
            let file = try Descriptor(opening: Self.path(of: name), beneath: openDirectory(), O_RDONLY | O_NONBLOCK)
            guard let size = try file.regularFileSize(), size.length == count else { return nil }
            guard let bytes = try file.read(count) else { return nil }
            return bytes.prefix(count)
        } catch {
            guard Self.isInvalid(error) else { throw failure(error.number, doing: "read a value in") }
            return nil
        }
    }

    /// Writes a new value. Returns its name, and the number of bytes that it occupies on disk. After a failure, removes
    /// the file.
    func write(_ data: Data, for key: ImageKey) throws(SQLiteFailure) -> (name: ValueName, occupiedSize: Int) {
        let name = ValueName(newFor: key)
        do throws(SystemError) {
            let file = try makeFile(name)
            guard file.write(data.bytes, RawSpan()), durability == .none || file.synchronize(),
                durability != .directory || synchronizeDirectory(of: name), let status = file.status
            else { throw SystemError(number: errno) }
            return (name, FileSize(status).occupied)
        } catch {
            remove(name)
            throw failure(error.number, doing: "write to")
        }
    }

    /// Removes the value with a name, or anything else that has this name. If a directory above the value is a symbolic
    /// link, removes that link instead. Ignores errors.
    func remove(_ name: ValueName) {
        do throws(SystemError) {
            let shard = try Descriptor(
                opening: Self.path(of: name.shard), beneath: openDirectory(), Descriptor.onlyPath)
            shard.clear(name.fileName)
        } catch {
            if error.number == ELOOP { removeLinks(above: name.shard) }
        }
    }

    /// The names that a directory of values can have.
    static let shards = (0x100...0x1FF).map { String($0, radix: 16).suffix(2) }

    /// Returns the names of the values in a directory. If the directory or `values` is a symbolic link, removes the
    /// link.
    ///
    /// - Throws: The reason why they cannot be listed now.
    func values(in shard: Substring) throws(SQLiteFailure) -> [ValueName] {
        do throws(SystemError) {
            let opened = try Descriptor(
                opening: Self.path(of: shard), beneath: openDirectory(), Descriptor.onlyPath)
            guard let names = opened.names() else { throw SystemError(number: errno) }
            return names.compactMap(ValueName.init(fileName:))
        } catch {
            if error.number == ELOOP { removeLinks(above: shard) }
            guard Self.isInvalid(error) else { throw failure(error.number, doing: "list") }
            return []
        }
    }

    private static func path(of shard: Substring) -> String { "\(name)/\(shard)" }

    private static func path(of name: ValueName) -> String { "\(path(of: name.shard))/\(name.fileName)" }

    /// Returns whether the error means that no regular file exists at the path of a value. After any other error, the
    /// value may be intact.
    private static func isInvalid(_ error: SystemError) -> Bool {
        [ENOENT, ENOTDIR, ELOOP, ENXIO, ENODEV].contains(error.number)
    }

    private func openDirectory() throws(SystemError) -> Descriptor {
        try Descriptor(opening: directory, Descriptor.onlyPath)
    }

    private func removeLinks(above shard: Substring) {
        guard let directory = try? openDirectory() else { return }
        directory.removeLink(Self.name)
        guard let values = try? Descriptor(opening: Self.name, beneath: directory, Descriptor.onlyPath) else { return }
        values.removeLink(String(shard))
    }

    private func makeFile(_ name: ValueName) throws(SystemError) -> Descriptor {
        let directory = try openDirectory()
        let flags = O_WRONLY | O_CREAT | O_EXCL
        do throws(SystemError) {
            return try Descriptor(opening: Self.path(of: name), beneath: directory, flags)
        } catch {
            guard [ENOENT, ELOOP].contains(error.number) else { throw error }
        }
        removeLinks(above: name.shard)
        try directory.makeDirectory(Self.name)
        let values = try Descriptor(opening: Self.name, beneath: directory, Descriptor.onlyPath)
        try values.makeDirectory(String(name.shard))
        return try Descriptor(opening: Self.path(of: name), beneath: directory, flags)
    }

    /// Waits until the directory of a value, and the directories above it up to the cache's own, are on the storage
    /// medium. These directories may be new. If the system refuses, returns false with the reason in `errno`.
    private func synchronizeDirectory(of name: ValueName) -> Bool {
        do throws(SystemError) {
            let directory = try openDirectory()
            for shard in [Self.path(of: name.shard), Self.name, "."] {
                let opened = try Descriptor(opening: shard, beneath: directory, O_RDONLY | O_DIRECTORY)
                guard opened.synchronize() else { return false }
            }
            return true
        } catch {
            errno = error.number
            return false
        }
    }

    private func failure(_ reason: Int32, doing action: String) -> SQLiteFailure {
        SQLiteFailure(systemError: reason, doing: "cannot \(action) \(directory)/\(Self.name)")
    }
}

/// The name of a large value's file.
///
/// All names are different, even those of one entry's successive values. So a process that has read an entry's row
/// finds either the value of exactly that row, or no value.
struct ValueName: Hashable, Sendable {
    /// The name of the entry.
    let entry: String
    /// A random number that distinguishes the values of an entry.
    let token: Int64

    /// Creates a name. Returns nil if `entry` is not a valid entry name: the text in a damaged row must not lead out of
    /// the directory.
    init?(entry: String, token: Int64) {
        let digits = entry.utf8
        guard digits.count == 64, digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }) else {
            return nil
        }
        self.entry = entry
        self.token = token
    }

    /// Creates a new, unique name.
    init(newFor key: ImageKey) {
        entry = key.fileName
        token = Int64.random(in: .min ... .max)
    }

    /// Parses a file name. Returns nil if it is not the file name of a value.
    init?(fileName: String) {
        let parts = fileName.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let bits = UInt64(parts[1], radix: 16) else { return nil }
        self.init(entry: String(parts[0]), token: Int64(bitPattern: bits))
        guard self.fileName == fileName else { return nil }
    }

    var shard: Substring { entry.prefix(2) }

    var fileName: String { "\(entry)-\(String(UInt64(bitPattern: token), radix: 16))" }
}
