import AlcedoCore
public import AlcedoHTTP
import FoundationEssentials

/// A content that was written to a file.
public struct DownloadedFile: Sendable {
    /// Where it is.
    public var path: String
    /// Its size.
    public var byteCount: Int
    /// The head of the answer, when the source is a server; its URL is the last one of a chain of redirects.
    public var head: HTTPResponseHead?
    /// What a response cache on the way did; nil when there is none.
    package var caching: ResponseCaching?
    /// What the last exchange with the server took; nil where nobody measured.
    public var metrics: HTTPTransferMetrics?

    init(_ delivery: Delivery, path: String) {
        (self.path, byteCount) = (path, delivery.byteCount)
        (head, caching, metrics) = (delivery.end.head, delivery.end.caching, delivery.end.metrics)
    }
}

/// What a transfer has brought, to memory or to a file.
struct Delivery: Sendable {
    /// Empty when it went to a file.
    var data = Data()
    var byteCount: Int
    var end: SourceEnd

    init(data: Data, end: SourceEnd) { (self.data, byteCount, self.end) = (data, data.count, end) }

    /// What went to a file.
    init(byteCount: Int, end: SourceEnd) { (self.byteCount, self.end) = (byteCount, end) }
}

/// What is known of a content beside its bytes.
struct SourceEnd: Sendable {
    /// Nil for a source that is not a server.
    var head: HTTPResponseHead?
    var caching: ResponseCaching?
    /// Where the transport has noted what the exchange took.
    var transfer: HTTPTransferRecord?

    var metrics: HTTPTransferMetrics? { transfer?.metrics }
}

extension Download {
    init(_ delivery: Delivery) {
        let end = delivery.end
        self.init(data: delivery.data, head: end.head, caching: end.caching, metrics: end.metrics)
    }
}
