import AlcedoLibc

/// Tells whether a file that nobody here may write to has been changed by somebody who may.
struct FileState: Equatable {
    private let identity: FileIdentity
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    /// nil when there is no file of this name.
    init?(path: String) {
        var facts = stat()
        guard let identity = FileIdentity(path: path), lstat(path, &facts) == 0 else { return nil }
        self.identity = identity
        size = Int(facts.st_size)
        seconds = facts.st_mtim.tv_sec
        nanoseconds = facts.st_mtim.tv_nsec
    }

    var isEmpty: Bool { size == 0 }
}
