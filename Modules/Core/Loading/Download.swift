public import FoundationEssentials

/// The content of a source.
public struct Download: Sendable {
    /// The whole content.
    public var data: Data
    /// The head of the answer, when the source is a server; its URL is the last one of a chain of redirects.
    public var head: HTTPResponseHead?
    /// What a response cache on the way did; nil when there is none.
    public var caching: ResponseCaching?
    /// What the last exchange with the server took; nil where nobody measured.
    public var metrics: HTTPTransferMetrics?

    /// A content; by default of a source that is no server.
    public init(
        data: Data, head: HTTPResponseHead? = nil, caching: ResponseCaching? = nil, metrics: HTTPTransferMetrics? = nil
    ) {
        self.data = data
        self.head = head
        self.caching = caching
        self.metrics = metrics
    }

    /// Whether a copy may be kept on disk. The response cache's verdict counts; without one, whether the server forbids
    /// it (RFC 9111 section 5.2.2.5).
    public var allowsStoring: Bool {
        if let caching { return caching.verdict.policy == .allowed }
        return head.map { !$0.fields.list("Cache-Control", contains: "no-store") } ?? true
    }
}
