import AlcedoCore

/// What is known of a content beside its bytes.
struct SourceEnd: Sendable {
    /// Nil for a source that is not a server.
    var head: HTTPResponseHead?
    var caching: ResponseCaching?
    var metrics: HTTPTransferMetrics?
}
