import AlcedoCore
import AlcedoMemoryCache
import AlcedoTesting
import FoundationEssentials
import Testing

/// Refuses entries that do not fit.
private struct NewestGoes: EvictionPolicy {
    private var slots: [Int] = []

    mutating func insert(_ slot: Int, hash: UInt64, cost: Int, fits: Bool) {
        slots.append(slot)
    }

    mutating func use(_ slot: Int) {}

    mutating func remove(_ slot: Int) { slots.removeAll { $0 == slot } }

    mutating func evict() -> Int? { slots.popLast() }

    mutating func removeAll() { slots = [] }
}

/// The memory cache used as a data cache.
@Suite(.timeLimit(.minutes(10)))
struct DataMemoryCacheTests {
    private let clock = ManualClock()

    @Test(arguments: DataCacheConformance.checks)
    func `the data memory cache passes each conformance check`(check: DataCacheConformance.Check) async throws {
        try await check { DataMemoryCache(sizeLimit: $0.byteLimit) }
    }

    private func key(_ name: String, variant: String = "") -> ImageKey {
        ImageKey(ResourceKey(name), variant: variant)
    }

    @Test func `the cost of an entry is the size of its data, metadata and key`() throws {
        let cache = DataMemoryCache(sizeLimit: 100)
        try cache.store(CachedData(Data(count: 10), metadata: Data(count: 3)), for: key("ab", variant: "c"))
        #expect(cache.totalSize == 16)
    }

    @Test func `an entry expires by the cache's clock, and its expiry is returned unchanged`() throws {
        let cache = DataMemoryCache(sizeLimit: 100, clock: clock)
        let entry = CachedData(Data(count: 1), expiry: clock.now + 10)
        try cache.store(entry, for: key("a"))
        clock.advance(by: .milliseconds(9999))
        #expect(cache.entry(for: key("a")) == entry)

        clock.advance(by: .milliseconds(1))

        #expect(!cache.contains(key("a")))
        #expect(cache.entry(for: key("a")) == nil)
    }

    @Test func `an entry's own expiry takes precedence over the cache's time to live`() throws {
        let cache = DataMemoryCache(sizeLimit: 100, timeToLive: .seconds(5), clock: clock)
        try cache.store(CachedData(Data(), expiry: clock.now + 100), for: key("long"))
        try cache.store(CachedData(Data()), for: key("usual"))
        clock.advance(by: .seconds(50))
        #expect(cache.contains(key("long")))
        #expect(!cache.contains(key("usual")))
    }

    @Test(arguments: [Date.distantFuture, Date(timeIntervalSinceReferenceDate: .infinity)])
    func `an entry with an expiry beyond all durations stays until it is evicted`(expiry: Date) throws {
        let cache = DataMemoryCache(sizeLimit: 100, clock: clock)
        try cache.store(CachedData(Data(), expiry: expiry), for: key("a"))
        clock.advance(by: .seconds(1e9))
        #expect(cache.contains(key("a")))
    }

    @Test func `an entry that is too large removes the entry it was to replace, and no other`() throws {
        let cache = DataMemoryCache(sizeLimit: 100)
        try cache.store(CachedData(Data(count: 10)), for: key("a"))
        try cache.store(CachedData(Data(count: 10)), for: key("b"))

        #expect { try cache.store(CachedData(Data(count: 100)), for: key("a")) } throws: {
            ($0 as? DataCacheError)?.code == .tooLarge
        }

        #expect(!cache.contains(key("a")))
        #expect(cache.contains(key("b")))
    }

    @Test func `an entry that the policy refuses throws an error`() throws {
        let cache = DataMemoryCache(limits: MemoryCacheLimits(costLimit: 100), policy: .custom(NewestGoes()))
        try cache.store(CachedData(Data(count: 60)), for: key("a"))

        #expect { try cache.store(CachedData(Data(count: 60)), for: key("b")) } throws: {
            ($0 as? DataCacheError)?.code == .tooLarge
        }

        #expect(cache.contains(key("a")))
        #expect(!cache.contains(key("b")))
    }

    @Test func `metadata that was stored as a slice is returned with indexes from zero`() throws {
        let cache = DataMemoryCache(sizeLimit: 100)
        let whole = Data("0123456789".utf8)
        try cache.store(CachedData(whole.dropFirst(5), metadata: whole.dropFirst(8)), for: key("a"))
        let found = cache.entry(for: key("a"))
        #expect(found?.data.startIndex == 0)
        #expect(found?.metadata.startIndex == 0)
        #expect(found == CachedData(Data("56789".utf8), metadata: Data("89".utf8)))
    }
}
