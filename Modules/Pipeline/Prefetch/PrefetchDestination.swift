/// How far prefetched images come.
public enum PrefetchDestination: Sendable, Hashable {
    /// Decoded and processed, into every cache.
    case memory
    /// The bytes as they came, onto the disk: nothing is decoded but their header, and interceptors are not asked.
    case disk
}
