import AlcedoCore
import AlcedoMemoryCache
import AlcedoRuntime
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ReleaseTests {
    private typealias Cache = MemoryCache<Int, Caller>

    /// A value that calls its cache when it is released. Deadlocks if the cache releases it under its lock.
    private final class Caller: Sendable {
        private let goes: @Sendable () -> Void

        init(_ goes: @escaping @Sendable () -> Void) { self.goes = goes }

        deinit { goes() }
    }

    private let cache = Cache(costLimit: 2, policy: .lru)

    private final class Count: Sendable {
        let value = Atomic<Int>(0)
    }

    private func caller(_ count: Count) -> Caller {
        Caller { [weak cache] in
            count.value.add(1, ordering: .relaxed)
            guard let cache else { return }
            _ = cache.value(for: 0)
            _ = cache.totalCost
            cache.trim(toCost: 2)
        }
    }

    @Test(arguments: ["evict", "replace", "remove", "removeAll", "trim", "reject"])
    func `a value that calls the cache in its deinitializer finds it unlocked`(way: String) {
        let count = Count()
        cache.store(caller(count), for: 0, cost: 1)
        cache.store(caller(count), for: 1, cost: 1)

        switch way {
        case "evict": cache.store(caller(count), for: 2, cost: 2)
        case "replace": cache.store(caller(count), for: 0, cost: 1)
        case "remove": cache.removeValue(for: 0)
        case "removeAll": cache.removeAll()
        case "trim": cache.trim(count: 1)
        default: cache.store(caller(count), for: 0, cost: 3)
        }

        let expected = ["evict": 2, "removeAll": 2, "reject": 2][way] ?? 1
        #expect(count.value.load(ordering: .relaxed) == expected)
    }

    /// A value whose owner releases it at the instant at which the weak references read it.
    private final class FleetingCaller: WeaklyReferenceable {
        let holder = Holder()
        private let goes: @Sendable () -> Void

        init(_ goes: @escaping @Sendable () -> Void) { self.goes = goes }

        deinit { goes() }

        var weakReference: (@Sendable () -> FleetingCaller?)? {
            { [weak self, holder] in
                let value = self
                holder.value.withLock { $0 = nil }
                return value
            }
        }

        final class Holder: Sendable {
            let value = Locked<FleetingCaller?>(nil)
        }
    }

    @Test func `values released during a sweep of weak references find the cache unlocked`() {
        let cache = MemoryCache<Int, FleetingCaller>(
            limits: MemoryCacheLimits(costLimit: 1), policy: .lru, findsReferencedValues: true)
        let count = Count()
        for key in 0..<1000 {
            let value = FleetingCaller { [weak cache] in
                _ = cache?.totalCost
                count.value.add(1, ordering: .relaxed)
            }
            value.holder.value.withLock { $0 = value }
            cache.store(value, for: key, cost: 1)
        }
        #expect(count.value.load(ordering: .relaxed) > 900)
    }

    @Test func `values are released with the cache and not before`() {
        let count = Count()
        do {
            let cache = Cache(costLimit: 10)
            for key in 0..<5 { cache.store(caller(count), for: key, cost: 1) }
            #expect(count.value.load(ordering: .relaxed) == 0)
            withExtendedLifetime(cache) {}
        }
        #expect(count.value.load(ordering: .relaxed) == 5)
    }

    @Test func `every stored value is released once, with any number of threads`() async {
        let count = Count()
        let cache = Cache(costLimit: 8)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for step in 0..<500 {
                        cache.store(caller(count), for: (task * 3 + step) % 17, cost: 1)
                        if step % 10 == 0 { cache.removeValue(for: step % 17) }
                    }
                }
            }
        }
        #expect(count.value.load(ordering: .relaxed) == 2000 - cache.count)
        cache.removeAll()
        #expect(count.value.load(ordering: .relaxed) == 2000)
    }
}
