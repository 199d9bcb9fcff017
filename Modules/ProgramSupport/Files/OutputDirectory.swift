import Alcedo
import AlcedoLibc
import AlcedoRuntime
package import FoundationEssentials

/// Where results go.
package struct OutputDirectory: Sendable {
    /// As it was named.
    let directory: String
    /// Whether a file that has the name of a result goes. One of ``inputs`` stays in any case.
    var replaces: Bool
    /// Files that are never overwritten, by whatever name.
    var inputs: Set<FileIdentity>

    package init(_ directory: String, replaces: Bool, sparing inputs: Set<FileIdentity>) {
        self.directory = directory
        self.replaces = replaces
        self.inputs = inputs
    }

    /// The folder that a path lies in, and the name there.
    package static func split(_ path: String) -> (directory: String, name: String) {
        let directory = PathParts.directory(of: path)
        return (directory.isEmpty ? "." : directory, PathParts.name(of: path))
    }

    package func path(of name: String) -> String {
        directory == "." ? name : directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
    }

    /// To be called before work begins whose results have these names: makes the folder. Asks the system for each name;
    /// blocks.
    ///
    /// - Throws: When some are there already, and where nothing can be written.
    package func prepare(for names: some Sequence<String>) throws(OutputError) {
        if let obstacle = obstacle(to: names) { throw obstacle }
        let shown = directory.count > 1 && directory.hasSuffix("/") ? String(directory.dropLast()) : directory
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        } catch {
            throw OutputError(description: "cannot write \(shown): \(error.localizedReason)")
        }
        if access(directory, W_OK | X_OK) != 0 { throw OutputError(path: shown, number: errno) }
    }

    /// Why the names are not to be had; nil when nothing is in the way.
    private func obstacle(to names: some Sequence<String>) -> OutputError? {
        var taken: (first: String, others: Int)?
        for name in names {
            let path = path(of: name)
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR { return OutputError(path: path, number: EISDIR) }
            // With force the others are made, and this one is a problem when its turn comes.
            if replaces { continue }
            if let file = FileIdentity(path: path), inputs.contains(file) { return Self.isInput(path) }
            taken = (taken?.first ?? path, (taken?.others ?? -1) + 1)
        }
        guard let (first, others) = taken else { return nil }
        let text =
            others == 0
            ? "\(first) is there already; --force replaces it"
            : "\(first) and \(others) more are there already; --force replaces them"
        return OutputError(description: text)
    }

    /// Begins a file. Throws also where one of the inputs, or what is no file, would be replaced.
    package func file(named name: String) throws(OutputError) -> OutputFile {
        let path = path(of: name)
        if let file = FileIdentity(path: path), inputs.contains(file) { throw Self.isInput(path) }
        var status = stat()
        if lstat(path, &status) == 0, ![S_IFREG, S_IFLNK, S_IFDIR].contains(status.st_mode & S_IFMT) {
            throw OutputError(description: "cannot write \(path): not a regular file")
        }
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        } catch {
            throw OutputError(description: "cannot write \(path): \(error.localizedReason)")
        }
        return try OutputFile(path: path, replaces: replaces)
    }

    /// Writes a file as a whole, and returns its path. Blocks.
    @discardableResult
    package func write(_ data: Data, named name: String) throws(OutputError) -> String {
        let file = try file(named: name)
        try file.append(data)
        try file.finish()
        return path(of: name)
    }

    private static func isInput(_ path: String) -> OutputError {
        OutputError(description: "\(path) is one of the images, and stays as it is")
    }
}

/// A file that has its name only when it is whole: a run that is killed leaves no half one.
///
/// Until then it has no name at all, or a hidden one where the file system knows no files without. Calls are to come one
/// at a time.
package final class OutputFile: Sendable {
    /// Without the part that differs between machines. Source: open(2), O_TMPFILE.
    private static let nameless: Int32 = 0o20_000_000 | O_DIRECTORY

    private let path: String
    private let replaces: Bool
    private let file: Int32
    /// The name until it is whole, when there is one.
    private let hiddenPath: Locked<String?>

    /// - Parameters:
    ///   - path: The name that it is to have; its folder is there.
    ///   - replaces: Whether a file that has the name goes.
    init(path: String, replaces: Bool) throws(OutputError) {
        self.path = path
        self.replaces = replaces
        let directory = OutputDirectory.split(path).directory
        var hiddenPath: String?
        let owner = replaces ? FileOwner(of: path) : nil
        let mode = owner?.firstMode ?? 0o666
        var file = open(directory, Self.nameless | O_WRONLY | O_CLOEXEC, mode)
        if file < 0, errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT {
            let hidden = Self.hiddenPath(beside: path)
            file = open(hidden, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode)
            if file >= 0 { hiddenPath = hidden }
        }
        self.file = file
        self.hiddenPath = Locked(hiddenPath)
        if file < 0 { throw OutputError(path: path, number: errno) }
        owner?.give(to: file)
    }

    deinit {
        if file >= 0 { close(file) }
        if let hidden = hiddenPath.withLock({ $0 }) { unlink(hidden) }
    }

    /// Blocks.
    package func append(_ data: Data) throws(OutputError) {
        if !Console.write(data.bytes, to: file) { throw OutputError(path: path, number: errno) }
    }

    /// Gives it its name. To be called once.
    package func finish() throws(OutputError) {
        if hiddenPath.withLock({ $0 == nil }) {
            let inside = "/proc/self/fd/\(file)"
            let name = replaces ? Self.hiddenPath(beside: path) : path
            guard linkat(AT_FDCWD, inside, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 else { throw finishError() }
            guard replaces else { return }
            hiddenPath.withLock { $0 = name }
        }
        guard let hidden = hiddenPath.withLock({ $0 }) else { return }
        // Of a name that has been taken meanwhile a link is refused, where renaming would replace it.
        if !replaces {
            if link(hidden, path) == 0 { return }
            guard errno != EEXIST, FileIdentity(linkAt: path) == nil else { throw finishError(EEXIST) }
        }
        guard rename(hidden, path) == 0 else { throw finishError() }
        hiddenPath.withLock { $0 = nil }
    }

    private func finishError(_ number: Int32 = errno) -> OutputError {
        number == EEXIST
            ? OutputError(description: "\(path) is there already; --force replaces it")
            : OutputError(path: path, number: number)
    }

    private static func hiddenPath(beside path: String) -> String {
        "\(PathParts.directory(of: path)).alcedo-\(UInt64.random(in: 0 ... .max))"
    }
}

extension Error {
    /// The reason in a few words, where the file functions of Foundation would print a whole dictionary.
    fileprivate var localizedReason: String {
        switch (self as? CocoaError)?.code {
        case .fileWriteNoPermission: "permission denied"
        case .fileWriteOutOfSpace: "no space left on device"
        case .fileWriteVolumeReadOnly: "read-only file system"
        case .fileWriteFileExists, .fileNoSuchFile: "not a directory that can be made"
        default: systemReason ?? "\(self)"
        }
    }

    /// What the system says of the cause, where it is one of its own.
    private var systemReason: String? {
        guard let cause = (self as? CocoaError)?.underlying as? POSIXError else { return nil }
        return String(cString: strerror(cause.code.rawValue))
    }
}

/// Whose a file is, and who may read and write it.
private struct FileOwner {
    private let user: uid_t
    private let group: gid_t
    private let mode: mode_t

    /// Nil when there is no file of that name.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        (user, group, mode) = (status.st_uid, status.st_gid, status.st_mode & 0o777)
    }

    /// What a file is to be made with that gets the rest afterwards: until then it is its maker's alone.
    var firstMode: mode_t { mode & 0o700 }

    /// Makes an open file the same in this, as far as this user may; where the group stays another, that gets nothing.
    func give(to file: Int32) {
        let isGroup = fchown(file, user, group) == 0 || fchown(file, .max, group) == 0
        // The mask of new files is not for one that has had its mode.
        fchmod(file, isGroup ? mode : mode & ~0o070)
    }
}
