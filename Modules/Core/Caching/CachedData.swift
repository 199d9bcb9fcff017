public import FoundationEssentials

/// Bytes in a data cache, with what the storer wants to know about them later.
public struct CachedData: Sendable, Hashable {
    public var data: Data
    /// The storer's own notes, such as a response's head. Opaque to the cache.
    public var metadata: Data

    public init(_ data: Data, metadata: Data = Data()) {
        self.data = data
        self.metadata = metadata
    }
}
