import AlcedoCore
import AlcedoMemoryCache
import AlcedoTesting
import TestSupport
import Testing

/// Properties of every policy.
@Suite(.timeLimit(.minutes(10)))
struct PolicyTests {

    @Test(arguments: PolicyChoice.allCases, MemoryCacheConformance.checks)
    func `a cache with any policy passes each conformance check`(
        policy: PolicyChoice, check: MemoryCacheConformance.Check
    ) async throws {
        try await check { policy.cache(MemoryCacheLimits(costLimit: $0.byteLimit)) as ImageMemoryCache }
    }

    @Test(arguments: PolicyChoice.allCases, [1, 2, 3] as [UInt64])
    func `under every policy, a found value is the last stored one, limits hold and costs add up`(
        policy: PolicyChoice, seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        let evicted = Watched<[Int: Int]>([:])
        let limits = MemoryCacheLimits(
            costLimit: Int.random(in: 20...200, using: &random), countLimit: seed == 2 ? 15 : .max, maximumEntryCost: 30
        )
        let cache: MemoryCache<Int, Int> = policy.cache(limits) { key, value, reason in
            evicted.update { $0[key] = value }
        }
        var stored: [Int: (value: Int, cost: Int)] = [:]

        for step in 0..<6000 {
            let key = min(Int.random(in: 0..<60, using: &random), Int.random(in: 0..<60, using: &random))
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<40:
                let cost = Int.random(in: 0...35, using: &random)
                evicted.update { $0 = [:] }
                let isStored = cache.store(step, for: key, cost: cost)
                #expect(cost <= 30 || !isStored)
                stored[key] = isStored ? (step, cost) : nil
                for other in evicted.value.keys where other != key { stored[other] = nil }
            case 40..<90:
                #expect(cache.value(for: key) == stored[key]?.value)
            case 90..<96:
                #expect(cache.removeValue(for: key) == stored.removeValue(forKey: key)?.value)
            case 96..<99:
                evicted.update { $0 = [:] }
                let (cost, count) = (
                    Int.random(in: 0...limits.costLimit, using: &random), Int.random(in: 0...20, using: &random)
                )
                cache.trim(toCost: cost, count: count)
                for other in evicted.value.keys { stored[other] = nil }
                #expect(cache.totalCost <= cost)
                #expect(cache.count <= count)
            default:
                cache.removeAll()
                stored = [:]
            }
            #expect(cache.count == stored.count)
            #expect(cache.totalCost == stored.values.reduce(0) { $0 + $1.cost })
            #expect(cache.totalCost <= limits.costLimit)
            #expect(cache.count <= limits.countLimit)
        }
    }

    @Test(arguments: PolicyChoice.allCases)
    func `an entry that was just stored is found`(policy: PolicyChoice) {
        let cache: MemoryCache<Int, Int> = policy.cache(MemoryCacheLimits(costLimit: 10))
        for key in 0..<200 {
            #expect(cache.store(key, for: key, cost: key % 5 + 1))
            #expect(cache.value(for: key) == key)
        }
    }

    @Test(arguments: PolicyChoice.allCases)
    func `concurrent reads, stores, removals and trims leave the costs correct`(policy: PolicyChoice) async {
        let cache: MemoryCache<Int, Int> = policy.cache(
            MemoryCacheLimits(costLimit: 100, timeToLive: .seconds(3600), extendsExpiryOnUse: true),
            findsReferencedValues: true)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<6 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(task))
                    for step in 0..<3200 {
                        let key = Int.random(in: 0..<150, using: &random)
                        switch step % 16 {
                        case 0..<8: if let value = cache.value(for: key) { #expect(value == key) }
                        case 8..<14: cache.store(key, for: key, cost: key % 7)
                        case 14: cache.removeValue(for: key)
                        default: cache.trim(toCost: 90)
                        }
                    }
                }
            }
        }
        let entries = cache.entries
        #expect(entries.count == cache.count)
        #expect(entries.reduce(0) { $0 + $1.cost } == cache.totalCost)
        #expect(cache.totalCost <= 100)
        let statistics = cache.statistics
        #expect(statistics.hits + statistics.misses == 6 * 1600)
    }
}
