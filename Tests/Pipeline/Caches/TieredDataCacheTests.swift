import AlcedoCore
import AlcedoDiskCache
import AlcedoMemoryCache
import AlcedoPipeline
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct TieredDataCacheTests {
    private let clock = ManualClock()
    private let directory: TemporaryDirectory
    private let upper = FakeDataCache()
    private let lower = FakeDataCache()

    init() throws { directory = try TemporaryDirectory() }

    /// Memory over files, with a quarter and three quarters of the size.
    @Test(arguments: DataCacheConformance.checks)
    func `the tiered data cache passes each conformance check`(check: DataCacheConformance.Check) async throws {
        try await check { [directory] options in
            TieredDataCache([
                DataCacheTier(DataMemoryCache(sizeLimit: options.byteLimit / 4)),
                DataCacheTier(
                    FileDiskCache(
                        directory: directory.url.appending(path: "\(options.storage)"),
                        sizeLimit: options.byteLimit / 4 * 3)),
            ])
        }
    }

    private let key = ImageKey(ResourceKey("a"))

    private func entry(_ text: String) -> CachedData { CachedData(Data(text.utf8)) }

    private func tiers(
        _ upper: DataCacheTier.Writes = .all, _ lower: DataCacheTier.Writes = .all
    ) -> TieredDataCache {
        TieredDataCache([DataCacheTier(self.upper, writes: upper), DataCacheTier(self.lower, writes: lower)])
    }

    /// Tiers whose lower one reads only after the clock has advanced. `during` runs in between.
    private func promotion(
        of entry: CachedData, _ during: (TieredDataCache) async throws -> Void
    ) async throws -> CachedData? {
        let slow = FakeDataCache(afterRead: { [clock] _ in try? await clock.sleep(for: .seconds(1)) })
        slow.entries.update { $0[key] = entry }
        let cache = TieredDataCache([DataCacheTier(upper), DataCacheTier(slow)])
        let read = Task { await cache.entry(for: key) }
        try await clock.waitForSleepers(count: 1)

        try await during(cache)
        clock.advance(by: .seconds(1))

        return await read.value
    }

    @Test func `the statistics count each read and store once, whatever tiers are involved`() async throws {
        let cache = tiers()
        _ = await cache.entry(for: key)
        try await cache.store(entry("a"), for: key)
        await upper.removeAll()
        _ = await cache.entry(for: key)
        _ = await cache.entry(for: key)
        let closed = tiers(.readOnly, .readOnly)
        await #expect(throws: DataCacheError.self) { try await closed.store(entry("a"), for: key) }

        #expect(cache.statistics.description == "2 of 3 found, 1 stored, 0 failed, 0 damaged, 0 evicted")
        #expect(cache.statistics.hitRatio == 2.0 / 3)
        #expect(closed.statistics.failures == 1)
        #expect(closed.statistics.stores == 0)
    }

    @Test func `the first tier with the entry serves it, and lower tiers are not read`() async throws {
        try await upper.store(entry("upper"), for: key)
        try await lower.store(entry("lower"), for: key)
        #expect(await tiers().entry(for: key) == entry("upper"))
        #expect(lower.reads.value == 0)
    }

    @Test func `a hit is promoted to the tiers above with metadata and expiry`() async throws {
        let whole = CachedData(Data("a".utf8), metadata: Data("b".utf8), expiry: Date(timeIntervalSince1970: 4e9))
        try await lower.store(whole, for: key)
        #expect(await tiers().entry(for: key) == whole)
        #expect(upper.entries.value[key] == whole)
    }

    @Test(arguments: [DataCacheTier.Writes.stores, .readOnly])
    func `a hit is not promoted to tiers that take no promotions`(writes: DataCacheTier.Writes) async throws {
        try await lower.store(entry("a"), for: key)
        #expect(await tiers(writes).entry(for: key) == entry("a"))
        #expect(upper.stores.value == 0)
    }

    @Test func `a failed promotion does not fail the hit`() async throws {
        let full = FakeDataCache(beforeStore: { _ in throw DataCacheError(.noSpace, "full") })
        try await lower.store(entry("a"), for: key)
        let cache = TieredDataCache([DataCacheTier(full), DataCacheTier(lower)])
        #expect(await cache.entry(for: key) == entry("a"))
    }

    @Test func `an entry replaced during its read is not promoted over the newer one`() async throws {
        let read = try await promotion(of: entry("old")) { try await $0.store(entry("new"), for: key) }
        #expect(read == entry("old"))
        #expect(upper.entries.value[key] == entry("new"))
    }

    @Test func `an entry removed during its read is not promoted`() async throws {
        _ = try await promotion(of: entry("old")) { await $0.remove(key) }
        #expect(upper.entries.value.isEmpty)
        _ = try await promotion(of: entry("old")) { await $0.removeAll(of: key.resource) }
        #expect(upper.entries.value.isEmpty)
        _ = try await promotion(of: entry("old")) { await $0.removeAll() }
        #expect(upper.entries.value.isEmpty)
    }

    @Test func `an unchanged entry is promoted`() async throws {
        // Without this the tests above would prove nothing.
        _ = try await promotion(of: entry("old")) { _ in }
        #expect(upper.entries.value[key] == entry("old"))
    }

    @Test func `an entry about to be replaced is not promoted`() async throws {
        let slow = FakeDataCache(beforeStore: { [clock] number in
            if number == 2 { try await clock.sleep(for: .seconds(1)) }
        })
        try await slow.store(entry("old"), for: key)
        let cache = TieredDataCache([DataCacheTier(slow, writes: .stores), DataCacheTier(upper)])
        let above = FakeDataCache()
        let whole = TieredDataCache([DataCacheTier(above, writes: .promotions), DataCacheTier(cache)])
        let store = Task { try await whole.store(entry("new"), for: key) }
        try await clock.waitForSleepers(count: 1)

        #expect(await whole.entry(for: key) == entry("old"))
        clock.advance(by: .seconds(1))
        try await store.value

        #expect(above.entries.value.isEmpty)
        #expect(await whole.entry(for: key) == entry("new"))
    }

    @Test func `the later of two concurrent stores stays in every tier`() async throws {
        let slow = FakeDataCache(beforeStore: { [clock] number in
            if number == 1 { try await clock.sleep(for: .seconds(1)) }
        })
        let executor = ManualExecutor()
        let cache = TieredDataCache([DataCacheTier(slow), DataCacheTier(lower)], taskExecutor: executor)
        let first = Task(executorPreference: executor) { try await cache.store(entry("1"), for: key) }
        executor.drain()
        #expect(clock.sleeperCount == 1)
        let second = Task(executorPreference: executor) { try await cache.store(entry("2"), for: key) }
        executor.drain()
        #expect(slow.stores.value == 1)
        clock.advance(by: .seconds(1))
        executor.drain()
        try await first.value
        try await second.value

        #expect(slow.entries.value[key] == entry("2"))
        #expect(lower.entries.value[key] == entry("2"))
    }

    @Test func `a slow store delays flushing but no other resources`() async throws {
        let slow = FakeDataCache(beforeStore: { [clock] number in
            if number == 1 { try await clock.sleep(for: .seconds(1)) }
        })
        let executor = ManualExecutor()
        let cache = TieredDataCache([DataCacheTier(slow)], taskExecutor: executor)
        let other = ImageKey(ResourceKey("b"))
        let store = Task(executorPreference: executor) { try await cache.store(entry("1"), for: key) }
        executor.drain()
        #expect(clock.sleeperCount == 1)

        let otherStore = Task(executorPreference: executor) { try await cache.store(entry("2"), for: other) }
        executor.drain()
        #expect(slow.entries.value[other] == entry("2"))
        let isFlushed = Watched(false)
        let flush = Task(executorPreference: executor) {
            await cache.flush()
            isFlushed.update { $0 = true }
        }
        executor.drain()
        #expect(!isFlushed.value)
        clock.advance(by: .seconds(1))
        executor.drain()
        #expect(isFlushed.value)

        await flush.value
        try await store.value
        try await otherStore.value
        #expect(slow.entries.value[key] == entry("1"))
    }

    @Test func `a store reaches the tiers that take stores and removes the entry from the others`() async throws {
        for tier in [upper, lower] { try await tier.store(entry("old"), for: key) }
        try await tiers(.promotions, .stores).store(entry("new"), for: key)
        #expect(upper.entries.value[key] == nil)
        #expect(lower.entries.value[key] == entry("new"))

        try await tiers(.stores, .readOnly).store(entry("newer"), for: key)
        #expect(upper.entries.value[key] == entry("newer"))
        #expect(lower.entries.value[key] == entry("new"))
    }

    @Test func `a full tier is skipped when another stores the entry, and does not serve its old entry`() async throws {
        let small = DataMemoryCache(sizeLimit: 5)
        let cache = TieredDataCache([DataCacheTier(small), DataCacheTier(lower)])
        try await cache.store(entry("old"), for: key)
        try await cache.store(entry("much newer"), for: key)
        #expect(await cache.entry(for: key) == entry("much newer"))

        let smalls = TieredDataCache([DataCacheTier(small), DataCacheTier(DataMemoryCache(sizeLimit: 5))])
        #expect(try await code(of: smalls) == .tooLarge)
    }

    @Test func `the error of one tier is thrown after all tiers have been tried`() async throws {
        let full = FakeDataCache(beforeStore: { number in
            if number == 2 { throw DataCacheError(.noSpace, "full") }
        })
        try await full.store(entry("old"), for: key)
        let cache = TieredDataCache([DataCacheTier(full), DataCacheTier(lower)])
        #expect(try await code(of: cache) == .noSpace)
        #expect(await cache.entry(for: key) == entry("much newer"))
    }

    @Test func `a store that every tier refuses is an error`() async throws {
        #expect(try await code(of: tiers(.readOnly, .promotions)) == .notWritable)
        #expect(try await code(of: TieredDataCache([])) == .notWritable)
    }

    @Test func `a canceled store throws CancellationError and leaves nothing old behind`() async throws {
        let slow = FakeDataCache(beforeStore: { [clock] number in
            if number == 2 { try await clock.sleep(for: .seconds(1)) }
        })
        try await slow.store(entry("old"), for: key)
        let cache = TieredDataCache([DataCacheTier(slow)])
        let store = Task { try await cache.store(entry("new"), for: key) }
        try await clock.waitForSleepers(count: 1)

        store.cancel()

        await #expect(throws: CancellationError.self) { try await store.value }
        #expect(await !cache.contains(key))
    }

    @Test func `nothing is removed from a read-only tier`() async throws {
        for tier in [upper, lower] { try await tier.store(entry("a"), for: key) }
        let cache = tiers(.all, .readOnly)
        #expect(await cache.remove(key))
        #expect(await !cache.remove(key))
        #expect(await cache.removeAll(of: key.resource) == 0)
        await cache.removeAll()
        #expect(await cache.contains(key))
        #expect(upper.entries.value.isEmpty)
        #expect(lower.entries.value.count == 1)
    }

    @Test func `sizes are added, and the largest count is returned`() async throws {
        try await tiers().store(entry("12345"), for: key)
        try await lower.store(entry("123"), for: ImageKey(ResourceKey("b")))
        #expect(await tiers().totalSize == 13)
        #expect(await tiers().count == 2)
    }

    /// Returns the error code of a store.
    private func code(of cache: TieredDataCache) async throws -> DataCacheError.Code? {
        do {
            try await cache.store(entry("much newer"), for: key)
            return nil
        } catch let error as DataCacheError {
            return error.code
        }
    }
}
