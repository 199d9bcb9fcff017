public import AlcedoHTTP
public import FoundationEssentials

/// The downloaded content of a source.
public struct Download: Sendable {
    /// The whole content.
    public var data: Data
    /// The head of the response; nil if the source is not a server. Its URL is the last URL of a redirect chain.
    public var head: HTTPResponseHead?
    /// The names of the request fields by which the response varies (`Vary`, RFC 9111 section 4.1), in any case and
    /// order; nil if it may not be used for any other request (`*`).
    ///
    /// A pipeline uses the content only for requests with equal values for these fields. By default, the names are
    /// those of the response. They include those of the redirects that `sendFollowingRedirects` of the transport has
    /// followed. A downloader that follows redirects itself adds the names of the redirects. The name
    /// `alcedo-own-fields` stands for all fields of the caller, by which `private` and `no-store` responses vary.
    public var varyingFieldNames: [String]?
    /// The origin of the response: the network or a response cache; nil without a response cache. By default, that of
    /// the response.
    ///
    /// A downloader with a cache of another kind sets it, so that a pipeline loads bytes from the cache again if they
    /// do not decode.
    public var responseSource: ResponseSource? {
        get { caching?.source }
        set { caching.setSource(newValue, fields: head?.fields ?? HTTPFields()) }
    }
    /// The caches in which the content may be stored, as a response cache decided; nil without a response cache. By
    /// default, that of the response.
    ///
    /// With nil, `no-store` in the response's `Cache-Control` field forbids storing on disk (RFC 9111 section 5.2.2.5).
    public var storagePolicy: ResponseStoragePolicy? {
        get { caching.policy }
        set { caching.policy = newValue }
    }
    /// The decisions of a response cache about this response; nil without a response cache.
    package var caching: ResponseCaching?
    /// The times and sizes of the last exchange with the server. The value is nil if the source is not a server, if a
    /// response cache supplied the content (even if the server confirmed it), and if the transport does not measure.
    public var metrics: HTTPTransferMetrics?

    /// Creates the result of a download.
    ///
    /// - Parameters:
    ///   - data: The whole content.
    ///   - response: The response whose body is the content. It supplies the head, the varying fields, the metrics and
    ///     the decision about storing. Default: nil, for a source that is not a server.
    public init(data: Data, response: HTTPResponse? = nil) {
        self.init(data: data, head: response?.head, caching: response?.caching, metrics: response?.metrics)
        if let response { varyingFieldNames = response.varyingFields.names }
    }

    package init(
        data: Data, head: HTTPResponseHead?, caching: ResponseCaching? = nil, metrics: HTTPTransferMetrics? = nil
    ) {
        self.data = data
        self.head = head
        varyingFieldNames = head.map { VaryingFields(of: $0.fields).names } ?? []
        self.caching = caching
        self.metrics = metrics
    }

    /// Whether a copy may be stored on disk. The decision of the response cache applies. Without a response cache,
    /// `no-store` in the response's `Cache-Control` field forbids it (RFC 9111 section 5.2.2.5).
    package var allowsStoring: Bool {
        if let caching { return caching.decision.policy == .allowed }
        return head.map { !$0.fields.list("Cache-Control", contains: "no-store") } ?? true
    }
}

/// An error of a downloader that may be about a response of a server, such as one with status 404 or an empty body.
public protocol HTTPResponseError: Error {
    /// The head of the response; nil if the error is not about a response.
    var head: HTTPResponseHead? { get }
    /// The origin of a response whose content was rejected; nil for all other errors. The pipeline requests such a
    /// response again without the cache.
    var rejectedSource: ResponseSource? { get }
}

/// The progress of a transfer.
public struct DownloadProgress: Sendable, Hashable {
    /// The number of bytes received. It returns to zero when a transfer starts again from the first byte.
    public var received: Int
    /// The total number of bytes; nil if the source does not specify it.
    public var expected: Int?

    /// Creates the progress of a transfer.
    public init(received: Int, expected: Int?) {
        self.received = received
        self.expected = expected
    }
}
