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

    @Test func `the SIEVE hand continues at its position and spares a used entry once`() {
        let cache = cache(.sieve, 4)
        store([1, 2, 3, 4], in: cache)
        for key in [1, 3] { _ = cache.value(for: key) }
        // The hand spares 1 and evicts 2.
        store([5], in: cache)
        #expect(evicted.value == [2])
        // The hand continues to 3, spares it and evicts 4, then 5, which is new and unused.
        store([6, 7], in: cache)
        #expect(evicted.value == [2, 4, 5])
        // Then 6, then from the oldest again: 1 was spared before.
        store([8, 9], in: cache)
        #expect(evicted.value == [2, 4, 5, 6, 7])
    }

    @Test func `the SIEVE hand restarts at the oldest entry after it evicts the newest`() {
        let cache = cache(.sieve, 3)
        store([1, 2, 3], in: cache)
        for key in [1, 2] { _ = cache.value(for: key) }
        // The hand spares 1 and 2 and evicts 3, the last of those stored before 4.
        store([4], in: cache)
        #expect(evicted.value == [3])
        store([5], in: cache)
        #expect(evicted.value == [3, 1])
    }

    @Test func `S3-FIFO promotes an entry after two uses and restores a ghost to the main queue`() {
        let cache = cache(.s3FIFO, 10)
        store(1...10, in: cache)
        for _ in 0..<2 { _ = cache.value(for: 1) }
        _ = cache.value(for: 2)
        // 1 is promoted. 2 was used only once.
        store([11], in: cache)
        #expect(evicted.value == [2])
        // 2 is a ghost, so it returns to the main queue, which a scan does not reach.
        store([2], in: cache)
        store(20..<40, in: cache)
        #expect(cache.contains(1) && cache.contains(2))
        #expect(!cache.contains(5))
    }

    @Test func `S3-FIFO resets the use count of an entry that it promotes`() {
        let cache = cache(.s3FIFO, 10)
        store(1...10, in: cache)
        for _ in 0..<3 { for key in 1...9 { _ = cache.value(for: key) } }
        // 1 to 9 are promoted. Then 11 is alone in the small queue until 12 is stored.
        store([11, 12], in: cache)
        #expect(evicted.value == [10, 11])
        // 11 returns to the main queue, whose oldest entry was not used since it was promoted.
        store([11], in: cache)
        #expect(evicted.value == [10, 11, 1])
        #expect(cache.contains(11))
    }

    /// Hashes differ from run to run, and two may share all their counters, so only nearly all keys must behave as
    /// expected.
    @Test func `W-TinyLFU admits an entry to the main queue only if it is more frequent than its victim`() {
        let rounds = 25
        var (kept, admitted) = (0, 0)
        for round in 0..<rounds {
            let cache = cache(.wTinyLFU, 10)
            let first = round * 1_000
            let used = first + 1...first + 9
            store(first + 1...first + 10, in: cache)
            for _ in 0..<3 { for key in used { _ = cache.value(for: key) } }
            // A scan of keys that occur once.
            store(first + 100..<first + 200, in: cache)
            kept += used.dropLast().count(where: cache.contains)
            // A repeated key is admitted because of its frequency.
            let new = first + 300...first + 302
            for _ in 0..<12 { store(new, in: cache) }
            admitted += new.contains(where: cache.contains) ? 1 : 0
            #expect(cache.count == 10)
        }
        #expect(kept >= rounds * 8 * 9 / 10)
        #expect(admitted >= rounds * 9 / 10)
    }

    @Test func `GDSF evicts the entry with the fewest uses for its cost, with aging`() {
        let cache = cache(.gdsf, 10)
        cache.store(1, for: 1, cost: 6)
        cache.store(2, for: 2, cost: 2)
        cache.store(3, for: 3, cost: 2)
        // 1 has 1/6. It is evicted although evicting 2 or 3 frees less space.
        cache.store(4, for: 4, cost: 2)
        #expect(evicted.value == [1])
        // The age is 1/6. 5 has 1/6 + 1/8, less than the halves of 2 and 3, so it is refused.
        #expect(!cache.store(5, for: 5, cost: 8))
        #expect(evicted.value == [1])
        // The age is 1/6 + 1/8. 6 has 1/6 + 1/8 + 1/4, more than 2 and 3, so the older of those is evicted.
        cache.store(6, for: 6, cost: 4)
        cache.store(7, for: 7, cost: 1)
        #expect(evicted.value == [1, 2])
    }

    @Test func `GDSF weighs uses against cost`() {
        let cache = cache(.gdsf, 10)
        cache.store(1, for: 1, cost: 5)
        cache.store(2, for: 2, cost: 5)
        for _ in 0..<2 { _ = cache.value(for: 1) }
        // 2/5 of a use per byte against 3/5 and 1/1.
        cache.store(3, for: 3, cost: 1)
        #expect(evicted.value == [2])
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
