import AlcedoCore

/// The cache modes of the Fetch standard, as a call names them.
enum CacheMode: String, Decodable {
    case `default`
    case noCache = "no-cache"
    case reload
    case forceCache = "force-cache"
    case onlyIfCached = "only-if-cached"
    /// The answer is not stored either.
    case noStore = "no-store"

    var policy: HTTPCachePolicy {
        switch self {
        case .default: .useProtocolCachePolicy
        case .noCache: .reloadRevalidatingCacheData
        case .forceCache: .returnCacheDataElseLoad
        case .onlyIfCached: .returnCacheDataDontLoad
        case .reload, .noStore: .reloadIgnoringLocalAndRemoteCacheData
        }
    }
}
