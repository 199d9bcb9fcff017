import AlcedoCore

// The requests are resolved: their modifiers have run, and `sent` is set for requests to servers.

/// The key of a load. Requests with equal keys share a load. They need the same image, decoding and phase, send the
/// same request, and have the same cache policies, times to live, codecs and closures, and the same limit of the data
/// in their response. Either all or none of them accept a larger cached image.
struct LoadKey: Hashable, Sendable {
    enum Phase: Hashable, Sendable {
        /// The whole load of a request, when the cached image is not looked up separately.
        case single
        /// The lookup of the cached image. A miss is not a failure.
        case cached
        /// The load from the source, after the lookup.
        case refresh
    }

    private let key: ImageKey
    private let decoding: DecodingOptions
    private let policy: CachePolicy
    private let dataCachePolicy: DataCachePolicy?
    private let acceptsLargerCachedImage: Bool
    private let phase: Phase
    private let memoryTimeToLive: Duration?
    private let diskTimeToLive: Duration?
    private let codecs: RequestToken?
    private let caching: RequestToken?
    private let maximumDataByteCount: Int
    private let sent: SentRequest?

    init(_ request: ImageRequest, key: ImageKey, phase: Phase = .single) {
        self.key = key
        decoding = request.decoding
        policy = request.cachePolicy
        dataCachePolicy = request.dataCachePolicy
        acceptsLargerCachedImage = request.acceptsLargerCachedImage
        self.phase = phase
        memoryTimeToLive = request.memoryTimeToLive
        diskTimeToLive = request.diskTimeToLive
        codecs = request.codecsToken
        caching = request.cachingToken
        maximumDataByteCount = request.maximumDataByteCount
        sent = request.sent
    }
}

/// The key of an intermediate image. Requests with equal keys share the image. They have the same original, decoding,
/// color space, codecs and first processors, send the same request, and have the same cache policy, except for writing
/// to memory.
struct StepKey: Hashable, Sendable {
    private let original: ImageKey
    private let decoding: DecodingOptions
    private let colorSpace: OutputColorSpace
    private let policy: CachePolicy
    private let codecs: RequestToken?
    private let sent: SentRequest?
    /// The identifiers of the processors. The keys of one chain share their storage.
    private let steps: ArraySlice<String>
    /// The digest of bytes that are already loaded, or nil when a load provides them.
    private let digest: UInt64?

    var resource: ResourceKey { original.resource }

    /// Creates the key of the image after the first processors.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - stepCount: The number of processors to apply.
    ///   - identifiers: The identifiers of the request's processors, for callers that create many keys; nil to read
    ///     those that the key needs. Default: nil.
    ///   - digest: The digest of bytes that are already loaded, or nil. Default: nil.
    init(_ request: ImageRequest, stepCount: Int, identifiers: [String]? = nil, of digest: UInt64? = nil) {
        self.digest = digest
        original = request.originalKey
        decoding = request.decoding
        colorSpace = request.colorSpace
        var policy = request.cachePolicy
        // A request that may write to memory and one that may not can share the work.
        policy.memory.writes = false
        self.policy = policy
        codecs = request.codecsToken
        sent = request.sent
        steps = identifiers?.prefix(stepCount) ?? request.processors.prefix(stepCount).map(\.identifier)[...]
    }
}

/// The key of a download. Requests with equal keys share the download. They have the same original, send the same
/// request, and have the same cache policy, except for memory.
struct DownloadKey: Hashable, Sendable {
    private let original: ImageKey
    private let policy: CachePolicy
    private let sent: SentRequest?

    init(_ request: ImageRequest) {
        original = request.originalKey
        sent = request.sent
        var policy = request.cachePolicy
        // Requests that use the memory cache and those that do not can share the bytes.
        policy.memory = .none
        self.policy = policy
    }
}
