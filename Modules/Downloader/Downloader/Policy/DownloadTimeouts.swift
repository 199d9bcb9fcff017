/// How long a download may take, beside the request's own idle timeout, which is the transport's matter.
public struct DownloadTimeouts: Sendable, Hashable {
    /// From sending a request to the head of its last answer, redirects included. Default: none.
    public var firstByte: Duration?
    /// The whole download, its further attempts, pauses and other sources included. Default: none.
    public var total: Duration?

    /// By default no limits beside the request's idle timeout.
    public init(firstByte: Duration? = nil, total: Duration? = nil) {
        self.firstByte = firstByte
        self.total = total
    }
}
