import AlcedoCore
import FoundationEssentials
import Testing

struct CacheStatisticsTests {
    private func item(_ size: Int, _ reason: EvictionReason?) -> DataCacheItem {
        DataCacheItem(name: "\(size)", size: size, storedAt: Date(), lastUse: Date(), evictionReason: reason)
    }

    @Test func `a report is counted by reason`() {
        var statistics = CacheStatistics()
        statistics.recordEvictions([item(1, .expired), item(10, .costLimit), item(100, .expired), item(1000, nil)])
        #expect(statistics.evictions == [.expired: 2, .costLimit: 1])
        #expect(statistics.evictedCosts == [.expired: 101, .costLimit: 10])
        #expect(statistics.evictionCount == 3)
    }

    @Test func `the description has the counts of both kinds of caches`() {
        var statistics = CacheStatistics()
        #expect(statistics.hitRatio == 0)
        statistics.recordLookups(hits: 3, cost: 30, misses: 2, weakHits: 1)
        statistics.recordStore(cost: 10)
        statistics.recordFailure(cost: 20)
        statistics.damagedEntries = 1
        statistics.recordEvictions(.costLimit, count: 2, cost: 20)
        #expect(statistics.description == "3 of 5 found, 1 stored, 1 failed, 1 damaged, 2 evicted")
        #expect(statistics.hitRatio == 0.6)
    }
}
