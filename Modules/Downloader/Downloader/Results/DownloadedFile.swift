public import AlcedoCore

/// A content that was written to a file.
public struct DownloadedFile: Sendable {
    /// Where it is.
    public var path: String
    /// Its size.
    public var byteCount: Int
    /// The head of the answer, when the source is a server; its URL is the last one of a chain of redirects.
    public var head: HTTPResponseHead?
    /// What a response cache on the way did; nil when there is none.
    public var caching: ResponseCaching?
    /// What the last exchange with the server took; nil where nobody measured.
    public var metrics: HTTPTransferMetrics?

    init(_ delivery: Delivery, path: String) {
        (self.path, byteCount) = (path, delivery.byteCount)
        (head, caching, metrics) = (delivery.end.head, delivery.end.caching, delivery.end.metrics)
    }
}
