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
