import AlcedoCore
import AlcedoDiskCache
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Properties, listings and statistics of a cache.
@Suite(.timeLimit(.minutes(10)))
struct ListingTests {
    private let directory: TemporaryDirectory
    private let clock = ManualClock()

    init() throws { directory = try TemporaryDirectory() }

    private func cache(pathExtension: String? = nil, durability: Durability = .none) -> FileDiskCache {
        FileDiskCache(
            directory: directory.url, pathExtension: pathExtension, durability: durability, clock: clock)
    }

    @Test func `items list name, size and dates, the least recently used first`() async throws {
        let cache = cache()
        let start = clock.now
        try await cache.store(CachedData(bytes(2 * block), metadata: bytes(20), expiry: start + 500.25), for: key("a"))
        clock.advance(by: .milliseconds(1500))
        try await cache.store(bytes(0), for: key("b"))
        clock.advance(by: .milliseconds(1500))
        _ = await cache.entry(for: key("a"))

        let expected = [
            DataCacheItem(
                name: key("b").fileName, size: block, storedAt: start + 1.5, lastUse: start + 1.5),
            DataCacheItem(
                name: key("a").fileName, size: 3 * block, storedAt: start, lastUse: start + 3, expiry: start + 500.25),
        ]
        #expect(await cache.items() == expected)
        await cache.flush()
        #expect(await self.cache().items() == expected)
    }

    @Test func `neither lookups without reading nor listing counts as a use`() async throws {
        let cache = cache()
        for name in ["a", "b"] { try await cache.store(bytes(10), for: key(name)) }
        clock.advance(by: .seconds(5))
        let before = await cache.items()
        #expect(await cache.contains(key("a")))
        _ = await cache.key(named: key("a").fileName)
        _ = cache.path(for: key("a"))
        await cache.verify()
        _ = (await cache.count, await cache.totalSize)
        #expect(await cache.items() == before)
        #expect(cache.statistics.hits == 0)
        #expect(cache.statistics.misses == 0)
    }

    @Test(arguments: ["a", "", "../../etc/passwd", "a\0b", String(repeating: "ä", count: 5000), "🦜🪶"])
    func `a file name yields its key`(text: String) async throws {
        let cache = cache()
        let key = ImageKey(ResourceKey(text), variant: text + "@small")
        try await cache.store(bytes(10), for: key)
        let name = try #require(await cache.items().first?.name)
        #expect(name == key.fileName)
        #expect(await cache.key(named: name) == key)
        #expect(directory.files.count == 1)
    }

    @Test func `an invalid, missing or damaged name yields no key`() async throws {
        let cache = cache()
        try await cache.store(bytes(10), for: key("a"))
        let name = key("a").fileName
        for other in ["", "a", "../" + name, name + "0", String(name.dropLast()), name.uppercased(), key("b").fileName]
        {
            #expect(await cache.key(named: other) == nil, "\(other)")
        }
        try Data(count: 100).write(to: URL(filePath: directory.file("a")))
        #expect(await cache.key(named: name) == nil)
    }

    @Test func `the name of an expired entry yields no key, whether or not the index is known`() async throws {
        let cache = cache()
        try await cache.store(CachedData(bytes(10), expiry: clock.now + 10), for: key("a"))
        try await cache.store(bytes(10), for: key("b"))
        await cache.flush()
        clock.advance(by: .milliseconds(9_999))
        #expect(await cache.key(named: key("a").fileName) == key("a"))
        clock.advance(by: .milliseconds(1))

        #expect(await cache.key(named: key("a").fileName) == nil)
        #expect(await self.cache().key(named: key("a").fileName) == nil)
        #expect(await cache.key(named: key("b").fileName) == key("b"))
    }

    @Test func `the path of an entry is the location of its file, even before the store`() async throws {
        let cache = cache(pathExtension: "png")
        let url = try #require(cache.path(for: key("a")))
        #expect(url.path == directory.file("a") + ".png")
        #expect(!FileManager.default.fileExists(atPath: url.path))
        try await cache.store(bytes(10), for: key("a"))
        // The file begins with the data.
        #expect(FileManager.default.contents(atPath: url.path)?.prefix(10) == bytes(10))
        #expect(FileDiskCache(directory: try #require(URL(string: "https://a.b/c"))).path(for: key("a")) == nil)
    }

    @Test(arguments: [
        "", ".", "..", "/", "a/b", "../x", "a.b", "a b", "a\0", "ä", "%2e", "png\n", String(repeating: "a", count: 17),
    ])
    func `an invalid path extension is ignored`(text: String) async throws {
        let cache = cache(pathExtension: text)
        #expect(cache.path(for: key("a"))?.path == directory.file("a"))
        try await cache.store(bytes(10), for: key("a"))
        #expect(directory.files == [directory.file("a")])
    }

    @Test func `opening with another path extension keeps the entries`() async throws {
        for (step, text) in [nil, "png", "JPG", nil, "a1b2c3d4e5f6g7h8", "x"].enumerated() {
            let cache = cache(pathExtension: text)
            for number in 0..<step { #expect(await cache.data(for: key("\(number)")) == bytes(number)) }
            try await cache.store(bytes(step), for: key("\(step)"))
            #expect(await cache.count == step + 1)
            #expect(await cache.totalSize == directory.fileSizes)
            #expect(directory.files.allSatisfy { $0.hasSuffix(text.map { "." + $0 } ?? "") })
        }
    }

    @Test(arguments: [Durability.none, .entry, .directory])
    func `an entry of any durability level is found`(durability: Durability) async throws {
        let cache = cache(durability: durability)
        for number in 0..<10 { try await cache.store(bytes(number * 100), for: key("\(number % 7)")) }
        for reader in [cache, self.cache()] {
            for number in 3..<10 { #expect(await reader.data(for: key("\(number % 7)")) == bytes(number * 100)) }
        }
        #expect(await cache.count == 7)
    }

    @Test func `hits, misses and stores are counted`() async throws {
        let cache = FileDiskCache(
            directory: directory.url, limits: DataCacheLimits(sizeLimit: 5 * block, countLimit: 5), clock: clock)
        for number in 0..<5 { try await cache.store(bytes(10), for: key("\(number)")) }
        _ = await cache.entry(for: key("0"))
        _ = await cache.mappedEntry(for: key("1"))
        _ = await cache.chunks(for: key("2"))
        _ = await cache.entry(for: key("nobody"))
        _ = await cache.chunks(for: key("nobody"))
        await #expect(throws: DataCacheError.self) { try await cache.store(bytes(5 * block), for: key("large")) }
        try Data(count: 90).write(to: URL(filePath: directory.file("3")))
        _ = await cache.entry(for: key("3"))
        await cache.trim(toSize: .max, count: 2)

        var expected = CacheStatistics()
        expected.hits = 3
        expected.misses = 3
        expected.stores = 5
        expected.failures = 1
        expected.damagedEntries = 1
        expected.recordEvictions(.trimmed, count: 2, cost: 2 * block)
        #expect(cache.statistics == expected)
    }

    @Test func `a cache whose directory does not exist lists nothing`() async throws {
        let cache = FileDiskCache(directory: try #require(URL(string: "https://a.b/c")))
        #expect(await cache.items().isEmpty)
        let error = try #require(await cache.listingError())
        #expect(error.code == .notWritable)
        #expect(await cache.verify() == DataCacheVerification(error: error))
        #expect(await cache.trim() == DataCacheTrimReport(error: error))
        #expect(await cache.trim(toSize: 0) == DataCacheTrimReport(error: error))
        #expect(await cache.key(named: key("a").fileName) == nil)
        #expect(await cache.mappedEntry(for: key("a")) == nil)
        #expect(await cache.chunks(for: key("a")) == nil)
        #expect(await cache.adoptEntries(of: directory.url) == 0)
        #expect(await cache.removeAll(of: ResourceKey("a")) == 0)
        await cache.flush()
    }
}
