import AlcedoCore
import AlcedoNSCache
import AlcedoTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct NSCacheReleaseTests {
    private final class Count: Sendable {
        private let atomic = Atomic<Int>(0)

        var value: Int { atomic.load(ordering: .relaxed) }

        func add() { atomic.add(1, ordering: .relaxed) }
    }

    /// Returns an image that calls the cache when it is released. Deadlocks if that happens under a lock.
    private func caller(cost: Int, _ cache: NSCacheBackend, _ count: Count) -> DecodedImage {
        .weighing(cost) { [weak cache] in
            count.add()
            guard let cache else { return }
            _ = cache.image(for: .number(0))
            _ = cache.totalCost
            cache.remove(.number(100))
            cache.trim(toCost: .max)
        }
    }

    enum Way: CaseIterable {
        case evict, evictAtOnce, replace, remove, removeAllOfOne, removeAll, trim, trimToZero, reject

        /// The number of released images, of the two that are stored and the one being stored.
        var releaseCount: Int {
            switch self {
            case .evict, .removeAll, .trimToZero, .reject: 2
            case .evictAtOnce, .replace, .remove, .removeAllOfOne, .trim: 1
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `an image that calls the cache in its deinitializer finds it unlocked`(way: Way) {
        let count = Count()
        let cache = NSCacheBackend(costLimit: 2)
        cache.store(caller(cost: 1, cache, count), for: .number(0))
        cache.store(caller(cost: 1, cache, count), for: .number(1))

        switch way {
        case .evict: cache.store(caller(cost: 2, cache, count), for: .number(2))
        case .evictAtOnce: cache.store(caller(cost: 1, cache, count), for: .number(2))
        case .replace: cache.store(caller(cost: 1, cache, count), for: .number(0))
        case .remove: cache.remove(.number(0))
        case .removeAllOfOne: cache.removeAll(of: ResourceKey("0"))
        case .removeAll: cache.removeAll()
        case .trim: cache.trim(toCost: 1)
        case .trimToZero: cache.trim(toCost: 0)
        case .reject: cache.store(caller(cost: 3, cache, count), for: .number(0))
        }

        #expect(count.value == way.releaseCount)
    }

    /// Without the backend's measures NSCache leaks its images when it is released.
    @Test(arguments: [0, 1, 2, 5])
    func `images are released with the cache and not before`(number: Int) {
        let count = Count()
        do {
            let cache = NSCacheBackend(costLimit: 100)
            for key in 0..<number { cache.store(caller(cost: key, cache, count), for: .number(key)) }
            #expect(count.value == 0)
            withExtendedLifetime(cache) {}
        }
        #expect(count.value == number)
    }

    @Test func `every stored image is released once, with any number of threads`() async {
        let count = Count()
        let cache = NSCacheBackend(costLimit: 20)
        await onThreads(4) { thread in
            for step in 0..<500 {
                let key = ImageKey.number((thread * 3 + step) % 17)
                cache.store(caller(cost: 1 + step % 5, cache, count), for: key)
                if step % 3 == 0 { _ = cache.image(for: key) }
                if step % 10 == 0 { cache.remove(.number(step % 17)) }
                if step % 100 == 0 { cache.removeAll() }
            }
        }
        #expect(count.value == 2000 - cache.count)
        cache.removeAll()
        #expect(count.value == 2000)
    }
}
