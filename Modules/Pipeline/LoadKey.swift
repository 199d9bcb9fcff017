import AlcedoCore

/// What makes two loads the same: the image, the way it is decoded, and the caches they may use.
struct LoadKey: Hashable, Sendable {
    private let key: ImageKey
    private let decoding: DecodingOptions
    private let policy: CachePolicy

    init(_ request: ImageRequest, key: ImageKey) {
        self.key = key
        decoding = request.decoding
        policy = request.cachePolicy
    }
}
