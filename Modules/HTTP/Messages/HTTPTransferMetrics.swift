import AlcedoRuntime

/// The times and sizes of one exchange.
///
/// A value is nil if the transport cannot measure it, or if the step did not take place: a reused connection has no
/// lookup, connection setup or handshake.
public struct HTTPTransferMetrics: Sendable, Hashable {
    /// The time for which the request waited in the transport's queue for a free connection. The other times begin
    /// after it.
    public var queued: Duration?
    /// The time to resolve the host's addresses.
    public var nameLookup: Duration?
    /// The time to connect, without the lookup and TLS.
    public var connect: Duration?
    /// The time for the TLS handshake.
    public var secureConnect: Duration?
    /// The time from the start to the first byte of the response. Includes all times above except `queued`.
    public var firstByte: Duration?
    /// The time from the start to the end of the body, including pauses of its reader.
    public var total: Duration?
    /// The number of bytes of the response, heads included, before content codings are decoded. The framing of TLS,
    /// chunks and HTTP/2 is not counted.
    public var bytesReceived: Int?
    /// The number of bytes of the request's body.
    public var bytesSent: Int?
    /// Whether the connection had served another request before.
    public var isReusedConnection: Bool?
    /// The ALPN name of the protocol, such as `http/1.1` or `h2`.
    public var protocolName: String?

    /// Creates metrics without values.
    public init() {}
}

/// The metrics of an exchange. The transport sets them at the end, and the holder of the response reads them.
package final class HTTPTransferRecord: Sendable {
    private let finished = Locked<HTTPTransferMetrics?>(nil)
    private let read: (@Sendable () -> HTTPTransferMetrics?)?

    /// Creates a record without metrics.
    package init() { read = nil }

    /// Creates a record that reads the metrics from a transport which keeps them itself.
    init(reading read: @escaping @Sendable () -> HTTPTransferMetrics?) { self.read = read }

    /// The metrics; nil until the body ends or fails. They do not change after that.
    package var metrics: HTTPTransferMetrics? { if let read { read() } else { finished.withLock { $0 } } }

    /// Sets the metrics. The transport calls this before the reader receives the end. Later calls have no effect.
    package func finish(_ metrics: HTTPTransferMetrics) {
        finished.withLock { finished in
            if finished == nil { finished = metrics }
        }
    }
}
