import AlcedoCore
import AlcedoDiskCache
import AlcedoPipeline
import AlcedoSQLiteCache
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// A cache that forwards all calls to another.
private struct Wrapper: MaintainableDataCache {
    let cache: any MaintainableDataCache
    /// Whether the maintenance is the other cache rather than this one.
    let delegatesMaintenance: Bool

    var maintenance: (any MaintainableDataCache)? {
        if delegatesMaintenance { return cache }
        return self
    }
    var totalSize: Int { get async { await cache.totalSize } }
    var count: Int { get async { await cache.count } }
    var statistics: CacheStatistics { cache.statistics }

    func entry(for key: ImageKey) async -> CachedData? { await cache.entry(for: key) }
    func contains(_ key: ImageKey) async -> Bool { await cache.contains(key) }
    func store(_ entry: CachedData, for key: ImageKey) async throws { try await cache.store(entry, for: key) }
    func remove(_ key: ImageKey) async -> Bool { await cache.remove(key) }
    func removeAll(of resource: ResourceKey) async -> Int { await cache.removeAll(of: resource) }
    func removeAll() async { await cache.removeAll() }
    func flush() async { await cache.flush() }
    func items() async -> [DataCacheItem] { await cache.items() }
    func key(named name: String) async -> ImageKey? { await cache.key(named: name) }
    func trim(toSize size: Int?, count: Int?) async -> DataCacheTrimReport {
        await cache.trim(toSize: size, count: count)
    }
    func observeTrims(_ handler: @escaping @Sendable (DataCacheTrimReport) -> Void) -> any Sendable {
        cache.observeTrims(handler)
    }
}

/// An image cache reports what its disk cache removes in the background.
@Suite(.timeLimit(.minutes(10)))
struct ImageCacheTrimTests {
    /// A disk cache on a directory.
    enum Storage: CaseIterable {
        case files, database
    }

    private let directory: TemporaryDirectory
    private let parts = ImageCacheParts()
    private let told = Watched<[String]>([])

    init() throws { directory = try TemporaryDirectory() }

    private func disk(_ storage: Storage, _ limits: DataCacheLimits) -> any MaintainableDataCache {
        switch storage {
        case .files: FileDiskCache(directory: directory.url, limits: limits, clock: parts.clock)
        case .database: SQLiteDiskCache(directory: directory.url, limits: limits, clock: parts.clock)
        }
    }

    private func cache(on disk: any MaintainableDataCache) -> ImageCache {
        parts.cache {
            $0.diskCache = disk
            $0.onClean = { [told] names in told.update { $0 += names } }
        }
    }

    private func name(_ number: Int) -> String { ImageCache.imageKey("\(number)").fileName }

    private func store(_ numbers: Range<Int>, in cache: ImageCache) async throws {
        for number in numbers { try await cache.store(.gray(side: 1, level: 1), forKey: "\(number)") }
    }

    @Test(arguments: Storage.allCases)
    func `a trim in the background is reported`(storage: Storage) async throws {
        let disk = disk(storage, DataCacheLimits(countLimit: 10))
        let cache = cache(on: disk)

        try await store(0..<11, in: cache)
        await cache.flush()

        #expect(Set(told.value) == [name(0), name(1)])
        #expect(told.value.count == 2)
        #expect(await disk.count == 9)
    }

    @Test(arguments: Storage.allCases)
    func `a sweep of expired entries is reported`(storage: Storage) async throws {
        let cache = cache(on: disk(storage, DataCacheLimits(maximumAge: .seconds(90))))
        try await store(0..<2, in: cache)
        try await parts.clock.waitForSleepers(count: 1)

        parts.clock.advance(by: .seconds(600))

        try await told.waitUntil { $0.count == 2 }
        #expect(Set(told.value) == [name(0), name(1)])
    }

    @Test(arguments: Storage.allCases)
    func `a requested clean is reported once`(storage: Storage) async throws {
        let cache = cache(on: disk(storage, DataCacheLimits(maximumAge: .seconds(90))))
        try await store(0..<2, in: cache)
        // The check after the first store must not find them expired.
        await cache.flush()
        parts.clock.advance(by: .seconds(100))

        let removed = await cache.cleanExpired()

        #expect(Set(removed) == [name(0), name(1)])
        #expect(told.value.sorted() == removed.sorted())
    }

    @Test(arguments: Storage.allCases, [true, false])
    func `a cache that wraps a disk cache reports its cleans`(storage: Storage, delegates: Bool) async throws {
        let disk = Wrapper(
            cache: disk(storage, DataCacheLimits(maximumAge: .seconds(90))), delegatesMaintenance: delegates)
        let cache = ImageCache(
            codecs: parts.codec.registry, diskCache: disk, onClean: { [told] names in told.update { $0 += names } })
        try await store(0..<1, in: cache)
        await cache.flush()
        parts.clock.advance(by: .seconds(100))

        #expect(await cache.cleanExpired() == [name(0)])

        #expect(told.value == [name(0)])
    }

    @Test(arguments: Storage.allCases)
    func `a released cache receives no reports`(storage: Storage) async throws {
        let disk = disk(storage, DataCacheLimits(countLimit: 10))
        try await store(0..<10, in: cache(on: disk))

        try await store(10..<11, in: parts.cache { $0.diskCache = disk })
        await disk.flush()

        #expect(await disk.count == 9)
        #expect(told.value.isEmpty)
    }
}
