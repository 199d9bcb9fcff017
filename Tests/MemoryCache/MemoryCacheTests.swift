import AlcedoCore
import AlcedoMemoryCache
import AlcedoTesting
import FoundationEssentials
import Testing

@Suite(.timeLimit(.minutes(10)))
struct MemoryCacheTests {
    @Test(arguments: MemoryCacheConformance.checks)
    func `the image memory cache passes each conformance check`(check: MemoryCacheConformance.Check) async throws {
        try await check { ImageMemoryCache(costLimit: $0.byteLimit) }
    }

    @Test func `an image expires after the time to live of its request`() {
        let clock = ManualClock()
        let cache = ImageMemoryCache(
            limits: MemoryCacheLimits(costLimit: 1_000, timeToLive: .seconds(10)), clock: clock)
        func request(_ identity: String, _ timeToLive: Duration?) -> ImageRequest {
            var request = ImageRequest(source: .bytes(Data(), identity: identity))
            request.timeToLive = timeToLive
            return request
        }
        let requests = [request("short", .seconds(5)), request("default", nil), request("long", .seconds(20))]
        func kept() -> [Bool] { requests.map { cache.contains($0.key) } }

        for request in requests + [request("none", .zero)] { cache.store(.gray(side: 1), for: request) }
        #expect(kept() == [true, true, true])
        #expect(cache.count == 3)
        clock.advance(by: .seconds(5))
        #expect(kept() == [false, true, true])
        clock.advance(by: .seconds(5))
        #expect(kept() == [false, false, true])
        clock.advance(by: .seconds(10))
        #expect(kept() == [false, false, false])
    }

    /// Returns the stored keys from 0 to 9. Counts as a use of each, in this order.
    private func keys(in cache: MemoryCache<Int, String>) -> [Int] { (0..<10).filter { cache.value(for: $0) != nil } }

    private func filled(costLimit: Int, countLimit: Int = .max, _ keys: [Int]) -> MemoryCache<Int, String> {
        let cache = MemoryCache<Int, String>(costLimit: costLimit, countLimit: countLimit, policy: .lru)
        for key in keys { cache.store("\(key)", for: key, cost: 1) }
        return cache
    }

    @Test func `the least recently used entry is evicted first`() {
        let cache = filled(costLimit: 3, [0, 1, 2])
        _ = cache.value(for: 0)

        cache.store("3", for: 3, cost: 1)
        #expect(keys(in: cache) == [0, 2, 3])

        // The lookups above used the keys in this order, so 0 is the oldest.
        cache.store("4", for: 4, cost: 2)
        #expect(keys(in: cache) == [3, 4])
    }

    @Test func `storing again counts as a use`() {
        let cache = filled(costLimit: 3, [0, 1, 2])
        cache.store("new", for: 0, cost: 1)
        cache.store("3", for: 3, cost: 1)
        #expect(cache.value(for: 0) == "new")
        #expect(cache.value(for: 1) == nil)
    }

    @Test func `replacing an entry frees the old cost before anything is evicted`() {
        let cache = filled(costLimit: 3, [0, 1, 2])
        #expect(cache.store("big", for: 0, cost: 1))
        #expect(cache.totalCost == 3)
        #expect(cache.count == 3)

        #expect(cache.store("big", for: 1, cost: 2))
        #expect(cache.totalCost == 3)
        #expect(keys(in: cache) == [0, 1])
    }

    @Test func `the cache limits the number of entries`() {
        let cache = filled(costLimit: .max, countLimit: 2, [0, 1, 2])
        #expect(cache.count == 2)
        #expect(keys(in: cache) == [1, 2])
        #expect(cache.totalCost == 2)
    }

    @Test func `a negative cost counts as zero`() {
        let cache = MemoryCache<Int, String>(costLimit: 5, policy: .lru)
        #expect(cache.store("a", for: 0, cost: -10))
        #expect(cache.store("b", for: 1, cost: .min))
        #expect(cache.totalCost == 0)
        #expect(cache.count == 2)
        #expect(cache.store("c", for: 2, cost: 5))
        #expect(cache.count == 3)
    }

    @Test func `costs of the maximum integer do not trap`() {
        let cache = MemoryCache<Int, String>(costLimit: .max)
        #expect(!cache.store("a", for: 0, cost: .max))
        #expect(cache.store("a", for: 0, cost: .max / 2))
        #expect(cache.store("b", for: 1, cost: .max / 2))
        #expect(cache.totalCost == .max / 2)
        #expect(cache.count == 1)
        cache.trim(toCost: .min, count: .min)
        #expect(cache.totalCost == 0)
        #expect(cache.count == 0)
    }

    @Test(arguments: [(0, 5), (-1, 5), (5, 0), (5, -1), (.min, .min)])
    func `a limit of zero or less stores nothing`(costLimit: Int, countLimit: Int) {
        let cache = MemoryCache<Int, String>(costLimit: costLimit, countLimit: countLimit)
        #expect(!cache.store("a", for: 0, cost: 0))
        #expect(cache.value(for: 0) == nil)
        #expect(cache.count == 0)
    }

    @Test func `trimming keeps the most recently used entries`() {
        let cache = filled(costLimit: .max, [0, 1, 2, 3, 4])
        _ = cache.value(for: 0)

        cache.trim(count: 4)
        #expect(cache.value(for: 1) == nil)
        cache.trim(toCost: 2)

        #expect(keys(in: cache) == [0, 4])
        cache.trim(toCost: 100)
        #expect(cache.count == 2)
    }

    @Test func `removing a value returns it`() {
        let cache = filled(costLimit: 5, [0, 1])
        #expect(cache.removeValue(for: 0) == "0")
        #expect(cache.removeValue(for: 0) == nil)
        cache.removeAll()
        #expect(cache.count == 0)
        #expect(cache.totalCost == 0)
        cache.store("again", for: 0, cost: 1)
        #expect(cache.value(for: 0) == "again")
    }

    @Test func `an image costs the bytes it occupies`() {
        let image = DecodedImage.gray(side: 3)
        let cache = ImageMemoryCache(costLimit: 1 << 20)
        cache.store(image, for: ImageKey(ResourceKey("a")))
        #expect(cache.totalCost == 3 * 64)
    }
}
