import AlcedoCore

/// What makes two downloads the same: for a server the whole request, otherwise the source's identity, and where the
/// content goes. Requests of methods that are not safe (RFC 9110 section 9.2.1) are never the same.
struct TransferKey: Hashable, Sendable {
    private let order: TransferOrder
    /// Of a source that is not a server.
    private let resource: ResourceKey?
    /// Made once, because a key is looked for several times.
    private let digest: Int

    init(_ order: TransferOrder) {
        self.order = order
        var hasher = Hasher()
        if case .http(let request) = order.source {
            resource = nil
            hasher.combine(request)
        } else {
            resource = order.source.resource
            hasher.combine(resource)
        }
        hasher.combine(order.path)
        digest = hasher.finalize()
    }

    static func == (a: Self, b: Self) -> Bool {
        if a.order === b.order { return true }
        guard a.digest == b.digest, a.order.path == b.order.path, a.resource == b.resource else { return false }
        return switch (a.order.source, b.order.source) {
        // Who asks twice for something to be done wants it done twice.
        case (.http(let a), .http(let b)): a.method.isSafe && a == b
        case (.http, _), (_, .http): false
        default: true
        }
    }

    func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
