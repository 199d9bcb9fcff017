import AlcedoCore
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDiskCache

/// An index file with many superseded records is compacted.
@Suite(.timeLimit(.minutes(10)))
struct CompactionTests {
    private let directory: TemporaryDirectory
    private let index: IndexBytes
    private let clock = ManualClock()
    private let cache: FileDiskCache
    private let entryCount = 40

    init() async throws {
        directory = try TemporaryDirectory()
        index = IndexBytes(directory)
        cache = FileDiskCache(directory: directory.url, clock: clock)
        for number in 0..<entryCount {
            clock.advance(by: .seconds(1))
            let entry = CachedData(bytes(number), expiry: number % 2 == 0 ? clock.now + 1000 : nil)
            try await cache.store(entry, for: key("\(number)"))
        }
    }

    /// Writes enough superseding records that one more makes compaction worthwhile.
    private func fill(_ cache: FileDiskCache) async throws {
        await cache.flush()
        let store = try #require(cache.engine).store
        let entries = store.index.read(\.entries)
        let missing = try 8192 + 2 * entries.count - index.recordCount
        let records = (0..<missing).map { IndexRecord.entry(entries[$0 % entries.count]) }
        try store.index.change { change throws(DataCacheError) in try change.append(records) }
    }

    private func expectAll(in cache: FileDiskCache) async {
        #expect(await cache.count == entryCount)
        #expect(await cache.totalSize == directory.fileSizes)
        for number in 0..<entryCount {
            #expect(await cache.data(for: key("\(number)")) == bytes(number), "\(number)")
        }
    }

    @Test func `compaction keeps all entries with one record each`() async throws {
        let items = await cache.items()
        try await fill(cache)
        let before = try index.header
        #expect(try index.recordCount == 8192 + 2 * entryCount)

        _ = await cache.remove(key("none"))
        await cache.remove(key("0"))
        try await cache.store(bytes(0), for: key("0"))

        let after = try index.header
        #expect(after.generation != before.generation)
        #expect(after.replaced.generation == before.generation)
        #expect(after.entryCount == entryCount - 1)
        #expect(try index.recordCount == entryCount)
        #expect(directory.unfinished.isEmpty)
        let kept = await cache.items().filter { $0.name != key("0").fileName }
        #expect(kept == items.filter { $0.name != key("0").fileName })
        let reopened = FileDiskCache(directory: directory.url, clock: clock)
        #expect(await reopened.items() == cache.items())
        await expectAll(in: reopened)
    }

    @Test func `an open cache that was up to date follows a compaction`() async throws {
        let other = FileDiskCache(directory: directory.url, clock: clock)
        try await fill(cache)
        // It has read the last record and recorded a use since.
        #expect(await other.count == entryCount)
        _ = await other.entry(for: key("3"))
        try await cache.store(bytes(0), for: key("0"))
        #expect(try index.recordCount == entryCount)

        #expect(await other.count == entryCount)
        await other.flush()

        #expect(await cache.items().last?.name == key("3").fileName)
        #expect(await other.items() == cache.items())
        try await other.store(bytes(500), for: key("new"))
        #expect(await cache.data(for: key("new")) == bytes(500))
    }

    @Test func `an open cache that was behind follows a compaction`() async throws {
        let other = FileDiskCache(directory: directory.url, clock: clock)
        #expect(await other.data(for: key("3")) == bytes(3))
        await cache.remove(key("1"))
        try await cache.store(bytes(1), for: key("1"))
        try await cache.store(bytes(88), for: key("2"))
        try await fill(cache)
        try await cache.store(bytes(77), for: key("2"))
        #expect(try index.recordCount == entryCount)

        #expect(await other.data(for: key("1")) == bytes(1))
        #expect(await other.data(for: key("2")) == bytes(77))

        try await other.store(bytes(2), for: key("2"))
        #expect(await other.items() == cache.items())
        await expectAll(in: cache)
    }

    @Test func `caches that compact the index in turns lose nothing`() async throws {
        let caches = [cache, FileDiskCache(directory: directory.url, clock: clock)]
        for round in 0..<4 {
            let writer = caches[round % 2]
            #expect(await writer.count == entryCount)
            try await fill(writer)
            try await writer.store(bytes(round), for: key("\(round)"))
            #expect(try index.recordCount == entryCount, "round \(round)")
            #expect(await caches[1].items() == caches[0].items(), "round \(round)")
            for cache in caches { await expectAll(in: cache) }
        }
    }
}
