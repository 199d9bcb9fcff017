/// What a response cache did with a request, and whether the answer may be kept by others.
public struct ResponseCaching: Sendable {
    /// Where the answer comes from.
    public enum Source: String, Sendable, Hashable {
        /// From the network.
        case new
        /// From the store, without a question to the server, and fresh.
        case fresh
        /// From the store, after the server has confirmed it.
        case revalidated
        /// From the store, and older than it should be.
        case stale
    }

    /// Where the answer came from.
    public var source: Source
    /// Whether a copy of the content may be kept. Final when the body has been read to its end.
    public var verdict: StorageVerdict

    /// What a cache did, and whether the answer may be kept.
    public init(source: Source, verdict: StorageVerdict) {
        self.source = source
        self.verdict = verdict
    }
}
