import AlcedoCore

/// What makes two downloads the same: for a server the whole request, otherwise the source's identity and the version of a
/// file, and where the content goes. Requests of methods that are not safe (RFC 9110 section 9.2.1) are never the same.
struct TransferKey: Hashable, Sendable {
    private let order: TransferOrder
    /// Made once, because a key is looked for several times.
    private let digest: Int

    init(_ order: TransferOrder) {
        self.order = order
        var hasher = Hasher()
        if case .http(let request) = order.source {
            hasher.combine(request)
        } else {
            hasher.combine(order.source.resource)
            hasher.combine(order.fileVersion)
        }
        hasher.combine(order.path)
        digest = hasher.finalize()
    }

    static func == (a: Self, b: Self) -> Bool {
        if a.order === b.order { return true }
        guard a.digest == b.digest, a.order.path == b.order.path, a.order.fileVersion == b.order.fileVersion else {
            return false
        }
        // Who asks twice for something to be done wants it done twice.
        if case .http(let request) = a.order.source, !request.method.isSafe { return false }
        return ImageSource.areSame(a.order.source, b.order.source)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
