import AlcedoCore
import AlcedoMemoryCache
import AlcedoTesting
import TestSupport

/// A cache that can be made read-only, like one in a read-only directory.
final class ReadOnlyCache: MeasurableDataCache {
    let isReadOnly = Watched(false)
    private let cache: DataMemoryCache

    init(_ cache: DataMemoryCache) { self.cache = cache }

    func entry(for key: ImageKey) async -> CachedData? { cache.entry(for: key) }

    func contains(_ key: ImageKey) async -> Bool { cache.contains(key) }

    func store(_ entry: CachedData, for key: ImageKey) async throws {
        guard !isReadOnly.value else { throw DataCacheError(.notWritable, "read only") }
        try cache.store(entry, for: key)
    }

    func remove(_ key: ImageKey) async -> Bool { isReadOnly.value ? false : cache.remove(key) }

    func removeAll(of resource: ResourceKey) async -> Int { isReadOnly.value ? 0 : cache.removeAll(of: resource) }

    func removeAll() async { if !isReadOnly.value { cache.removeAll() } }

    var totalSize: Int { get async { cache.totalSize } }

    var count: Int { get async { cache.count } }
}
