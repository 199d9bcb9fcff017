import AlcedoCore

/// What makes two pieces of work on one image the same: its bytes, the way they are decoded, and the first few processors.
struct StepKey: Hashable, Sendable {
    private let original: ImageKey
    private let decoding: DecodingOptions
    private let policy: CachePolicy
    private let steps: [String]
    /// Of the bytes, where they are here already; nil: those that a load brings.
    private let digest: UInt64?

    var resource: ResourceKey { original.resource }

    init(_ request: ImageRequest, stepCount: Int, of digest: UInt64? = nil) {
        self.digest = digest
        original = request.originalKey
        decoding = request.decoding
        var policy = request.cachePolicy
        // Who may put the image into memory and who may not can share the work.
        policy.memory.remove(.write)
        self.policy = policy
        steps = request.processors.prefix(stepCount).map(\.identifier)
    }
}
