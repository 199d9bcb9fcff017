import AlcedoCore
import AlcedoMemoryCache
import AlcedoTesting
import TestSupport
import Testing

/// The eviction order of each policy, in examples that can be followed by hand.
@Suite struct EvictionOrderTests {
    private let evicted = Watched<[Int]>([])

    private func cache(_ policy: PolicyChoice, _ costLimit: Int) -> MemoryCache<Int, Int> {
        policy.cache(MemoryCacheLimits(costLimit: costLimit)) { [evicted] key, value, reason in
            evicted.update { $0.append(key) }
        }
    }

    private func store(_ keys: some Sequence<Int>, in cache: MemoryCache<Int, Int>, cost: Int = 1) {
        for key in keys { cache.store(key, for: key, cost: cost) }
    }

    @Test func `LRU evicts the least recently used entry`() {
        let cache = cache(.lru, 3)
        store([1, 2, 3], in: cache)
        _ = cache.value(for: 1)
        store([4, 5, 6], in: cache)
        #expect(evicted.value == [2, 3, 1])
    }

    @Test func `FIFO evicts the first stored entry, whether used or not`() {
        let cache = cache(.fifo, 3)
        store([1, 2, 3], in: cache)
        _ = cache.value(for: 1)
        store([4, 5, 6], in: cache)
        #expect(evicted.value == [1, 2, 3])
    }

    @Test func `a purging cache evicts nothing at the limit and down to the preferred cost above it`() {
        let cache: MemoryCache<Int, Int> = MemoryCache(
            limits: MemoryCacheLimits(costLimit: 10), policy: .purging(toPreferredCost: 6)
        ) { [evicted] key, value, reason in evicted.update { $0.append(key) } }
        store(1...10, in: cache)
        #expect(evicted.value.isEmpty)
        _ = cache.value(for: 1)
        store([11], in: cache)
        #expect(evicted.value == [2, 3, 4, 5, 6])
        #expect(cache.totalCost == 6)
    }

    @Test(arguments: PolicyChoice.allCases)
    func `the keys are in the order of their last uses, and reading them is not a use`(policy: PolicyChoice) {
        let clock = ManualClock()
        let cache: MemoryCache<Int, Int> = policy.cache(MemoryCacheLimits(costLimit: 100), clock: clock)
        #expect(cache.keys.isEmpty)
        store(1...5, in: cache)
        cache.store(6, for: 6, cost: 1, timeToLive: .seconds(1))
        _ = cache.value(for: 2)
        store([1], in: cache)
        _ = cache.value(for: 4)
        cache.removeValue(for: 3)
        let statistics = cache.statistics

        #expect(cache.keys == [5, 6, 2, 1, 4])
        #expect(cache.keys == [5, 6, 2, 1, 4])
        #expect(cache.statistics == statistics)
        clock.advance(by: .seconds(1))
        #expect(cache.keys == [5, 2, 1, 4])
        #expect(cache.count == 5)
    }

    @Test func `the keys of an LRU cache are in the exact order after many reads`() {
        let cache = cache(.lru, 3)
        store([1, 2, 3], in: cache)
        for _ in 0..<300 { _ = cache.value(for: 1) }
        for key in [3, 2] { _ = cache.value(for: key) }
        #expect(cache.keys == [1, 3, 2])
        store([4], in: cache)
        #expect(evicted.value == [1])
        #expect(cache.keys == [3, 2, 4])
    }

    @Test func `an adaptive cache keeps its working set during a scan`() {
        let cache = cache(.adaptive, 20)
        store(1...20, in: cache)
        for _ in 0..<3 { for key in 1...14 { _ = cache.value(for: key) } }
        store(100..<300, in: cache)
        #expect((1...14).filter(cache.contains).count >= 10)
    }

    @Test func `an adaptive cache keeps a part of a loop that does not fit`() {
        let cache = cache(.adaptive, 100)
        let lru = MemoryCache<Int, Int>(costLimit: 100, policy: .lru)
        for _ in 0..<20 {
            for key in 0..<150 {
                for cache in [cache, lru] where cache.value(for: key) == nil { cache.store(key, for: key, cost: 1) }
            }
        }
        #expect(lru.statistics.hits == 0)
        #expect(cache.statistics.hitRatio > 0.4)
    }

    @Test func `an adaptive cache keeps the smaller of equally used entries`() {
        let cache = cache(.adaptive, 1000)
        var random = SeededGenerator(seed: 5)
        for _ in 0..<20_000 {
            let key = Int.random(in: 0..<100, using: &random)
            if cache.value(for: key) == nil { cache.store(key, for: key, cost: key < 50 ? 5 : 100) }
        }
        let (small, large) = ((0..<50).filter(cache.contains).count, (50..<100).filter(cache.contains).count)
        #expect(small > 30)
        #expect(large < 12)
    }

    @Test func `an adaptive cache keeps what LRU keeps when entries are read back and forth`() {
        let cache = cache(.adaptive, 100)
        let lru = MemoryCache<Int, Int>(costLimit: 100, policy: .lru)
        var random = SeededGenerator(seed: 9)
        var position = 0
        for _ in 0..<1500 {
            let end = max(0, min(2000, position + Int.random(in: -60...60, using: &random)))
            for key in stride(from: position, to: end, by: end < position ? -1 : 1) {
                for cache in [cache, lru] where cache.value(for: key) == nil { cache.store(key, for: key, cost: 1) }
            }
            position = end
        }
        #expect(cache.statistics.hitRatio > lru.statistics.hitRatio - 0.03)
    }
}
