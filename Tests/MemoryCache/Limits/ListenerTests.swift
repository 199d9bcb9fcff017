import AlcedoCore
import AlcedoMemoryCache
import AlcedoTesting
import Foundation
import TestSupport
import Testing

/// Listeners that call the cache.
@Suite(.timeLimit(.minutes(10)))
struct ListenerTests {
    private typealias Cache = MemoryCache<Int, Int>

    @Test(.spawnsProcesses)
    func `a listener that stores again a hundred thousand times does not grow the stack`()
        async
    {
        await #expect(processExitsWith: .success) {
            let box = Watched<MemoryCache<Int, Int>?>(nil)
            let calls = Watched(0)
            let cache = MemoryCache<Int, Int>(limits: MemoryCacheLimits(costLimit: 1), policy: .lru) {
                key, value, reason in
                calls.update { $0 += 1 }
                guard key < 100_000 else { return }
                box.value?.store(0, for: key + 2, cost: 1)
            }
            box.update { $0 = cache }
            cache.store(0, for: 0, cost: 1)
            cache.store(0, for: 1, cost: 1)
            #expect(calls.value == 100_001)
            box.update { $0 = nil }
        }
    }

    @Test func `entries removed while the listener runs are reported in order before the first call returns`() {
        let box = Watched<Cache?>(nil)
        let told = Watched<[String]>([])
        let cache = Cache(limits: MemoryCacheLimits(costLimit: 3), policy: .lru) { key, value, reason in
            told.update { $0.append("\(key) begins") }
            if key < 2 { box.value?.store(0, for: key + 10, cost: 1) }
            told.update { $0.append("\(key) ends") }
        }
        box.update { $0 = cache }
        for key in 0..<3 { cache.store(0, for: key, cost: 1) }

        // Storing again after 0 and 1 were evicted evicts one more each.
        cache.store(0, for: 3, cost: 2)

        #expect(told.value.enumerated().allSatisfy { $1.hasSuffix($0 % 2 == 0 ? "begins" : "ends") })
        #expect(told.value.first == "0 begins")
        #expect(told.value.dropFirst(2).first == "1 begins")
        #expect(told.value.count / 2 == cache.statistics.evictions.values.reduce(0, +))
        box.update { $0 = nil }
    }

    @Test func `a listener may wait for the listener call of another thread`() {
        let box = Watched<Cache?>(nil)
        let isToldOther = DispatchSemaphore(value: 0)
        let cache = Cache(limits: MemoryCacheLimits(costLimit: 1), policy: .lru) { key, value, reason in
            guard key == 0 else {
                isToldOther.signal()
                return
            }
            Thread.detachNewThread { box.value?.store(0, for: 2, cost: 1) }
            #expect(isToldOther.wait(timeout: .now() + 120) == .success)
        }
        box.update { $0 = cache }
        for key in 0..<2 { cache.store(0, for: key, cost: 1) }
        #expect(cache.statistics.evictions[.costLimit] == 2)
        box.update { $0 = nil }
    }

    @Test func `entries that threads remove concurrently are reported once each`() async {
        let evicted = Watched<[Int]>([])
        let cache = Cache(limits: MemoryCacheLimits(costLimit: 2), policy: .lru) { key, value, reason in
            evicted.update { $0.append(value) }
        }
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for step in 0..<500 {
                        let number = task * 500 + step
                        cache.store(number, for: number, cost: 1)
                    }
                }
            }
        }
        cache.removeAll()
        #expect(evicted.value.sorted() == Array(0..<2000))
    }
}
