import AlcedoCore

/// What makes two pieces of work on one image the same: its bytes, the way they are decoded, and the first few processors.
struct StepKey: Hashable, Sendable {
    private let original: ImageKey
    private let decoding: DecodingOptions
    private let policy: CachePolicy
    private let steps: [String]

    init(_ request: ImageRequest, stepCount: Int) {
        original = request.originalKey
        decoding = request.decoding
        var policy = request.cachePolicy
        // Who may put the image into memory and who may not can share the work.
        policy.memory.remove(.write)
        self.policy = policy
        steps = request.processors.prefix(stepCount).map(\.identifier)
    }
}
