import AlcedoCore
public import AlcedoHTTP

/// The result of a download to a file.
public struct DownloadedFile: Sendable {
    /// The path that the caller passed. The file is complete and on disk.
    public var path: String
    /// The size of the file in bytes.
    public var byteCount: Int
    /// The head of the response; nil when the source is not a server. Its URL is the last URL of a redirect chain.
    public var head: HTTPResponseHead?
    /// The decisions of a response cache about the response; nil without a response cache.
    package var caching: ResponseCaching?
    /// The times and sizes of the last exchange with the server; nil if the transport does not measure, or if the
    /// content did not come from the network.
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
        varyingFieldNames = summary.varyingFields.names
    }
}
