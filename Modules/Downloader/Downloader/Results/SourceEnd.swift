import AlcedoCore

/// What is known of a content beside its bytes.
struct SourceEnd: Sendable {
    /// Nil for a source that is not a server.
    var head: HTTPResponseHead?
    var caching: ResponseCaching?
    /// Where the transport has noted what the exchange took.
    var transfer: HTTPTransferRecord?

    var metrics: HTTPTransferMetrics? { transfer?.metrics }
}
