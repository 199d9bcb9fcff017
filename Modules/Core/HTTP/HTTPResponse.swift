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
