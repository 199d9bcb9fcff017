import Alcedo

/// A disk cache each of whose writes takes some time more.
struct SlowDataCache: DataCaching {
    let cache: any DataCaching
    let delay: Duration

    func store(_ entry: CachedData, for key: ImageKey) async throws {
        try await Task.sleep(for: delay)
        try await cache.store(entry, for: key)
    }

    func entry(for key: ImageKey) async -> CachedData? { await cache.entry(for: key) }
    func contains(_ key: ImageKey) async -> Bool { await cache.contains(key) }
    func remove(_ key: ImageKey) async -> Bool { await cache.remove(key) }
    func removeAll(of resource: ResourceKey) async -> Int { await cache.removeAll(of: resource) }
    func removeAll() async { await cache.removeAll() }
    func flush() async { await cache.flush() }
    var totalSize: Int { get async { await cache.totalSize } }
    var count: Int { get async { await cache.count } }
}
