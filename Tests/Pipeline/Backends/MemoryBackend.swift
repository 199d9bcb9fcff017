import AlcedoCore
import AlcedoMemoryCache
import AlcedoNSCache

/// The memory caches that a pipeline is tested with. A new one is a case and a line.
enum MemoryBackend: String, CaseIterable {
    case adaptive, lru, autoPurging, nsCache, fake

    func make() -> any MaintainableMemoryCache {
        switch self {
        case .adaptive: ImageMemoryCache(costLimit: 1 << 20)
        case .lru: ImageMemoryCache(costLimit: 1 << 20, policy: .lru)
        case .autoPurging: AutoPurgingImageCache(pressureSource: nil)
        case .nsCache: NSCacheBackend(costLimit: 1 << 20)
        case .fake: DictionaryMemoryCache()
        }
    }
}
