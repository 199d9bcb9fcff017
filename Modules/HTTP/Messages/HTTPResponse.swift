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
    /// The part of a caching transport that the response came from; nil without one.
    public var responseSource: ResponseSource? { caching?.source }
    /// What a response cache did with the request; nil when there is none.
    package var caching: ResponseCaching?
    /// Where the transport records the metrics; nil when the response did not come from the network.
    package var transfer: HTTPTransferRecord?

    /// The times and sizes of the exchange; nil before the body has ended, and for a response that did not come from the
    /// network.
    public var metrics: HTTPTransferMetrics? { transfer?.metrics }

    /// Creates a response of a transport.
    ///
    /// - Parameters:
    ///   - head: The status and fields.
    ///   - body: The content, as it arrives.
    ///   - interim: The interim responses. Default: none.
    ///   - metrics: Returns the times and sizes of the exchange once the body has ended, and nil before. Called from any
    ///     thread; must not block. Default: nil, the transport does not measure.
    public init(
        head: HTTPResponseHead, body: HTTPBody, interim: [HTTPResponseHead] = [],
        metrics: (@Sendable () -> HTTPTransferMetrics?)? = nil
    ) {
        self.head = head
        self.body = body
        self.interim = interim
        transfer = metrics.map { HTTPTransferRecord(reading: $0) }
    }

    /// Creates a response whose metrics the transport records.
    package init(
        head: HTTPResponseHead, body: HTTPBody, interim: [HTTPResponseHead] = [], transfer: HTTPTransferRecord
    ) {
        self.init(head: head, body: body, interim: interim)
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
