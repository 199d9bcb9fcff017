import AlcedoCore
import AlcedoDiskCache
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Two caches in one process share a directory only through its files, like two processes.
@Suite(.timeLimit(.minutes(10)))
struct TwoCachesTests {
    private let directory: TemporaryDirectory
    private let clock = ManualClock()
    private let one: FileDiskCache
    private let two: FileDiskCache

    init() throws {
        directory = try TemporaryDirectory()
        one = FileDiskCache(directory: directory.url, clock: clock)
        two = FileDiskCache(directory: directory.url, clock: clock)
    }

    /// Reads the entry with every method.
    private func expect(_ entry: CachedData?, in cache: FileDiskCache) async throws {
        let pieces = await cache.chunks(for: key("a"))
        #expect(pieces?.expiry == entry?.expiry)
        #expect((pieces == nil) == (entry == nil))
        #expect(await cache.mappedEntry(for: key("a")) == entry)
        #expect(await cache.entry(for: key("a")) == entry)
        #expect(await cache.contains(key("a")) == (entry != nil))
    }

    @Test(arguments: [false, true])
    func `an entry larger than the other cache's limits is not damaged`(hasIndex: Bool) async throws {
        let small = FileDiskCache(directory: directory.url, limits: DataCacheLimits(sizeLimit: 1000), clock: clock)
        let entry = CachedData(bytes(5000), metadata: bytes(7), expiry: clock.now + 60)
        try await one.store(entry, for: key("a"))
        if !hasIndex { try FileManager.default.removeItem(at: directory.url.appending(path: "index")) }

        try await expect(entry, in: small)
        #expect(await small.verify().damagedNames.isEmpty)

        try await expect(entry, in: one)
        #expect(small.statistics.damagedEntries == 0)
        #expect(await small.count == 1)
    }

    @Test(arguments: [10, 20])
    func `an entry stored by the other cache has its expiry`(count: Int) async throws {
        try await one.store(CachedData(bytes(10)), for: key("a"))
        clock.advance(by: .seconds(1))
        // Of equal size, too.
        let brief = CachedData(bytes(count, seed: 1), expiry: clock.now + 60)
        try await two.store(brief, for: key("a"))

        try await expect(brief, in: one)
        clock.advance(by: .seconds(60))

        try await expect(nil, in: one)
        try await expect(nil, in: two)
    }

    @Test func `an expired entry that the other cache replaced is not found`() async throws {
        try await one.store(CachedData(bytes(10)), for: key("a"))
        clock.advance(by: .seconds(1))
        try await two.store(CachedData(bytes(10, seed: 1), expiry: clock.now + 60), for: key("a"))
        clock.advance(by: .seconds(60))

        #expect(await one.entry(for: key("a")) == nil)
        // It is removed after the read, in the background.
        await one.flush()

        #expect(await one.count == 0)
        #expect(directory.files.isEmpty)
    }

    @Test func `an entry that the other cache replaced with a later expiry stays`() async throws {
        try await one.store(CachedData(bytes(10), expiry: clock.now + 60), for: key("a"))
        clock.advance(by: .seconds(59))
        let lasting = CachedData(bytes(10, seed: 1), expiry: clock.now + 600)
        try await two.store(lasting, for: key("a"))
        clock.advance(by: .seconds(10))

        await one.trim()

        try await expect(lasting, in: one)
        try await expect(lasting, in: two)
    }

    @Test func `the order of use includes both caches`() async throws {
        for name in ["a", "b", "c"] { try await one.store(bytes(1000), for: key(name)) }
        _ = await two.entry(for: key("a"))
        await two.flush()
        _ = await one.entry(for: key("b"))
        await one.flush()

        let report = await two.trim(toSize: .max, count: 1)

        #expect(report.removals.map(\.name) == [key("c").fileName, key("a").fileName])
        #expect(await one.count == 1)
    }

    @Test func `an entry trimmed or removed by one cache is a miss in the other`() async throws {
        for number in 0..<20 { try await one.store(bytes(100), for: key("\(number)")) }
        #expect(await two.count == 20)
        await two.trim(toSize: 0)
        #expect(await one.count == 0)
        #expect(await one.entry(for: key("3")) == nil)

        try await two.store(bytes(100), for: key("3"))
        #expect(await one.data(for: key("3")) == bytes(100))
        await one.removeAll()
        #expect(await two.data(for: key("3")) == nil)
        #expect(await two.totalSize == 0)

        let variants = ["", "small", "large"].map { ImageKey(ResourceKey("r"), variant: $0) }
        for variant in variants { try await one.store(bytes(100), for: variant) }
        try await two.store(bytes(1), for: key("s"))
        #expect(await two.removeAll(of: ResourceKey("r")) == 3)
        for variant in variants { #expect(await one.data(for: variant) == nil) }
        #expect(await one.count == 1)
    }
}
