/// An HTTP response: the head, which has arrived, and the body, which may still be in transfer.
///
/// ```swift
/// let head = HTTPResponseHead(url: url, status: 200, fields: ["Content-Type": "image/png"])
/// let response = HTTPResponse(head: head, body: HTTPBody(data))
/// ```
public struct HTTPResponse: Sendable {
    /// The status and fields.
    public var head: HTTPResponseHead
    /// The content, delivered as it arrives.
    public var body: HTTPBody
    /// The interim responses (status 100 to 199) that arrived before the head, in order, such as early hints (RFC
    /// 8297). Some transports do not report them. A transport may limit their number.
    public var interim: [HTTPResponseHead]
    /// The origin of the response, the network or the store of a caching transport. The value is nil without a caching
    /// transport, and for a 504 response that the caching transport creates itself.
    ///
    /// A caching transport of another kind sets it, so that a pipeline loads bytes from the store again if they do not
    /// decode.
    public var responseSource: ResponseSource? {
        get { caching?.source }
        set { caching.setSource(newValue, fields: head.fields) }
    }
    /// The caches in which a response cache below permits storing the content; nil without a response cache. A caching
    /// transport of your own sets it; a downloader then stores no content that it forbids. The transport of this
    /// package may make it stricter until the body has been read to its end.
    public var storagePolicy: ResponseStoragePolicy? {
        get { caching.policy }
        set { caching.policy = newValue }
    }
    /// The request fields by which the redirects to this response vary. Default: none.
    package var redirectVariance = VaryingFields.none
    /// The request fields by which this response and the redirects to it vary.
    package var varyingFields: VaryingFields { redirectVariance.union(VaryingFields(of: head.fields)) }
    /// The decisions of a response cache about the response; nil without a response cache.
    package var caching: ResponseCaching?
    /// The record of the metrics; nil if the response did not come from the network, or if the transport does not
    /// measure.
    package var transfer: HTTPTransferRecord?

    /// The times and sizes of the exchange; nil before the body has ended or failed. Also nil if the response did not
    /// come from the network, or if the transport does not measure.
    public var metrics: HTTPTransferMetrics? { transfer?.metrics }

    /// Creates the response of a transport.
    ///
    /// - Parameters:
    ///   - head: The status and fields.
    ///   - body: The content, delivered as it arrives.
    ///   - interim: The interim responses. Default: none.
    ///   - metrics: Returns the times and sizes of the exchange after the body has ended, and nil before. Called on any
    ///     thread; must not block. Default: nil, for a transport that does not measure.
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
