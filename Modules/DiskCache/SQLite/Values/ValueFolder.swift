import AlcedoCore
import FoundationEssentials
import Glibc

/// The files of large values, in 256 folders by the first two digits of the entry's name.
///
/// A value is written before its row, under a name of its own, and removed after its row: the commit of the row is what
/// publishes it, so that it needs no second name. What a crash leaves in between no row names; a sweep finds it. Every
/// call blocks. Only regular files are read, and links in their place are not followed.
struct ValueFolder: Sendable {
    private let path: String

    /// - Parameter directory: The cache's.
    init(directory: URL) { path = directory.appending(path: "values").path }

    private func path(of name: ValueName) -> String { "\(path)/\(name.folder)/\(name.fileName)" }

    /// The bytes of a value; nil when they are not there, not `count`, or not in a file of ours.
    func read(_ name: ValueName, count: Int) -> Data? {
        guard let file = Descriptor(opening: path(of: name), O_RDONLY) else { return nil }
        return file.wholeFile(count: count)
    }

    /// Writes a new value. Nothing of it stays when that fails.
    func write(_ data: Data, for key: ImageKey) throws(SQLiteFailure) -> WrittenValue {
        let value = try makeValue(for: key)
        guard value.file.write(data) else {
            let reason = errno
            remove(value.name)
            throw failure(reason)
        }
        return value
    }

    func remove(_ name: ValueName) {
        let path = path(of: name)
        // Somebody's folder in the place of a file goes when it is empty; what is in it is not ours.
        if unlink(path) != 0, errno == EISDIR { rmdir(path) }
    }

    /// The folders that have values, in order.
    func folders() -> [String] { (FolderListing.names(in: path) ?? []).filter { $0.utf8.count == 2 }.sorted() }

    /// The values of a folder.
    func values(in folder: String) -> [ValueName] {
        (FolderListing.names(in: "\(path)/\(folder)") ?? []).compactMap(ValueName.init)
    }

    /// Removes a value that nobody is writing, if `isAbandoned` says so once nobody can begin to name it in a row.
    func remove(_ name: ValueName, if isAbandoned: () throws(SQLiteFailure) -> Bool) throws(SQLiteFailure) {
        guard let file = Descriptor(opening: path(of: name), O_RDONLY) else { return }
        if file.lock(), try isAbandoned() { remove(name) }
    }

    private func makeValue(for key: ImageKey) throws(SQLiteFailure) -> WrittenValue {
        // Another process that sweeps may take a file for abandoned before it is locked here.
        for _ in 0..<16 {
            let name = ValueName(newFor: key)
            guard let file = try makeFile(name) else { continue }
            if file.lock() { return WrittenValue(name: name, file: file) }
            remove(name)
        }
        throw SQLiteFailure(.other, "cannot lock a new file in \(path)")
    }

    /// nil when the name is taken.
    private func makeFile(_ name: ValueName) throws(SQLiteFailure) -> Descriptor? {
        let flags = O_WRONLY | O_CREAT | O_EXCL
        if let file = Descriptor(opening: path(of: name), flags) { return file }
        if errno == ENOENT {
            for folder in [path, "\(path)/\(name.folder)"] where mkdir(folder, 0o700) != 0 && errno != EEXIST {
                throw failure(errno)
            }
            if let file = Descriptor(opening: path(of: name), flags) { return file }
        }
        guard errno == EEXIST else { throw failure(errno) }
        return nil
    }

    private func failure(_ reason: Int32) -> SQLiteFailure {
        SQLiteFailure(systemError: reason, doing: "cannot write to \(path)")
    }
}
