import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials

/// The files of large values, in up to 256 directories by the first two digits of the entries' names.
///
/// A value is written under a unique name before its row, and removed after its row, or before it if the disk is full.
/// The commit of the row publishes it, so no rename is needed. A crash in between may leave a file that no row names,
/// which the cache removes after it next opens the database for a change.
///
/// Its file operations block. Only regular files are read. No symbolic link is followed in place of a value or of a
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

    /// Returns the bytes of a value, or nil if the file is absent, has another length than `count`, or is not a regular
    /// file.
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

    /// Removes a value, anything else in its place, or a symbolic link in place of a directory above it. Ignores
    /// errors.
    func remove(_ name: ValueName) {
        do throws(SystemError) {
            let shard = try Descriptor(
                opening: Self.path(of: name.shard), beneath: openDirectory(), Descriptor.onlyPath)
            shard.clear(name.fileName)
        } catch {
            if error.number == ELOOP { removeLinks(above: name) }
        }
    }

    /// Returns the names of possible directories of values, in order. Removes a symbolic link in place of the directory
    /// `values`.
    ///
    /// - Throws: The reason why they cannot be listed now.
    func shards() throws(SQLiteFailure) -> [String] {
        try names(in: Self.name).filter { $0.utf8.count == 2 }.sorted()
    }

    /// Returns the names of the values in a directory. Removes a symbolic link in place of the directory.
    ///
    /// - Throws: The reason why they cannot be listed now.
    func values(in shard: String) throws(SQLiteFailure) -> [ValueName] {
        try names(in: Self.path(of: shard)).compactMap(ValueName.init)
    }

    /// Removes a value, unless a cache is writing it or `isAbandoned` returns false because a row names it.
    ///
    /// The file is locked meanwhile. A cache that has created it and not locked it yet then takes another name.
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

    /// Returns whether the error means that the place of a value is empty or has no regular file. With any other error,
    /// the value may be intact.
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
        // Another cache that removes leftovers may lock the file before this one does.
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

    /// Waits until the directory of a value, and those above it up to the cache's own, are on the storage medium. They
    /// may be new. Returns false if the system refuses, with the reason in `errno`.
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

/// A new value. Its file stays locked during the lifetime of this structure, so that no cache takes it for a file that
/// a crash has left.
struct WrittenValue: ~Copyable {
    let name: ValueName
    let file: Descriptor
    /// The number of bytes that the file occupies on disk; zero until it is written.
    var occupiedSize = 0

    init(name: ValueName, file: consuming Descriptor) {
        self.name = name
        self.file = file
    }
}
