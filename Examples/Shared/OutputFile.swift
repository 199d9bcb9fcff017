import Alcedo
import AlcedoLibc
public import FoundationEssentials

/// A file that has its name only when it is whole: a run that is killed leaves no half one.
///
/// Until then it has no name at all, or a hidden one where the file system knows no files without. Calls are to come one
/// at a time.
public final class OutputFile: Sendable {
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
        let folder = OutputFolder.split(path).folder
        var hiddenPath: String?
        let owner = replaces ? FileOwner(of: path) : nil
        let mode = owner?.firstMode ?? 0o666
        var file = open(folder, Self.nameless | O_WRONLY | O_CLOEXEC, mode)
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
    public func append(_ data: Data) throws(OutputError) {
        if !Console.write(data.bytes, to: file) { throw OutputError(path: path, number: errno) }
    }

    /// Gives it its name. To be called once.
    public func finish() throws(OutputError) {
        if hiddenPath.withLock({ $0 == nil }) {
            let inside = "/proc/self/fd/\(file)"
            let name = replaces ? Self.hiddenPath(beside: path) : path
            guard linkat(AT_FDCWD, inside, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 else { throw refusal() }
            guard replaces else { return }
            hiddenPath.withLock { $0 = name }
        }
        guard let hidden = hiddenPath.withLock({ $0 }) else { return }
        // Of a name that has been taken meanwhile a link is refused, where renaming would replace it.
        if !replaces {
            if link(hidden, path) == 0 { return }
            guard errno != EEXIST, FileIdentity(linkAt: path) == nil else { throw refusal(EEXIST) }
        }
        guard rename(hidden, path) == 0 else { throw refusal() }
        hiddenPath.withLock { $0 = nil }
    }

    private func refusal(_ number: Int32 = errno) -> OutputError {
        number == EEXIST
            ? OutputError(description: "\(path) is there already; --force replaces it")
            : OutputError(path: path, number: number)
    }

    private static func hiddenPath(beside path: String) -> String {
        "\(PathParts.folder(of: path)).alcedo-\(UInt64.random(in: 0 ... .max))"
    }
}
