import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials

/// The files of large values. They are in up to 256 directories, which are named after the first two digits of the
/// entries' names.
///
/// The cache writes a value under a unique name, and then the row that names the value. The commit of the row publishes
/// the value, so no rename is needed. The cache removes a value after its row or, if the disk is full, before its row.
/// A crash in between may leave a file that no row names. The cache removes such a file after it next opens the
/// database for a change.
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

    /// Writes a new value. After a failure, removes the file.
    func write(_ data: Data, for key: ImageKey) throws(SQLiteFailure) -> WrittenValue {
        var value = try makeValue(for: key)
        guard value.file.write(data.bytes, RawSpan()), durability == .none || value.file.synchronize(),
            durability != .directory || synchronizeDirectory(of: value.name), let status = value.file.status
        else {
            let reason = errno
            remove(value.name)
            throw failure(reason)
        }
        value.occupiedSize = FileSize(status).occupied
        return value
    }

    /// Removes the value with a name, or anything else that has this name. If a directory above the value is a symbolic
    /// link, removes that link instead. Ignores errors.
    func remove(_ name: ValueName) {
        do throws(SystemError) {
            let shard = try Descriptor(
                opening: Self.path(of: name.shard), beneath: openDirectory(), Descriptor.onlyPath)
            shard.clear(name.fileName)
        } catch {
            if error.number == ELOOP { removeLinks(above: name) }
        }
    }

    /// Returns the names in the directory `values` that a directory of values can have, in order. If `values` is a
    /// symbolic link, removes the link.
    ///
    /// - Throws: The reason why they cannot be listed now.
    func shards() throws(SQLiteFailure) -> [String] {
        try names(in: Self.name).filter { $0.utf8.count == 2 }.sorted()
    }

    /// Returns the names of the values in a directory. If the directory is a symbolic link, removes the link.
    ///
    /// - Throws: The reason why they cannot be listed now.
    func values(in shard: String) throws(SQLiteFailure) -> [ValueName] {
        try names(in: Self.path(of: shard)).compactMap(ValueName.init)
    }

    /// Removes a value if no cache is writing the value and `isAbandoned` returns true, which means that no row names
    /// the value.
    ///
    /// The file is locked during the call. If a cache has created the file but has not locked it yet, that cache takes
    /// another name.
    func remove(_ name: ValueName, if isAbandoned: () throws(SQLiteFailure) -> Bool) throws(SQLiteFailure) {
        let opened: Result<Descriptor, SystemError> = Result { () throws(SystemError) in
            try Descriptor(opening: Self.path(of: name), beneath: openDirectory(), O_RDONLY | O_NONBLOCK)
        }
        switch consume opened {
        case .success(let file):
            if file.lockLinked(), try isAbandoned() { remove(name) }
            extendLifetime(file)
        case .failure(let error):
            // A cache creates only regular files under such names.
            if Self.isInvalid(error), try isAbandoned() { remove(name) }
        }
    }

    private static func path(of shard: some StringProtocol) -> String { "\(name)/\(shard)" }

    private static func path(of name: ValueName) -> String { "\(path(of: name.shard))/\(name.fileName)" }

    /// Returns whether the error means that no regular file exists at the path of a value. After any other error, the
    /// value may be intact.
    private static func isInvalid(_ error: SystemError) -> Bool {
        [ENOENT, ENOTDIR, ELOOP, ENXIO, ENODEV].contains(error.number)
    }

    private func openDirectory() throws(SystemError) -> Descriptor {
        try Descriptor(opening: directory, Descriptor.onlyPath)
    }

    private func names(in shard: String) throws(SQLiteFailure) -> [String] {
        do throws(SystemError) {
            let opened = try Descriptor(opening: shard, beneath: openDirectory(), Descriptor.onlyPath)
            if let names = opened.names() { return names }
        } catch {
            if error.number == ELOOP, let directory = try? openDirectory() { directory.removeLink(shard) }
            guard Self.isInvalid(error) else { throw failure(error.number, doing: "list") }
            return []
        }
        throw failure(errno, doing: "list")
    }

    private func removeLinks(above name: ValueName) {
        guard let directory = try? openDirectory() else { return }
        directory.removeLink(Self.name)
        guard let values = try? Descriptor(opening: Self.name, beneath: directory, Descriptor.onlyPath) else { return }
        values.removeLink(String(name.shard))
    }

    private func makeValue(for key: ImageKey) throws(SQLiteFailure) -> WrittenValue {
        // Another cache that removes leftovers may lock the new file first. This cache then tries another name.
        for _ in 0..<16 {
            let name = ValueName(newFor: key)
            do throws(SystemError) {
                let file = try makeFile(name)
                if file.lockLinked() { return WrittenValue(name: name, file: file) }
                remove(name)
            } catch {
                guard error.number == EEXIST else { throw failure(error.number) }
            }
        }
        throw SQLiteFailure(.other, "cannot lock a new file in \(directory): every attempt lost a race")
    }

    private func makeFile(_ name: ValueName) throws(SystemError) -> Descriptor {
        let directory = try openDirectory()
        let flags = O_WRONLY | O_CREAT | O_EXCL
        do throws(SystemError) {
            return try Descriptor(opening: Self.path(of: name), beneath: directory, flags)
        } catch {
            guard [ENOENT, ELOOP].contains(error.number) else { throw error }
        }
        directory.removeLink(Self.name)
        try directory.makeDirectory(Self.name)
        let values = try Descriptor(opening: Self.name, beneath: directory, Descriptor.onlyPath)
        values.removeLink(String(name.shard))
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

    private func failure(_ reason: Int32, doing action: String = "write to") -> SQLiteFailure {
        SQLiteFailure(systemError: reason, doing: "cannot \(action) \(directory)/\(Self.name)")
    }
}

extension Descriptor {
    /// Locks the file. Returns false if another descriptor has the lock, if the file has been removed, or if the system
    /// refuses.
    fileprivate func lockLinked() -> Bool { lock() && (status?.st_nlink ?? 0) > 0 }
}

/// A new value. Its file stays locked during the lifetime of this structure, so that other caches do not remove the
/// file as a leftover of a crash.
struct WrittenValue: ~Copyable {
    let name: ValueName
    let file: Descriptor
    /// The number of bytes that the file occupies on disk; zero before the file is written.
    var occupiedSize = 0

    init(name: ValueName, file: consuming Descriptor) {
        self.name = name
        self.file = file
    }
}
