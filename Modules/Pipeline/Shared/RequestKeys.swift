import AlcedoCore

/// What makes two loads the same: the image, the way it is decoded, and the caches they may use.
struct LoadKey: Hashable, Sendable {
    /// The phase of a request that shows the cached image first.
    enum Phase: Hashable, Sendable {
        /// The whole load of a request that does not show the cached image first.
        case single
        /// The look-up in the caches. A miss is not a failure.
        case cached
        /// The load from the source that follows.
        case refresh
    }

    private let key: ImageKey
    private let decoding: DecodingOptions
    private let policy: CachePolicy
    private let dataCachePolicy: DataCachePolicy?
    private let acceptsLargerCachedImage: Bool
    private let phase: Phase
    private let timeToLive: Duration?
    private let codecs: RequestToken?
    private let caching: RequestToken?
    private let modifier: RequestToken?

    init(_ request: ImageRequest, key: ImageKey, phase: Phase = .single) {
        self.key = key
        decoding = request.decoding
        policy = request.cachePolicy
        dataCachePolicy = request.dataCachePolicy
        acceptsLargerCachedImage = request.acceptsLargerCachedImage
        self.phase = phase
        timeToLive = request.timeToLive
        codecs = request.codecsToken
        caching = request.cachingToken
        modifier = request.modifierToken
    }
}

/// What makes two pieces of work on one image the same: its bytes, the way they are decoded, and the first few processors.
struct StepKey: Hashable, Sendable {
    private let original: ImageKey
    private let decoding: DecodingOptions
    /// Apart from the options: an image that was decoded towards it knows its full size.
    private let derivedTarget: TargetSize?
    private let policy: CachePolicy
    private let codecs: RequestToken?
    private let modifier: RequestToken?
    private let steps: [String]
    /// Of the bytes, where they are here already; nil: those that a load brings.
    private let digest: UInt64?

    var resource: ResourceKey { original.resource }

    /// - Parameter isShrunk: Whether the image is decoded towards the request's derived target, where it has one.
    init(_ request: ImageRequest, stepCount: Int, of digest: UInt64? = nil, isShrunk: Bool = true) {
        self.digest = digest
        derivedTarget = isShrunk ? request.derivedTarget : nil
        original = request.originalKey
        decoding = request.decoding
        var policy = request.cachePolicy
        // Who may put the image into memory and who may not can share the work.
        policy.memory.writes = false
        self.policy = policy
        codecs = request.codecsToken
        modifier = request.modifierToken
        steps = request.processors.prefix(stepCount).map(\.identifier)
    }
}

/// What makes two downloads the same: the resource, and the caches they may use.
struct DownloadKey: Hashable, Sendable {
    private let original: ImageKey
    private let policy: CachePolicy
    private let modifier: RequestToken?

    init(_ request: ImageRequest) {
        original = request.originalKey
        modifier = request.modifierToken
        var policy = request.cachePolicy
        // Requests that want the decoded image in memory and those that do not can share the bytes.
        policy.memory = .none
        self.policy = policy
    }
}
