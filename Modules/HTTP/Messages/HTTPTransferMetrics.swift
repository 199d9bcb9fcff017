import AlcedoRuntime

/// What one exchange took and moved.
///
/// A part is nil when its transport cannot tell, or when there was none: no look-up, connection or handshake on a
/// connection that was used before.
public struct HTTPTransferMetrics: Sendable, Hashable {
    /// Time in the transport's own line, for a free connection. The other times begin after it.
    public var queued: Duration?
    /// Time for the host's addresses.
    public var nameLookup: Duration?
    /// Time for the connection, without look-up and TLS.
    public var connect: Duration?
    /// Time for the TLS handshake.
    public var secureConnect: Duration?
    /// Time from the start to the first byte of the answer, all of the above included but `queued`.
    public var firstByte: Duration?
    /// Time from the start to the end of the body, pauses of its reader included.
    public var total: Duration?
    /// Bytes of the answer, heads included, before content codings are undone; TLS and the framing of chunks and HTTP/2
    /// are not counted.
    public var bytesReceived: Int?
    /// Bytes of the request's body.
    public var bytesSent: Int?
    /// Whether the connection had served another request.
    public var isReusedConnection: Bool?
    /// The protocol by its ALPN name, such as `http/1.1` or `h2`.
    public var protocolName: String?

    /// Nothing known yet.
    public init() {}
}

/// The metrics of an exchange, which its transport sets at the end and the holder of the response reads.
package final class HTTPTransferRecord: Sendable {
    private let finished = Locked<HTTPTransferMetrics?>(nil)
    private let read: (@Sendable () -> HTTPTransferMetrics?)?

    /// Creates a record without metrics.
    package init() { read = nil }

    /// Creates a record of a transport that keeps the metrics itself.
    init(reading read: @escaping @Sendable () -> HTTPTransferMetrics?) { self.read = read }

    /// The metrics; nil until the body has ended, however it ends. Final from then on.
    package var metrics: HTTPTransferMetrics? { if let read { read() } else { finished.withLock { $0 } } }

    /// Sets the metrics. Called by the transport before the reader learns of the end; only the first call counts.
    package func finish(_ metrics: HTTPTransferMetrics) {
        finished.withLock { finished in
            if finished == nil { finished = metrics }
        }
    }
}
