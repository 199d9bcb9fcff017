import AlcedoCore
import AlcedoNSCache
import AlcedoTesting
import TestSupport
import Testing

/// The behavior of SDWebImage's `AutoPurgeCache` and `NSCacheDelegate`.
@Suite(.timeLimit(.minutes(10)))
struct NSCacheEvictionTests {
    private let evicted = Watched<[String]>([])

    private func cache(
        costLimit: Int = 1000, countLimit: Int = .max, pressureSource: (any MemoryPressureSource)? = nil
    ) -> NSCacheBackend {
        NSCacheBackend(costLimit: costLimit, countLimit: countLimit, pressureSource: pressureSource) {
            [evicted] key, image in evicted.update { $0.append("\(key):\(image.cost)") }
        }
    }

    @Test func `each image that a limit evicts is reported, also the one being stored`() {
        let cache = cache(countLimit: 2)
        for (number, cost) in [30, 10, 20, 5].enumerated() { cache.store(.weighing(cost), for: .number(number)) }
        // The lowest cost is evicted.
        #expect(evicted.value == ["1:10", "3:5"])
        #expect(cache.numbers == [0, 2])
    }

    @Test func `removed, replaced and refused images are not reported`() {
        let cache = cache(costLimit: 100)
        for number in 0..<4 { cache.store(.weighing(10), for: .number(number)) }
        cache.store(.weighing(12), for: .number(0))
        cache.store(.weighing(101), for: .number(1))
        cache.remove(.number(2))
        cache.removeAll(of: ResourceKey("3"))
        cache.removeAll()
        #expect(evicted.value == [])
    }

    @Test func `a trim is reported`() {
        let cache = cache()
        for (number, cost) in [30, 10, 20].enumerated() { cache.store(.weighing(cost), for: .number(number)) }
        cache.trim(toCost: 35)
        #expect(evicted.value == ["1:10", "2:20"])
        cache.trim(toCost: 0)
        #expect(evicted.value.last == "0:30")
    }

    @Test(arguments: [MemoryPressure.warning, .critical])
    func `memory pressure clears the cache and is reported`(level: MemoryPressure) {
        let source = ManualMemoryPressureSource()
        let cache = cache(pressureSource: source)
        for (number, cost) in [30, 0].enumerated() { cache.store(.weighing(cost), for: .number(number)) }
        source.set(level)
        #expect(cache.count == 0)
        #expect(cache.totalCost == 0)
        #expect(evicted.value.sorted() == ["0:30", "1:0"])
        source.set(.normal)
        cache.store(.weighing(1), for: .number(2))
        #expect(cache.count == 1)
    }

    @Test func `a released cache no longer observes memory pressure`() {
        let source = ManualMemoryPressureSource()
        weak var released: NSCacheBackend?
        do {
            let cache = cache(pressureSource: source)
            released = cache
            #expect(released != nil)
        }
        #expect(released == nil)
        source.set(.warning)
    }

    @Test func `a handler may call the cache`() {
        let holder = Watched<NSCacheBackend?>(nil)
        let counts = Watched<[Int]>([])
        let cache = NSCacheBackend(costLimit: 100, countLimit: 1) { _, _ in
            if let cache = holder.value { counts.update { $0.append(cache.count) } }
        }
        holder.update { $0 = cache }
        for number in 0..<3 { cache.store(.weighing(1), for: .number(number)) }
        #expect(counts.value == [1, 1])
        holder.update { $0 = nil }
    }
}
