import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials

/// The directory `values`, which has the files of large values.
///
/// The name of a file is a random number, the token in the row of its entry. Even the successive values of one entry
/// have different names. So a process that has read a row finds either the value of exactly that row, or no value.
///
/// The cache writes a value in the transaction that inserts the row. The commit of the row publishes the value, so no
/// rename is needed. The cache removes a value after its row or, if the disk is full, before its row. A crash in
/// between may leave a file that no row names. The cache removes such a file after it next opens the database for a
/// change.
///
/// All file operations block. Only regular files are read. No symbolic link is followed in place of a value or of the
/// directory. Only the path of the cache's own directory may contain symbolic links.
struct ValueDirectory: Sendable {
    private static let name = "values"

    let durability: Durability
    /// The path of the cache's directory.
    private let directory: String

    init(directory: URL, durability: Durability = .none) {
        self.directory = directory.path
        self.durability = durability
    }

    /// Returns the bytes of a value. Returns nil if the file is absent, is not a regular file, or has a length other
    /// than `count`.
    ///
    /// - Throws: The reason why the file cannot be read now. Its bytes may be valid.
    func read(_ token: Int64, count: Int) throws(SQLiteFailure) -> Data? {
        do throws(SystemError) {
            let file = try Descriptor(opening: Self.fileName(token), beneath: open(), O_RDONLY | O_NONBLOCK)
            guard let size = try file.regularFileSize(), size.length == count else { return nil }
            guard let bytes = try file.read(count) else { return nil }
            return bytes.prefix(count)
        } catch {
            guard Self.isInvalid(error) else { throw failure(error, doing: "read a value in") }
            return nil
        }
    }

    /// Writes a new value. Returns its token, and the number of bytes that it occupies on disk. After a failure,
    /// removes the file.
    func write(_ data: Data) throws(SQLiteFailure) -> (token: Int64, occupiedSize: Int) {
        let token = Int64.random(in: .min ... .max)
        do throws(SystemError) {
            removeLink()
            let root = try Descriptor(opening: directory, Descriptor.onlyPath)
            try root.makeDirectory(Self.name)
            let file = try Descriptor(opening: Self.fileName(token), beneath: open(), O_WRONLY | O_CREAT | O_EXCL)
            guard file.write(data.bytes, RawSpan()), durability == .none || file.synchronize(),
                let status = file.status
            else { throw SystemError(number: errno) }
            if durability == .directory { try synchronizeDirectories() }
            return (token, FileSize(status).occupied)
        } catch {
            remove(token)
            throw failure(error, doing: "write to")
        }
    }

    /// Removes a value, or anything else that has its name. Ignores errors.
    func remove(_ token: Int64) {
        removeLink()
        if let values = try? open() { values.clear(Self.fileName(token)) }
    }

    /// Returns the tokens of all values.
    ///
    /// - Throws: The reason why they cannot be listed now.
    func tokens() throws(SQLiteFailure) -> Set<Int64> {
        removeLink()
        do throws(SystemError) {
            guard let names = try open().names() else { throw SystemError(number: errno) }
            let tokens = names.compactMap { name in
                UInt64(name, radix: 16).map { Int64(bitPattern: $0) }.flatMap { Self.fileName($0) == name ? $0 : nil }
            }
            return Set(tokens)
        } catch {
            guard Self.isInvalid(error) else { throw failure(error, doing: "list") }
            return []
        }
    }

    /// Returns the name of a file: always 16 digits, so that a file of another program hardly has such a name.
    private static func fileName(_ token: Int64) -> String {
        let digits = String(UInt64(bitPattern: token), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Returns whether the error means that no regular file exists at the path of a value. After any other error, the
    /// value may be intact.
    private static func isInvalid(_ error: SystemError) -> Bool {
        [ENOENT, ENOTDIR, ELOOP, ENXIO, ENODEV].contains(error.number)
    }

    private func open(_ flags: Int32 = Descriptor.onlyPath) throws(SystemError) -> Descriptor {
        try Descriptor(opening: Self.name, beneath: Descriptor(opening: directory, Descriptor.onlyPath), flags)
    }

    /// Removes a symbolic link in the place of the directory.
    private func removeLink() {
        if let root = try? Descriptor(opening: directory, Descriptor.onlyPath) { root.removeLink(Self.name) }
    }

    /// Waits until the directory and the cache's own are on the storage medium.
    private func synchronizeDirectories() throws(SystemError) {
        let values = try open(O_RDONLY | O_DIRECTORY)
        let root = try Descriptor(opening: directory, O_RDONLY | O_DIRECTORY)
        guard values.synchronize(), root.synchronize() else { throw SystemError(number: errno) }
    }

    private func failure(_ error: SystemError, doing action: String) -> SQLiteFailure {
        SQLiteFailure(systemError: error.number, doing: "cannot \(action) \(directory)/\(Self.name)")
    }
}
