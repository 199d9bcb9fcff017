import AlcedoCore

/// What makes two loads the same: the image, the way it is decoded, and the caches they may use.
struct LoadKey: Hashable, Sendable {
    /// What a load is of those that show what is cached first.
    enum Round: Hashable, Sendable {
        /// None of theirs.
        case only
        /// The look into the caches. That they have nothing is no failure.
        case cached
        /// What the source has then.
        case fresh
    }

    private let key: ImageKey
    private let decoding: DecodingOptions
    private let policy: CachePolicy
    private let diskContent: DiskContent?
    private let acceptsLarger: Bool
    private let round: Round

    init(_ request: ImageRequest, key: ImageKey, round: Round = .only) {
        self.key = key
        decoding = request.decoding
        policy = request.cachePolicy
        diskContent = request.diskContent
        acceptsLarger = request.acceptsLarger
        self.round = round
    }
}
