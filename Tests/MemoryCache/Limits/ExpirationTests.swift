import AlcedoCore
import AlcedoMemoryCache
import AlcedoTesting
import TestSupport
import Testing

/// Expiration of entries.
@Suite struct ExpirationTests {
    private let clock = ManualClock()
    private let evicted = Watched<[String]>([])

    private func cache(
        _ life: Duration?, extends: Bool = false, policy: PolicyChoice = .adaptive
    ) -> MemoryCache<Int, Int> {
        let limits = MemoryCacheLimits(costLimit: 100, timeToLive: life, extendsExpiryOnUse: extends)
        return policy.cache(limits, clock: clock) { [evicted] key, value, reason in
            evicted.update { $0.append("\(key) \(reason)") }
        }
    }

    @Test(arguments: PolicyChoice.allCases)
    func `an entry is found before its expiry, and not at that instant`(policy: PolicyChoice) {
        let cache = cache(.seconds(10), policy: policy)
        cache.store(1, for: 1, cost: 5)
        clock.advance(by: .seconds(10) - .nanoseconds(1))
        #expect(cache.value(for: 1) == 1)
        #expect(cache.contains(1))

        clock.advance(by: .nanoseconds(1))
        #expect(!cache.contains(1))
        #expect(cache.entries.isEmpty)
        #expect(cache.value(for: 1) == nil)
        #expect(cache.totalCost == 0)
        #expect(evicted.value == ["1 expired"])
        #expect(cache.statistics.misses == 1)
        #expect(cache.statistics.hits == 1)
    }

    @Test func `an entry's own time to live takes precedence over the cache's`() {
        let cache = cache(.seconds(10))
        cache.store(1, for: 1, cost: 1, timeToLive: .seconds(100))
        cache.store(2, for: 2, cost: 1, timeToLive: .seconds(1))
        clock.advance(by: .seconds(50))
        #expect(cache.value(for: 1) == 1)
        #expect(cache.value(for: 2) == nil)
    }

    @Test(arguments: PolicyChoice.allCases)
    func `a read restarts the time to live where this is enabled`(policy: PolicyChoice) {
        let cache = cache(.seconds(10), extends: true, policy: policy)
        cache.store(1, for: 1, cost: 1)
        for _ in 0..<5 {
            clock.advance(by: .seconds(9))
            #expect(cache.value(for: 1) == 1)
        }
        clock.advance(by: .seconds(10))
        #expect(cache.value(for: 1) == nil)
    }

    @Test(arguments: [.zero, .seconds(-1), .seconds(Int64.min)] as [Duration])
    func `an entry that has already expired is not stored and removes the entry it was to replace`(life: Duration) {
        let cache = cache(nil)
        cache.store(1, for: 1, cost: 1)
        #expect(!cache.store(2, for: 1, cost: 1, timeToLive: life))
        #expect(cache.value(for: 1) == nil)
        #expect(cache.statistics.failures == 1)
    }

    @Test func `a time to live beyond the range of the clock never ends`() {
        let cache = cache(.seconds(Int64.max))
        cache.store(1, for: 1, cost: 1)
        cache.store(2, for: 2, cost: 1, timeToLive: .seconds(1))
        clock.advance(by: .seconds(1_000_000_000))
        #expect(cache.value(for: 1) == 1)
        #expect(cache.value(for: 2) == nil)
    }

    @Test func `stores remove expired entries within half as many stores as there are entries`() {
        let cache = cache(nil)
        for key in 0..<40 { cache.store(key, for: key, cost: 1, timeToLive: .seconds(1)) }
        clock.advance(by: .seconds(2))
        for key in 100..<122 { cache.store(key, for: key, cost: 1) }
        #expect(cache.count == 22)
        #expect(evicted.value.count == 40)
    }

    @Test func `one call removes all expired entries`() {
        let cache = cache(.seconds(1))
        for key in 0..<10 { cache.store(key, for: key, cost: 1, timeToLive: key % 2 == 0 ? .seconds(5) : nil) }
        clock.advance(by: .seconds(2))
        cache.trim()
        #expect(cache.count == 5)
        #expect(cache.removeValue(for: 0) == 0)
    }

    @Test func `a trim removes the expired entries first`() {
        let cache = cache(nil)
        for key in 0..<10 { cache.store(key, for: key, cost: 1, timeToLive: key >= 5 ? .seconds(1) : nil) }
        clock.advance(by: .seconds(2))
        cache.trim(count: 5)
        #expect((0..<5).allSatisfy { cache.contains($0) })
        #expect(cache.statistics.evictions == [.expired: 5])
    }

    @Test func `an entry that is stored again has the new time to live`() {
        let cache = cache(.seconds(10))
        cache.store(1, for: 1, cost: 1)
        clock.advance(by: .seconds(9))
        cache.store(2, for: 1, cost: 1)
        clock.advance(by: .seconds(9))
        #expect(cache.value(for: 1) == 2)
    }
}
