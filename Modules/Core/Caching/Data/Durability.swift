/// What survives a power cut, beside what survives the end of a process, which is all that was stored.
public enum Durability: Sendable, Hashable {
    /// What the system has written by itself: usually all but the last half a minute. Nothing torn is ever served.
    case none
    /// The bytes of an entry are on the medium before it takes its place (`fdatasync`). Its name may come later.
    case entry
    /// The name is on the medium too (`fdatasync` of the entry's folder and of the cache's), before the store returns. Of the
    /// cache's directory itself that is true once the system has written its parent.
    case directory
}
