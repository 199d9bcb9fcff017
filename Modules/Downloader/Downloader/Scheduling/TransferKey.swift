import AlcedoCore

/// What makes two downloads the same: for a server the whole request, otherwise the source's identity, and where the
/// content goes.
struct TransferKey: Hashable, Sendable {
    private enum Source: Hashable {
        case http(HTTPRequest)
        case other(ResourceKey)
    }

    private let source: Source
    private let path: String?

    init(_ order: TransferOrder) {
        switch order.source {
        case .http(let request): source = .http(request)
        case .file, .dataURL, .bytes, .provider: source = .other(order.source.resource)
        }
        path = order.path
    }
}
