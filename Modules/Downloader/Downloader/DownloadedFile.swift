import AlcedoCore
public import AlcedoHTTP

/// The result of a download to a file.
public struct DownloadedFile: Sendable {
    /// Where the file is.
    public var path: String
    /// The size of the file in bytes.
    public var byteCount: Int
    /// The head of the response, when the source is a server; its URL is the last one of a chain of redirects.
    public var head: HTTPResponseHead?
    /// What a response cache on the way did; nil when there is none.
    package var caching: ResponseCaching?
    /// The metrics of the last exchange with the server; nil where the transport has none.
    public var metrics: HTTPTransferMetrics?

    init(_ result: TransferResult, path: String) {
        (self.path, byteCount) = (path, result.byteCount)
        (head, caching, metrics) = (result.summary.head, result.summary.caching, result.summary.metrics)
    }
}

extension Download {
    init(_ result: TransferResult) {
        let summary = result.summary
        self.init(data: result.data, head: summary.head, caching: summary.caching, metrics: summary.metrics)
    }
}
