import AlcedoLibc

/// Tells a file from another one that has taken its name.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let node: UInt64

    /// The file that has this name now; nil when there is none.
    init?(path: String) {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return nil }
        self.init(facts)
    }

    /// nil when the descriptor is none.
    init?(descriptor: Int32) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { return nil }
        self.init(facts)
    }

    private init(_ facts: stat) {
        device = UInt64(facts.st_dev)
        node = UInt64(facts.st_ino)
    }
}
