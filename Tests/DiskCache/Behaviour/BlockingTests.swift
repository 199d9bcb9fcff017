import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDiskCache

/// The calls for threads that may block.
@Suite(.timeLimit(.minutes(10)))
struct BlockingTests {
    private let directory: TemporaryDirectory
    private let clock = ManualClock()

    init() throws { directory = try TemporaryDirectory() }

    /// Runs where a thread may block.
    private func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await BlockingExecutor(name: "test", width: 1).run(work)
    }

    @Test func `what is stored is found, by everybody, until it has expired`() async throws {
        let cache = FileDiskCache(directory: directory.url, clock: clock)
        let entry = CachedData(bytes(500), metadata: bytes(3), expiry: clock.now + 60)
        #expect(try await blocking { cache.entryBlocking(for: key("a")) } == nil)
        try await blocking { try cache.storeBlocking(entry, for: key("a")) }
        #expect(try await blocking { cache.entryBlocking(for: key("a")) } == entry)
        #expect(await cache.entry(for: key("a")) == entry)
        #expect(await FileDiskCache(directory: directory.url, clock: clock).entry(for: key("a")) == entry)

        clock.advance(by: .seconds(60))
        #expect(try await blocking { cache.entryBlocking(for: key("a")) } == nil)
        #expect(await cache.count == 0 && directory.files.isEmpty)
        #expect(cache.statistics.hits == 2 && cache.statistics.misses == 2)
    }

    @Test func `damage is a miss, and goes`() async throws {
        let cache = FileDiskCache(directory: directory.url)
        try await blocking { try cache.storeBlocking(CachedData(bytes(500)), for: key("a")) }
        try bytes(400).write(to: URL(filePath: directory.file("a")))
        #expect(try await blocking { cache.entryBlocking(for: key("a")) } == nil)
        #expect(cache.statistics.damagedEntries == 1)
        #expect(directory.files.isEmpty)
    }

    @Test func `what does not fit is refused, and the limits hold`() async throws {
        let cache = FileDiskCache(directory: directory.url, limits: DataCacheLimits(size: 10_000))
        await #expect(throws: DataCacheError.self) {
            try await blocking { try cache.storeBlocking(CachedData(bytes(20_000)), for: key("a")) }
        }
        for number in 0..<50 {
            try await blocking { try cache.storeBlocking(CachedData(bytes(1_000)), for: key("\(number)")) }
        }
        await cache.flush()
        #expect(await cache.totalSize <= 10_000)
        #expect(await cache.contains(key("49")))
    }
}
