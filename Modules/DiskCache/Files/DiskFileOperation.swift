import AlcedoRuntime

/// An operation on a file of a ``FileDiskCache``, which a test or a host can let fail.
///
/// ```swift
/// import AlcedoDiskCache
/// import FoundationEssentials
///
/// func cacheOnFullDisk(in directory: URL) -> FileDiskCache {
///     FileDiskCache(
///         directory: directory,
///         onFileOperation: { operation in operation.action == .write ? .error(28) : nil })  // ENOSPC
/// }
/// ```
///
/// The files are real ones, because processes share them, lock them and map them into memory. The status and the lock
/// of a file are not announced. The entries of a directory that is merged are announced, and its index is not.
public struct DiskFileOperation: Sendable, Hashable {
    /// The kind of an operation.
    public enum Action: String, Sendable, Hashable, CaseIterable {
        /// Opening a file for reading, or a directory.
        case open
        /// Opening a file for writing. Creates a missing file.
        case openForWriting
        /// Reading or mapping a part of a file.
        case read
        /// Writing a part of a file.
        case write
        /// Waiting until a file or a directory is on the storage medium; see ``/AlcedoCore/Durability``.
        case synchronize
        /// Giving a file its final name.
        case rename
        /// Removing a file.
        case remove
        /// Creating a directory.
        case makeDirectory
        /// Listing a directory.
        case list
    }

    /// The role of a file.
    public enum Target: String, Sendable, Hashable, CaseIterable {
        /// The file of an entry. ``DiskFileOperation/name`` is its name.
        case entry
        /// The index of the directory.
        case index
        /// A file that is being written, and becomes the file of an entry or the index.
        case temporaryFile
        /// The cache's directory, or one of those below it.
        case directory
    }

    /// The kind of the operation.
    public let action: Action
    /// The role of the file. For a renaming, the role of the new name.
    public let target: Target
    /// The last component of the file's path. For an entry, it is the file name of the entry's key without the first
    /// two digits, which name the directory, and with the path extension.
    public let name: String
    /// The maximum number of bytes to read or write; zero for other actions.
    public let byteCount: Int

    init(_ call: FileCall) {
        action =
            switch call.action {
            case .open: .open
            case .openForWriting: .openForWriting
            case .read: .read
            case .write: .write
            case .synchronize: .synchronize
            case .rename: .rename
            case .remove: .remove
            case .makeDirectory: .makeDirectory
            case .list: .list
            }
        name = call.path.split(separator: "/").last.map(String.init) ?? call.path
        target =
            name == IndexFile.name
            ? .index
            : name.hasPrefix(UnfinishedFile.prefix)
                ? .temporaryFile
                : name.utf8.count >= 62 && EntryName.isHexadecimal(name.utf8.prefix(62)) ? .entry : .directory
        byteCount = call.byteCount
    }
}
