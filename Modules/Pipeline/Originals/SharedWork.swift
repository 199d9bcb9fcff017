import AlcedoCore

/// What two requests share a load of bytes by.
struct SharedWork: Hashable, Sendable {
    private let original: ImageKey
    private let policy: CachePolicy

    init(_ request: ImageRequest) {
        original = request.originalKey
        var policy = request.cachePolicy
        // Requests that want the decoded image in memory and those that do not can share the bytes.
        policy.memory = []
        self.policy = policy
    }
}
