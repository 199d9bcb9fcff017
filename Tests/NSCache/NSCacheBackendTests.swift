import AlcedoCore
import AlcedoNSCache
import AlcedoTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct NSCacheBackendTests {
    @Test(arguments: MemoryCacheConformance.checks)
    func `the cache over NSCache passes each conformance check`(check: MemoryCacheConformance.Check) async throws {
        try await check { NSCacheBackend(costLimit: $0.byteLimit) }
    }

    @Test func `an equal key finds the image`() {
        let cache = NSCacheBackend(costLimit: 1000)
        cache.store(.weighing(1, level: 7), for: ImageKey(ResourceKey("a"), variant: "small"))
        #expect(cache.image(for: ImageKey(ResourceKey("a"), variant: "small"))?.level == 7)
        #expect(cache.image(for: ImageKey(ResourceKey("a"), variant: "round")) == nil)
    }

    @Test func `the image is returned with scale, orientation and format`() {
        let cache = NSCacheBackend(costLimit: 10_000)
        var image = DecodedImage.coordinates(PixelSize(width: 3, height: 2))
        image.scale = 2
        image.orientation = .left
        image.format = .png

        cache.store(image, for: .number(0))

        let found = cache.image(for: .number(0))
        #expect(found?.pixels == image.pixels)
        #expect(found?.scale == 2)
        #expect(found?.orientation == .left)
        #expect(found?.format == .png)
        #expect(cache.totalCost == image.cost)
        #expect(cache.count == 1)
    }

    @Test func `replacing counts the new cost only`() {
        let cache = NSCacheBackend.storing([10, 20, 30])
        cache.store(.weighing(5), for: .number(2))
        #expect(cache.totalCost == 35)
        #expect(cache.count == 3)
        cache.store(.weighing(50), for: .number(2))
        #expect(cache.totalCost == 80)
        #expect(cache.count == 3)
    }

    @Test func `replacing by a higher cost evicts what no longer fits`() {
        let cache = NSCacheBackend.storing([10, 20, 30], costLimit: 60)
        cache.store(.weighing(35), for: .number(2))
        #expect(cache.numbers == [1, 2])
        #expect(cache.totalCost == 55)
        #expect(cache.count == 2)
    }

    @Test func `the number of images is limited`() {
        let cache = NSCacheBackend.storing([1, 2, 3, 4], countLimit: 2)
        #expect(cache.count == 2)
        #expect(cache.totalCost == 7)
        #expect(cache.numbers == [2, 3])
    }

    @Test(arguments: [(0, 5), (-1, 5), (5, 0), (5, -1), (Int.min, Int.min)])
    func `a limit of zero or less stores nothing`(costLimit: Int, countLimit: Int) {
        let cache = NSCacheBackend.storing([0, 1], costLimit: costLimit, countLimit: countLimit)
        #expect(cache.count == 0)
        #expect(cache.totalCost == 0)
        #expect(cache.numbers == [])
        cache.trim(toCost: 0)
        cache.removeAll()
    }

    @Test func `an image of exactly the limit is stored`() {
        let cache = NSCacheBackend.storing([10], costLimit: 10)
        #expect(cache.numbers == [0])
    }

    @Test func `a negative cost counts as zero`() {
        let cache = NSCacheBackend.storing([-5, 3], costLimit: 10)
        #expect(cache.numbers == [0, 1])
        #expect(cache.totalCost == 3)
    }

    @Test func `costs near the largest number do not overflow`() {
        let half = Int.max / 2
        let cache = NSCacheBackend.storing([half, half - 1, half, half + 1, .max])
        #expect(cache.costLimit == half)
        #expect(cache.totalCost == half)
        #expect(cache.count == 1)
    }

    @Test(arguments: [-1, 0])
    func `trimming to zero or less removes everything`(cost: Int) {
        let cache = NSCacheBackend.storing([1, 2, 3])
        cache.trim(toCost: cost)
        #expect(cache.numbers == [])
        #expect(cache.count == 0)
        #expect(cache.totalCost == 0)
    }

    @Test func `trimming to more than the current cost removes nothing`() {
        let cache = NSCacheBackend.storing([0, 1, 2, 3], costLimit: 10, countLimit: 4)
        for cost in [6, 7, 10, 11, .max] { cache.trim(toCost: cost) }
        #expect(cache.numbers == [0, 1, 2, 3])
    }

    @Test func `a trim keeps the limit`() {
        let cache = NSCacheBackend.storing([1, 2, 3, 4], costLimit: 10, countLimit: 4)
        cache.trim(toCost: 7)
        #expect(cache.numbers == [2, 3])
        cache.store(.weighing(3), for: .number(4))
        #expect(cache.numbers == [2, 3, 4])
        #expect(cache.totalCost == 10)
    }

    @Test func `statistics count lookups, stores, rejections and evictions by reason`() {
        let cache = NSCacheBackend.storing([10, 20, 30], costLimit: 60)
        for number in [0, 0, 7] { _ = cache.image(for: .number(number)) }
        _ = cache.contains(.number(0))
        // 50 and 30 exceed the limit, so the lowest costs, 0 and 1, are evicted.
        cache.store(.weighing(30), for: .number(3))
        cache.store(.weighing(61), for: .number(3))
        cache.remove(.number(2))
        cache.store(.weighing(5), for: .number(4))
        cache.trim(toCost: 0)

        let statistics = cache.statistics
        #expect(statistics.hits == 2)
        #expect(statistics.hitCost == 20)
        #expect(statistics.misses == 1)
        #expect(statistics.stores == 5)
        #expect(statistics.failures == 1)
        #expect(statistics.evictions == [.costLimit: 2, .replaced: 1, .removed: 1, .trimmed: 1])
    }

    @Test func `storing over the count limit evicts an image`() {
        let cache = NSCacheBackend.storing([1, 2, 3], countLimit: 2)
        #expect(cache.statistics.evictions == [.countLimit: 1])
    }

    @Test func `an observer of memory pressure clears the cache`() {
        let cache = NSCacheBackend.storing([1, 2, 3])
        let source = ManualMemoryPressureSource()
        let observation = source.observe { if $0 >= .warning { cache.removeAll() } }

        source.set(.warning)

        #expect(cache.numbers == [])
        withExtendedLifetime(observation) {}
    }
}
