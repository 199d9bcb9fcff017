public import AlcedoCore

/// How long a download may take.
public struct DownloadTimeouts: Sendable, Hashable {
    /// The idle timeout of requests that name none: `HTTPRequest.idleTimeout`, which the transport obeys. Default, also
    /// where this is zero or less: 15 seconds.
    public var idle: Duration
    /// From sending a request to the head of its last answer, redirects included. Zero or less is no limit. Default:
    /// none.
    public var firstByte: Duration?
    /// The whole download, its further attempts, pauses and other sources included. Zero or less is no limit. Default:
    /// none.
    public var total: Duration?

    /// By default no limits beside the idle timeout.
    public init(
        idle: Duration = HTTPRequest.defaultIdleTimeout, firstByte: Duration? = nil, total: Duration? = nil
    ) {
        self.idle = idle
        self.firstByte = firstByte
        self.total = total
    }
}
