import AlcedoRuntime
public import FoundationEssentials

/// An answer: its head, which has arrived, and its body, which may still be on its way.
public struct HTTPResponse: Sendable {
    /// Status and fields.
    public var head: HTTPResponseHead
    /// The content, as it arrives.
    public var body: HTTPBody
    /// The interim answers (status 100 to 199) that came before the head, such as early hints (RFC 8297), in order. Not
    /// all transports tell them; a flood of them is cut short.
    public var interim: [HTTPResponseHead]
    /// What a response cache did with the request; nil when there is none on the way.
    public var caching: ResponseCaching?
    /// Where the transport notes what the exchange took; nil when the answer did not come from the network.
    public var transfer: HTTPTransferRecord?

    /// What the exchange took; nil before the body has ended, and where ``transfer`` is nil.
    public var metrics: HTTPTransferMetrics? { transfer?.metrics }

    /// An answer of a transport.
    public init(
        head: HTTPResponseHead, body: HTTPBody, interim: [HTTPResponseHead] = [], caching: ResponseCaching? = nil,
        transfer: HTTPTransferRecord? = nil
    ) {
        self.head = head
        self.body = body
        self.interim = interim
        self.caching = caching
        self.transfer = transfer
    }
}

/// The status and fields of an answer.
public struct HTTPResponseHead: Sendable, Hashable {
    /// The URL that was asked for.
    public var url: URL
    /// A three-digit number; unknown ones are passed on.
    public var status: Int
    /// The header fields.
    public var fields: HTTPFields

    /// A head; by default without fields.
    public init(url: URL, status: Int, fields: HTTPFields = HTTPFields()) {
        self.url = url
        self.status = status
        self.fields = fields
    }

    /// Whether the status says that the request succeeded: 200 to 299.
    public var isSuccess: Bool { (200..<300).contains(status) }

    /// The length that the head declares for the body, when it is one non-negative decimal number and no content
    /// coding changes it on the way.
    package var declaredBodyLength: Int? {
        guard fields["Content-Encoding"] == nil, let value = fields["Content-Length"] else { return nil }
        guard !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(value)
    }
}

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

/// Where a transport notes what an exchange took, for whoever holds the answer.
public final class HTTPTransferRecord: Sendable {
    private let noted = Locked<HTTPTransferMetrics?>(nil)

    /// Nothing noted yet.
    public init() {}

    /// Nil until the body has ended, in whatever way; what is here then is final.
    public var metrics: HTTPTransferMetrics? { noted.withLock { $0 } }

    /// Notes how it went. Called by the transport before the reader learns of the end; only the first call counts.
    public func finish(_ metrics: HTTPTransferMetrics) {
        noted.withLock { noted in
            if noted == nil { noted = metrics }
        }
    }
}
