import AlcedoLibc

/// Keeps a file that has no name any more from making room for another one of the same number, so that its identity
/// stays its own.
final class HeldFile {
    let identity: FileIdentity
    private let descriptor: Int32
    /// O_PATH, which is a macro of macros. Of Linux on the machines that Swift runs on.
    private static let onlyPath: Int32 = 0o10_000_000

    /// nil when there is no file of this name.
    init?(path: String) {
        // Only a path: closing any other descriptor of the file would take away the locks that SQLite has on it.
        let opened = open(path, Self.onlyPath | O_CLOEXEC)
        guard opened >= 0 else { return nil }
        guard let identity = FileIdentity(descriptor: opened) else {
            close(opened)
            return nil
        }
        descriptor = opened
        self.identity = identity
    }

    deinit { close(descriptor) }
}
