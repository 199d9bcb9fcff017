import AlcedoCore

/// Tells whether two requests ask for the same load, so that the second need not start one.
///
/// Only for that question. Which load a result belongs to is told by its ``Receipt``.
struct LoadIdentity: Equatable, Sendable {
    private enum Source: Equatable {
        case http(HTTPRequest)
        case other(ResourceKey)
    }

    private let key: ImageKey
    // A request may carry a resource name of its own, so equal keys do not mean equal sources.
    private let source: Source
    // A reload is not satisfied by a load in flight that may read the caches.
    private let cachePolicy: CachePolicy

    init(_ request: ImageRequest) {
        key = request.key
        cachePolicy = request.cachePolicy
        source =
            if case .http(let http) = request.source { .http(http) } else { .other(request.source.resource) }
    }
}
