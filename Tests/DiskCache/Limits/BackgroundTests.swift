import AlcedoCore
import AlcedoRuntime
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDiskCache

/// Work in the background.
@Suite(.timeLimit(.minutes(10)))
struct BackgroundTests {
    private let directory: TemporaryDirectory
    private let clock = ManualClock()
    private let reports = TrimReports()

    init() throws { directory = try TemporaryDirectory() }

    private func cache(_ limits: DataCacheLimits = DataCacheLimits()) -> FileDiskCache {
        FileDiskCache(
            directory: directory.url, limits: limits, sweepInterval: .seconds(60), lockTimeout: .seconds(300),
            clock: clock,
            onTrim: { [reports] in reports.add($0) })
    }

    @Test func `a store over the limit starts a trim in the background`() async throws {
        let cache = cache(DataCacheLimits(countLimit: 10))
        for number in 0..<11 { try await cache.store(bytes(10), for: key("\(number)")) }

        await reports.waitForRemovals(count: 2)

        #expect(await cache.count == 9)
    }

    @Test func `expired entries are removed periodically in the background`() async throws {
        let cache = cache()
        for name in ["a", "b"] { try await cache.store(CachedData(bytes(10), expiry: clock.now + 90), for: key(name)) }
        try await cache.store(bytes(10), for: key("c"))
        try await clock.waitForSleepers(count: 1)
        #expect(clock.sleeperCount == 1)
        #expect(try #require(cache.engine).isSweeping)

        clock.advance(by: .seconds(60))
        try await clock.waitForSleepers(count: 1)
        #expect(await cache.count == 3)
        clock.advance(by: .seconds(60))
        await reports.waitForRemovals(count: 2)

        #expect(reports.removals.allSatisfy { $0.evictionReason == .expired })
        #expect(directory.files == [directory.file("c")])
        withExtendedLifetime(cache) {}
    }

    @Test(arguments: BackgroundTests.reads, [false, true])
    private func `a cache that is only read removes expired entries, too`(read: Read, isReplaced: Bool) async throws {
        let writer = cache()
        try await writer.store(CachedData(bytes(10), expiry: clock.now + 30), for: key("a"))
        try await writer.store(bytes(10), for: key("b"))
        await writer.flush()
        let readerClock = ManualClock(now: clock.now)
        let reader = FileDiskCache(
            directory: directory.url, sweepInterval: .seconds(60), lockTimeout: .seconds(300), clock: readerClock,
            onTrim: { [reports] in reports.add($0) })
        if isReplaced {
            // The index of the reader has the earlier entry, so the read has to be confirmed.
            _ = await reader.count
            clock.advance(by: .seconds(1))
            try await writer.store(bytes(20), for: key("b"))
        }

        #expect(await read.read(reader))
        try #require(#require(reader.engine).isSweeping)
        try await readerClock.waitForSleepers(count: 1)
        readerClock.advance(by: .seconds(60))
        await reports.waitForRemovals(count: 1)

        #expect(reports.removals.map(\.name) == [key("a").fileName])
        #expect(directory.files == [directory.file("b")])
        withExtendedLifetime((writer, reader)) {}
    }

    /// A method that looks for the entry `b`.
    struct Read: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let read: @Sendable (FileDiskCache) async -> Bool
    }

    static let reads = [
        Read(testDescription: "whole") { await $0.entry(for: key("b")) != nil },
        Read(testDescription: "mapped") { await $0.mappedEntry(for: key("b")) != nil },
        Read(testDescription: "in pieces") { await $0.chunks(for: key("b")) != nil },
        Read(testDescription: "on a thread of one's own") { cache in
            (try? await BlockingExecutor(name: "test", maxConcurrent: 1).run { cache.entryBlocking(for: key("b")) })
                != nil
        },
    ]

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func `without an interval a cache does not clean in the background`(interval: Duration) async throws {
        let cache = FileDiskCache(directory: directory.url, sweepInterval: interval, clock: clock)
        try await cache.store(CachedData(bytes(10), expiry: clock.now + 30), for: key("a"))
        try await cache.store(bytes(10), for: key("b"))
        await cache.flush()
        clock.advance(by: .seconds(60))
        #expect(await cache.entry(for: key("b")) != nil)
        // Stores and reads start the background work.
        #expect(try #require(cache.engine).isSweeping == false)

        #expect(await cache.count == 2)
        #expect(await cache.trim().removals.count == 1)
    }

    @Test func `a sweep writes the uses of entries for other caches`() async throws {
        let cache = cache()
        for name in ["a", "b"] { try await cache.store(bytes(10), for: key(name)) }
        try await clock.waitForSleepers(count: 1)
        _ = await cache.entry(for: key("a"))

        clock.advance(by: .seconds(60))
        try await clock.waitForSleepers(count: 1)

        #expect(await self.cache().items().map(\.name) == ["b", "a"].map { key($0).fileName })
        withExtendedLifetime(cache) {}
    }

    @Test func `many uses are written without a flush`() async throws {
        let cache = cache()
        let count = IndexState.maximumUnwrittenUseCount
        for number in 0...count { try await cache.store(bytes(1), for: key("\(number)")) }
        for number in (1...count).reversed() { _ = await cache.entry(for: key("\(number)")) }
        let index = try #require(cache.engine).store.index
        try await eventually { !index.hasUnwrittenUses }

        let names = await self.cache().items().map(\.name)
        #expect(names == [0].map { key("\($0)").fileName } + (1...count).reversed().map { key("\($0)").fileName })
    }

    @Test func `a released cache leaves no sleeping task`() async throws {
        var cache: FileDiskCache? = cache()
        try await cache?.store(bytes(10), for: key("a"))
        try await clock.waitForSleepers(count: 1)
        weak let engine = cache?.engine

        cache = nil
        try await eventually { clock.sleeperCount == 0 }
        // The last step needs no request.
        try await eventually { engine == nil }
    }

    @Test func `a released cache writes its uses`() async throws {
        var first: FileDiskCache? = cache()
        for name in ["a", "b"] { try await first?.store(bytes(10), for: key(name)) }
        _ = await first?.entry(for: key("a"))
        weak let engine = first?.engine

        first = nil
        try await eventually { engine == nil }

        #expect(await cache().items().map(\.name) == ["b", "a"].map { key($0).fileName })
    }

    @Test func `a trim in progress delays no reader and allows stores in between`() async throws {
        let cache = cache()
        for number in 0..<500 { try await cache.store(bytes(number), for: key("\(number)")) }
        let lock = try IndexLock(directory.path)
        let trim = Task { await cache.trim(toSize: 0) }
        let waiting = Task { try await cache.store(bytes(7), for: key("between")) }
        // One of the two waits for the lock on the writer's thread, and the other waits for that thread.
        let writer = try #require(cache.engine).writer
        try await eventually { writer.waitingCount == 1 }

        #expect(await cache.contains(key("between")))
        for number in 0..<500 { #expect(await cache.data(for: key("\(number)")) == bytes(number)) }
        #expect(await cache.chunks(for: key("3"))?.count == 3)
        #expect(await cache.mappedEntry(for: key("4"))?.data == bytes(4))
        #expect(await cache.contains(key("5")))
        #expect(await cache.items().count == 500)
        lock.release()
        try await waiting.value
        let report = await trim.value

        // It was stored before the trim ended. Otherwise it would still be present.
        #expect(report.removals.map(\.name).contains(key("between").fileName))
        #expect(report.removals.count == 501)
        #expect(await cache.count == 0)
    }

    @Test func `listings that wait for another process keep no reader waiting`() async throws {
        let first = cache()
        for name in ["a", "b"] { try await first.store(bytes(10), for: key(name)) }
        await first.flush()
        // A damaged index has to be rebuilt under the lock, which another process has.
        try Data(count: 200).write(to: URL(filePath: directory.path + "/index"))
        let lock = try IndexLock(directory.path)
        let cache = cache()

        // More listings than there are threads for reads.
        let listings = (0..<4).map { _ in Task { await cache.items().count } }
        // The first listing waits for the lock on the writer's thread. The others wait for that thread.
        let writer = try #require(cache.engine).writer
        try await eventually { writer.waitingCount == 3 }
        for _ in 0..<100 { #expect(await cache.data(for: key("a")) == bytes(10)) }
        lock.release()

        for listing in listings { #expect(await listing.value == 2) }
    }

    @Test func `an entry read during a trim is no longer the oldest`() async throws {
        let cache = cache()
        for number in 0..<200 { try await cache.store(bytes(10), for: key("\(number)")) }
        let store = try #require(cache.engine).store
        var trim = EntryTrim(toSize: .max, count: 50, reason: .trimmed)
        // The first step chooses the oldest entries, and the following steps remove them.
        let isDone = store.advance(&trim)
        #expect(!isDone)
        for number in 0..<10 { #expect(await cache.data(for: key("\(number)")) != nil) }
        while !store.advance(&trim) {}

        for number in 0..<10 { #expect(await cache.contains(key("\(number)"))) }
        #expect(await cache.count == 50)
    }
}
