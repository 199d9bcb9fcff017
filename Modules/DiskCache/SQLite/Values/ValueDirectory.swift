import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials

/// The files of large values, in 256 folders by the first two digits of the entry's name.
///
/// A value is written before its row, under a name of its own, and removed after its row: the commit of the row is what
/// publishes it, so that it needs no second name. What a crash leaves in between no row names; a sweep finds it. Every
/// call blocks. Only regular files are read, and no link is followed, whether in the place of a value or of a folder; only
/// the cache's directory itself may be one.
struct ValueDirectory: Sendable {
    private static let name = "values"

    let durability: Durability
    /// Of the cache.
    private let directory: String

    /// - Parameter directory: The cache's.
    init(directory: URL, durability: Durability = .none) {
        self.directory = directory.path
        self.durability = durability
    }

    /// The bytes of a value; nil when they are not there, not `count`, or not in a file of ours.
    ///
    /// - Throws: Why they are not to be had now, which says nothing of what they are.
    func read(_ name: ValueName, count: Int) throws(SQLiteFailure) -> Data? {
        do throws(SystemError) {
            let file = try Descriptor(opening: Self.path(of: name), beneath: openDirectory(), O_RDONLY | O_NONBLOCK)
            return try file.contents(count: count)
        } catch {
            guard Self.isInvalid(error) else { throw failure(error.number, doing: "read a value in") }
            return nil
        }
    }

    /// Writes a new value. Nothing of it stays when that fails.
    func write(_ data: Data, for key: ImageKey) throws(SQLiteFailure) -> WrittenValue {
        var value = try makeValue(for: key)
        guard value.file.write(data), durability == .none || value.file.synchronize(),
            durability != .directory || synchronizeDirectory(of: value.name), let size = value.file.occupiedSize
        else {
            let reason = errno
            remove(value.name)
            throw failure(reason)
        }
        value.occupiedSize = size
        return value
    }

    /// Removes a value, or what stands in its place, or a link in the place of its folder.
    func remove(_ name: ValueName) {
        do throws(SystemError) {
            let shard = try Descriptor(openingDirectory: Self.path(of: name.shard), beneath: openDirectory())
            shard.clear(name.fileName)
        } catch {
            if error.number == ELOOP { removeLinks(above: name) }
        }
    }

    /// The folders that have values, in order.
    ///
    /// - Throws: Why they are not to be had now.
    func shards() throws(SQLiteFailure) -> [String] {
        try names(in: Self.name).filter { $0.utf8.count == 2 }.sorted()
    }

    /// The values of a folder.
    ///
    /// - Throws: Why they are not to be had now.
    func values(in shard: String) throws(SQLiteFailure) -> [ValueName] {
        try names(in: Self.path(of: shard)).compactMap(ValueName.init)
    }

    /// Removes a value that is not being written, if `isAbandoned` says that no row names it.
    ///
    /// The file stays locked until it is removed. A cache that has created it and has not locked it yet then finds it locked
    /// or without a name, and takes another name.
    func remove(_ name: ValueName, if isAbandoned: () throws(SQLiteFailure) -> Bool) throws(SQLiteFailure) {
        let opened: Result<Descriptor, SystemError> = Result { () throws(SystemError) in
            try Descriptor(opening: Self.path(of: name), beneath: openDirectory(), O_RDONLY | O_NONBLOCK)
        }
        switch consume opened {
        case .success(let file):
            if file.lock(), try isAbandoned() { remove(name) }
            extendLifetime(file)
        case .failure(let error):
            // A link, which is not what a cache writes.
            if Self.isInvalid(error), try isAbandoned() { remove(name) }
        }
    }

    private static func path(of shard: some StringProtocol) -> String { "\(name)/\(shard)" }

    private static func path(of name: ValueName) -> String { "\(path(of: name.shard))/\(name.fileName)" }

    /// Whether what stands in a value's place is none, or nothing does; else it may be whole.
    private static func isInvalid(_ error: SystemError) -> Bool {
        [ENOENT, ENOTDIR, ELOOP, ENXIO, ENODEV].contains(error.number)
    }

    private func openDirectory() throws(SystemError) -> Descriptor { try Descriptor(openingDirectory: directory) }

    private func names(in shard: String) throws(SQLiteFailure) -> [String] {
        do throws(SystemError) {
            let opened = try Descriptor(openingDirectory: shard, beneath: openDirectory())
            if let names = opened.names() { return names }
        } catch {
            if error.number == ELOOP, let directory = try? openDirectory() { directory.removeLink(shard) }
            guard Self.isInvalid(error) else { throw failure(error.number, doing: "look into") }
            return []
        }
        throw failure(errno, doing: "look into")
    }

    private func removeLinks(above name: ValueName) {
        guard let directory = try? openDirectory() else { return }
        directory.removeLink(Self.name)
        guard let values = try? Descriptor(openingDirectory: Self.name, beneath: directory) else { return }
        values.removeLink(String(name.shard))
    }

    private func makeValue(for key: ImageKey) throws(SQLiteFailure) -> WrittenValue {
        // Another process that sweeps may take a file for abandoned before it is locked here.
        for _ in 0..<16 {
            let name = ValueName(newFor: key)
            do throws(SystemError) {
                let file = try makeFile(name)
                if file.lock() { return WrittenValue(name: name, file: file) }
                remove(name)
            } catch {
                guard error.number == EEXIST else { throw failure(error.number) }
            }
        }
        throw SQLiteFailure(.other, "cannot lock a new file in \(directory)")
    }

    private func makeFile(_ name: ValueName) throws(SystemError) -> Descriptor {
        let directory = try openDirectory()
        let flags = O_WRONLY | O_CREAT | O_EXCL
        do throws(SystemError) {
            return try Descriptor(opening: Self.path(of: name), beneath: directory, flags)
        } catch {
            guard [ENOENT, ELOOP].contains(error.number) else { throw error }
        }
        try directory.makeDirectory(Self.name)
        let values = try Descriptor(openingDirectory: Self.name, beneath: directory)
        try values.makeDirectory(String(name.shard))
        return try Descriptor(opening: Self.path(of: name), beneath: directory, flags)
    }

    /// A value's name, and those of the folders above it, which may be as new. False when the system refuses, and `errno`
    /// says why.
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

/// A value that is being written, and that no row names yet. Locked as long as this lives, so that no other process
/// takes it for what a crash left behind.
struct WrittenValue: ~Copyable {
    let name: ValueName
    let file: Descriptor
    /// The bytes that the file occupies, once it is written.
    var occupiedSize = 0

    init(name: ValueName, file: consuming Descriptor) {
        self.name = name
        self.file = file
    }
}
