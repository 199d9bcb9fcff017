import AlcedoLibc
package import AlcedoRuntime
package import FoundationEssentials

/// The directory of output files.
package struct OutputDirectory: Sendable {
    /// The path of the directory as given on the command line; `.` for a file name without a directory.
    let directory: String
    /// Whether existing files are replaced. Files in ``inputs`` are never replaced.
    var replaces: Bool
    /// The files that are never replaced, under any name.
    var inputs: Set<FileIdentity>

    package init(_ directory: String, replaces: Bool, sparing inputs: Set<FileIdentity>) {
        self.directory = directory
        self.replaces = replaces
        self.inputs = inputs
    }

    /// Returns the directory of a path, up to and including the last slash, and the name after the slash. The directory
    /// of a path without a slash is `.`.
    package static func split(_ path: String) -> (directory: String, name: String) {
        let directory = PathParts.directory(of: path)
        return (directory.isEmpty ? "." : directory, PathParts.name(of: path))
    }

    package func path(of name: String) -> String {
        directory == "." ? name : directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
    }

    /// Checks whether files with these names can be written, and creates the directory if it is missing. Call it before
    /// the work begins. Makes one or two system calls for each name. Blocks.
    ///
    /// If files are replaced, the method checks only that no name belongs to a directory and that the directory can be
    /// written.
    ///
    /// - Throws: ``OutputError`` if a file with one of the names exists and must not be replaced, if a name belongs to
    ///   a directory, or if the directory cannot be created or written.
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

    /// Returns the reason why files with these names cannot be written, or nil if there is none.
    private func obstacle(to names: some Sequence<String>) -> OutputError? {
        var taken: (first: String, others: Int)?
        for name in names {
            let path = path(of: name)
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR { return OutputError(path: path, number: EISDIR) }
            // When files are replaced, a file that cannot be written makes only its own image fail, in `file(named:)`.
            if replaces { continue }
            if let file = FileIdentity(path: path), inputs.contains(file) { return Self.isInput(path) }
            taken = (taken?.first ?? path, (taken?.others ?? -1) + 1)
        }
        guard let (first, others) = taken else { return nil }
        let text =
            others == 0
            ? "\(first) already exists; use --force to replace it"
            : "\(first) and \(others) more already exist; use --force to replace them"
        return OutputError(description: text)
    }

    /// Creates an output file, and the directory if it is missing. The file gets its name in ``OutputFile/finish()``.
    /// Blocks.
    ///
    /// - Throws: ``OutputError`` if the name belongs to an input image, a device, a pipe or a socket, or if the
    ///   directory or the file cannot be created.
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

    /// Writes a whole file and returns its path. Blocks. Throws ``OutputError`` if the file cannot be created, written
    /// or named, for example because it exists and must not be replaced.
    @discardableResult
    package func write(_ data: Data, named name: String) throws(OutputError) -> String {
        let file = try file(named: name)
        try file.append(data)
        try file.finish()
        return path(of: name)
    }

    private static func isInput(_ path: String) -> OutputError {
        OutputError(description: "cannot write \(path): it is one of the input images")
    }
}

/// A file that appears under its name only when it is complete, so that a killed process leaves no partial file under
/// that name.
///
/// Until then the file has no name (`O_TMPFILE`). It has a hidden name, under which a killed process leaves it, on file
/// systems without nameless files, and briefly while it replaces a file. Methods must not be called concurrently.
package final class OutputFile: Sendable {
    /// The value of `O_TMPFILE`: its own bit and `O_DIRECTORY`, whose value differs between architectures. Source:
    /// open(2).
    private static let nameless: Int32 = 0o20_000_000 | O_DIRECTORY

    private let path: String
    private let replaces: Bool
    private let file: Int32
    /// The temporary path, or nil for a nameless file.
    private let hiddenPath: Locked<String?>

    /// Creates the file, which gets its name in ``finish()``.
    ///
    /// - Parameters:
    ///   - path: The path of the complete file. Its directory must exist.
    ///   - replaces: Whether an existing file is replaced.
    ///   - permissions: The permissions of the file, without those that the umask removes. Default: nil, those of the
    ///     file that is replaced, with its owner, or else those of any new file.
    /// - Throws: ``OutputError`` if the file cannot be created.
    package init(path: String, replaces: Bool, permissions: UInt32? = nil) throws(OutputError) {
        self.path = path
        self.replaces = replaces
        let directory = OutputDirectory.split(path).directory
        var hiddenPath: String?
        let owner = replaces && permissions == nil ? FileOwner(of: path) : nil
        let mode = permissions ?? owner?.firstMode ?? 0o666
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

    /// Appends bytes. Blocks. Throws ``OutputError`` if not all bytes can be written.
    package func append(_ data: Data) throws(OutputError) {
        if !Console.write(data.bytes, to: file) { throw OutputError(path: path, number: errno) }
    }

    /// Gives the complete file its name. Call it once. Blocks.
    ///
    /// - Throws: ``OutputError`` if a file with the name exists and must not be replaced, or if a system call fails.
    package func finish() throws(OutputError) {
        if hiddenPath.withLock({ $0 == nil }) {
            let inside = "/proc/self/fd/\(file)"
            let name = replaces ? Self.hiddenPath(beside: path) : path
            guard linkat(AT_FDCWD, inside, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 else { throw finishError() }
            guard replaces else { return }
            hiddenPath.withLock { $0 = name }
        }
        guard let hidden = hiddenPath.withLock({ $0 }) else { return }
        // `link` fails if the name was taken in the meantime; `rename` would replace that file. On file systems without
        // hard links, `rename` is used if no file has the name.
        if !replaces {
            if link(hidden, path) == 0 { return }
            guard errno != EEXIST, FileIdentity(linkAt: path) == nil else { throw finishError(EEXIST) }
        }
        guard rename(hidden, path) == 0 else { throw finishError() }
        hiddenPath.withLock { $0 = nil }
    }

    private func finishError(_ number: Int32 = errno) -> OutputError {
        number == EEXIST
            ? OutputError(description: "\(path) already exists; use --force to replace it")
            : OutputError(path: path, number: number)
    }

    private static func hiddenPath(beside path: String) -> String {
        "\(PathParts.directory(of: path)).alcedo-\(UInt64.random(in: 0 ... .max))"
    }
}

extension Error {
    /// The reason for the error. For a Foundation file error it is a few words, because the error's description
    /// contains a dictionary.
    package var localizedReason: String {
        switch (self as? CocoaError)?.code {
        case .fileWriteNoPermission: "permission denied"
        case .fileWriteOutOfSpace: "no space left on device"
        case .fileWriteVolumeReadOnly: "read-only file system"
        case .fileWriteFileExists, .fileNoSuchFile: "cannot create the directory"
        default: systemReason ?? "\(self)"
        }
    }

    /// The system's description of the underlying error, or nil if no system error caused this one.
    private var systemReason: String? {
        guard let cause = (self as? CocoaError)?.underlying as? POSIXError else { return nil }
        return String(cString: strerror(cause.code.rawValue))
    }
}

private struct FileOwner {
    private let user: uid_t
    private let group: gid_t
    private let mode: mode_t

    /// Reads the owner and the permissions of the file at a path. Returns nil if there is no regular file.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        (user, group, mode) = (status.st_uid, status.st_gid, status.st_mode & 0o777)
    }

    /// The permissions of a new replacement file. The file is private to its creator until ``give(to:)`` sets the final
    /// permissions.
    var firstMode: mode_t { mode & 0o700 }

    /// Applies the owner and the permissions to an open file, as far as this user may. If the group cannot be set, the
    /// file's group gets no permission.
    func give(to file: Int32) {
        let isGroup = fchown(file, user, group) == 0 || fchown(file, .max, group) == 0
        // `fchmod` ignores the umask, which the original file's permissions have already passed.
        fchmod(file, isGroup ? mode : mode & ~0o070)
    }
}
