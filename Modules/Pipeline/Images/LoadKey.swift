import AlcedoCore

/// What makes two loads the same: the image, the way it is decoded, and the caches they may use.
struct LoadKey: Hashable, Sendable {
    private let key: ImageKey
    private let decoding: DecodingOptions
    private let policy: CachePolicy
    private let diskContent: DiskContent?
    private let isRefresh: Bool

    init(_ request: ImageRequest, key: ImageKey, isRefresh: Bool = false) {
        self.key = key
        decoding = request.decoding
        policy = request.cachePolicy
        diskContent = request.diskContent
        self.isRefresh = isRefresh
    }
}
