import AlcedoCore
import AlcedoMemoryCache
import AlcedoTesting
import TestSupport
import Testing

/// Statistics, the listener, groups, memory pressure and weakly referenced values.
@Suite struct EventTests {
    private let evicted = Watched<[String]>([])

    private func cache(
        _ limits: MemoryCacheLimits, findsReferencedValues: Bool = false, policy: PolicyChoice = .lru
    ) -> ImageMemoryCache {
        policy.cache(limits, findsReferencedValues: findsReferencedValues) { [evicted] key, value, reason in
            evicted.update { $0.append("\(key) \(reason)") }
        }
    }

    private func key(_ name: String, _ variant: String = "") -> ImageKey {
        ImageKey(ResourceKey(name), variant: variant)
    }

    private let unit = DecodedImage.gray(side: 1).cost

    @Test func `every removal has its reason and is counted once`() {
        let cache = cache(MemoryCacheLimits(costLimit: 4 * unit, countLimit: 3))
        let image = DecodedImage.gray(side: 1)
        for name in ["a", "b", "c", "d"] { cache.store(image, for: key(name)) }
        cache.store(image, for: key("d"))
        cache.store(.gray(side: 2), for: key("d"))
        cache.store(.gray(side: 3), for: key("e"))
        cache.remove(key("e"))
        cache.store(image, for: key("f"))
        cache.trim(toCost: 0)
        cache.store(.gray(side: 9), for: key("g"))

        #expect(
            evicted.value == [
                "a countLimit", "d replaced", "d replaced", "b costLimit", "c costLimit", "d costLimit", "e removed",
                "f trimmed",
            ])
        let statistics = cache.statistics
        #expect(statistics.stores == 8)
        #expect(statistics.failures == 1)
        #expect(statistics.failedCost == 9 * unit)
        #expect(statistics.evictions.values.reduce(0, +) == 8)
        #expect(statistics.evictions[.replaced] == 2)
        #expect(statistics.evictedCosts[.removed] == 3 * unit)
    }

    @Test func `hits and misses are counted with their bytes`() {
        let cache = cache(MemoryCacheLimits(costLimit: 100 * unit))
        cache.store(.gray(side: 2), for: key("a"))
        for name in ["a", "a", "b"] { _ = cache.image(for: key(name)) }
        _ = cache.contains(key("a"))
        #expect(cache.statistics.hits == 2)
        #expect(cache.statistics.hitCost == 4 * unit)
        #expect(cache.statistics.misses == 1)
        #expect(cache.statistics.hitRatio > 0.66)
        #expect(cache.statistics.hitRatio < 0.67)
    }

    @Test(arguments: PolicyChoice.allCases)
    func `a listener may call the cache`(policy: PolicyChoice) {
        let box = Watched<MemoryCache<Int, Int>?>(nil)
        let calls = Watched(0)
        let cache: MemoryCache<Int, Int> = policy.cache(MemoryCacheLimits(costLimit: 3)) { key, value, reason in
            calls.update { $0 += 1 }
            guard calls.value < 50, let cache = box.value else { return }
            // Stores the evicted value again, which evicts another.
            cache.store(value, for: key, cost: 1)
            _ = cache.value(for: 0)
            _ = cache.statistics
        }
        box.update { $0 = cache }
        for key in 0..<10 { cache.store(key, for: key, cost: 1) }
        #expect(calls.value + cache.statistics.failures >= 7)
        #expect(cache.totalCost <= 3)
        box.update { $0 = nil }
    }

    @Test(arguments: PolicyChoice.allCases)
    func `an image over the limit for one entry is not stored and evicts nothing`(policy: PolicyChoice) {
        let cache = cache(MemoryCacheLimits(costLimit: 100 * unit, maximumEntryCost: 5 * unit), policy: policy)
        cache.store(.gray(side: 5), for: key("a"))
        cache.store(.gray(side: 6), for: key("b"))
        #expect(cache.contains(key("a")))
        #expect(!cache.contains(key("b")))
        #expect(evicted.value.isEmpty)
    }

    @Test(arguments: [0, -1, .min])
    func `an entry limit of zero stores nothing`(limit: Int) {
        let cache = cache(MemoryCacheLimits(costLimit: 100, maximumEntryCost: limit))
        cache.store(.gray(side: 1), for: key("a"))
        #expect(cache.count == 0)
    }

    @Test func `an evicted image is found while it is referenced, and has no cost`() throws {
        let cache = cache(MemoryCacheLimits(costLimit: unit), findsReferencedValues: true)
        var held: DecodedImage? = DecodedImage.gray(side: 1, level: 9)
        cache.store(try #require(held), for: key("a"))
        cache.store(.gray(side: 1), for: key("b"))
        #expect(!cache.contains(key("a")))
        #expect(cache.totalCost == unit)

        #expect(cache.image(for: key("a"))?.pixels == held?.pixels)
        #expect(cache.count == 1)
        #expect(cache.totalCost == unit)
        #expect(cache.statistics.weakHits == 1)
        #expect(cache.statistics.misses == 1)

        held = nil
        #expect(cache.image(for: key("a")) == nil)
        #expect(cache.statistics.weakHits == 1)
        #expect(cache.statistics.misses == 2)
    }

    @Test func `an image too large to store is found while it is referenced`() {
        let cache = cache(MemoryCacheLimits(costLimit: unit), findsReferencedValues: true)
        let held = DecodedImage.gray(side: 9, level: 3)
        cache.store(held, for: key("a"))
        #expect(cache.count == 0)
        #expect(cache.image(for: key("a"))?.pixels == held.pixels)
    }

    @Test func `a removed or replaced image is not found, though it is referenced`() {
        let cache = cache(MemoryCacheLimits(costLimit: 2 * unit), findsReferencedValues: true)
        let held = (0..<4).map { DecodedImage.gray(side: 1, level: UInt8($0)) }
        for (index, name) in ["removed", "replaced", "group", "all"].enumerated() {
            cache.store(held[index], for: key(name))
        }
        cache.trim(toCost: 0)
        #expect(cache.image(for: key("removed")) != nil)
        cache.remove(key("removed"))
        #expect(cache.image(for: key("removed")) == nil)

        cache.store(.gray(side: 1, level: 77), for: key("replaced"))
        cache.remove(key("replaced"))
        #expect(cache.image(for: key("replaced")) == nil)

        cache.removeAll(of: ResourceKey("group"))
        #expect(cache.image(for: key("group")) == nil)
        #expect(cache.image(for: key("all")) != nil)
        cache.removeAll()
        #expect(cache.image(for: key("all")) == nil)
        withExtendedLifetime(held) {}
    }

    @Test func `a warning evicts half, critical pressure evicts all, and referenced images are still found`() {
        let source = ManualMemoryPressureSource()
        let cache = ImageMemoryCache(
            limits: MemoryCacheLimits(costLimit: 10 * unit), policy: .lru, findsReferencedValues: true,
            pressureSource: source)
        let held = DecodedImage.gray(side: 1, level: 5)
        cache.store(held, for: key("held"))
        for number in 0..<9 { cache.store(.gray(side: 1), for: key("\(number)")) }

        source.set(.warning)
        #expect(cache.totalCost == 5 * unit)
        #expect(cache.contains(key("8")))
        #expect(!cache.contains(key("0")))
        source.set(.normal)
        #expect(cache.totalCost == 5 * unit)
        source.set(.critical)
        #expect(cache.totalCost == 0)
        #expect(cache.image(for: key("held")) != nil)
    }

    @Test func `a warning evicts half of the cost, or half of the entries if they have no cost`() {
        let free = MemoryCache<Int, Int>(costLimit: 10, policy: .lru)
        for key in 0..<9 { free.store(key, for: key, cost: 0) }
        free.respond(to: .warning)
        #expect(free.count == 4)
        free.respond(to: .critical)
        #expect(free.count == 0)

        let dear = MemoryCache<Int, Int>(costLimit: 100, policy: .lru)
        for (key, cost) in [1, 1, 1, 7].enumerated() { dear.store(key, for: key, cost: cost) }
        dear.respond(to: .warning)
        #expect(dear.count == 0)
        for (key, cost) in [7, 1, 1, 1].enumerated() { dear.store(key, for: key, cost: cost) }
        dear.respond(to: .warning)
        #expect(dear.count == 3)
    }

    @Test func `an entry that the policy refuses is never stored`() {
        let evicted = Watched<[Int: EvictionReason]>([:])
        let cache = MemoryCache<Int, Int>(
            limits: MemoryCacheLimits(costLimit: 10), policy: .custom(NewestFirst())
        ) { key, value, reason in evicted.update { $0[key] = reason } }
        for key in 0..<5 { cache.store(key, for: key, cost: 2) }
        let before = cache.statistics

        #expect(!cache.store(9, for: 9, cost: 10))

        #expect(cache.statistics.failures == 1)
        #expect(cache.statistics.failedCost == 10)
        #expect(cache.statistics.stores == before.stores)
        #expect(cache.statistics.storedCost == before.storedCost)
        #expect(cache.statistics.evictions == before.evictions)
        #expect(cache.count == 5)
        #expect(evicted.value.isEmpty)

        // The previous entry of the key is removed nevertheless.
        #expect(!cache.store(9, for: 4, cost: 10))
        #expect(evicted.value == [4: .replaced])
        #expect(!cache.store(9, for: 3, cost: 11))
        #expect(evicted.value == [4: .replaced, 3: .replaced])
        #expect(cache.statistics.failures == 3)
    }

    @Test func `an entry that the policy refuses is found while it is referenced`() {
        let cache = MemoryCache<Int, ReferencedNumber>(
            limits: MemoryCacheLimits(costLimit: 10), policy: .custom(NewestFirst()), findsReferencedValues: true)
        for key in 0..<5 { cache.store(ReferencedNumber(key), for: key, cost: 2) }
        let held = ReferencedNumber(9)
        #expect(!cache.store(held, for: 9, cost: 10))
        #expect(cache.value(for: 9) === held)
    }

    @Test func `a released cache no longer observes memory pressure`() {
        let source = ManualMemoryPressureSource()
        do {
            let cache = MemoryCache<Int, Int>(limits: MemoryCacheLimits(costLimit: 1), pressureSource: source)
            withExtendedLifetime(cache) { #expect(source.observerCount == 1) }
        }
        #expect(source.observerCount == 0)
    }

    @Test(arguments: PolicyChoice.allCases)
    func `removing one resource among thousands keeps the others`(policy: PolicyChoice) {
        let cache = cache(MemoryCacheLimits(costLimit: 100_000 * unit), policy: policy)
        for number in 0..<300 {
            for variant in ["", "small", "round"] {
                cache.store(.gray(side: 1), for: key("\(number % 100)", "\(variant)\(number / 100)"))
            }
        }
        #expect(cache.count == 900)
        #expect(cache.removeAll(of: ResourceKey("7")) == 9)
        #expect(cache.removeAll(of: ResourceKey("7")) == 0)
        #expect(cache.count == 891)
        #expect(cache.totalCost == 891 * unit)
    }

    @Test func `two keys made from one URL are equal`() {
        let cache = cache(MemoryCacheLimits(costLimit: 10 * unit))
        let name = "https://images.example.org/a/rather/long/path/to/a/picture.jpg"
        cache.store(.gray(side: 1), for: key(name))
        #expect(cache.image(for: key(String(name.map { $0 }))) != nil)
        #expect(cache.image(for: key(name, "small")) == nil)
    }
}

/// Evicts the most recently stored entry first, and so rejects an entry that does not fit.
private struct NewestFirst: EvictionPolicy {
    private var slots: [Int] = []

    mutating func insert(_ slot: Int, hash: UInt64, cost: Int, fits: Bool) { slots.append(slot) }
    mutating func use(_ slot: Int) {}
    mutating func remove(_ slot: Int) { slots.removeAll { $0 == slot } }
    mutating func evict() -> Int? { slots.popLast() }
    mutating func removeAll() { slots = [] }
}
