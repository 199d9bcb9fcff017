import AlcedoCore

/// What is known of a content beside its bytes.
struct SourceEnd: Sendable {
    var head: HTTPResponseHead
    var caching: ResponseCaching?
}
