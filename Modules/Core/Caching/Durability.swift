/// The extent to which a disk cache's entries survive a power failure. All stored entries survive the end of the
/// process.
public enum Durability: Sendable, Hashable {
    /// Entries survive once the system has written them: usually all except those of the last 30 seconds. A partially
    /// written entry is never returned.
    case none
    /// The bytes of an entry are on the medium (`fdatasync`) before the entry becomes visible. Its name may be written
    /// later.
    case entry
    /// The name is also on the medium before the store returns (`fdatasync` of the entry's directory and of the cache's
    /// directory). The cache's directory itself survives once the system has written its parent directory.
    case directory
}
