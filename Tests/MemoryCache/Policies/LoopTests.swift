import AlcedoCore
import AlcedoMemoryCache
import TestSupport
import Testing

/// How the default policy handles more entries than fit, requested in a cycle, as by a slideshow.
@Suite(.timeLimit(.minutes(10)))
struct LoopTests {
    private typealias Cache = MemoryCache<Int, Int>

    /// Requests keys and stores each that is missing. Returns the hit ratio.
    @discardableResult
    private func request(_ keys: some Sequence<Int>, of cache: Cache, cost: (Int) -> Int = { _ in 1 }) -> Double {
        var (hits, requests) = (0, 0)
        for key in keys {
            requests += 1
            if cache.value(for: key) != nil { hits += 1 } else { cache.store(key, for: key, cost: cost(key)) }
        }
        return Double(hits) / Double(requests)
    }

    private func loop(_ keys: Range<Int>, turns: Int) -> some Sequence<Int> {
        (0..<turns).lazy.flatMap { _ in keys }
    }

    /// The best possible hit ratio is the fraction of the entries that fit.
    @Test(arguments: [(100, 0.07), (200, 0.15), (250, 0.2), (300, 0.25), (333, 0.28), (500, 0.43), (900, 0.83)])
    func `a loop larger than the cache has nearly the hit ratio of a fixed part of it`(
        capacity: Int, leastRatio: Double
    ) {
        let ratio = request(loop(0..<1000, turns: 30), of: Cache(costLimit: capacity))
        #expect((leastRatio...Double(capacity) / 1000).contains(ratio))
    }

    @Test(arguments: [64, 4000])
    func `a cache with space for a quarter of a loop has a hit ratio of at least 20 percent at any size`(count: Int) {
        #expect(request(loop(0..<count, turns: 30), of: Cache(costLimit: count / 4)) >= 0.2)
    }

    @Test func `a cache keeps a part of a loop of entries of different costs`() {
        let cache = Cache(costLimit: 250 * 550)
        #expect(request(loop(0..<1000, turns: 30), of: cache) { 100 + $0 * 7919 % 900 } >= 0.25)
    }

    @Test func `a cache keeps a part of a loop in which one entry in twenty is new`() {
        let keys = loop(0..<1000, turns: 30).lazy.enumerated().map { $0 % 20 == 19 ? 1000 + $0 : $1 }
        #expect(request(keys, of: Cache(costLimit: 500)) >= 0.35)
    }

    @Test func `a cache keeps a working set that fits after a loop`() {
        let cache = Cache(costLimit: 250)
        request(loop(0..<1000, turns: 10), of: cache)
        request(loop(2000..<2200, turns: 30), of: cache)
        #expect(request(loop(2000..<2200, turns: 5), of: cache) > 0.95)
    }

    @Test func `a cache keeps a part of a second loop, even if the loop is too long to be remembered`() {
        let cache = Cache(costLimit: 100)
        request(loop(0..<1000, turns: 5), of: cache)
        request(loop(1000..<2000, turns: 15), of: cache)
        #expect(request(loop(1000..<2000, turns: 5), of: cache) > 0.07)
    }

    @Test func `a cache recognizes another loop after the first`() {
        let cache = Cache(costLimit: 500)
        request(loop(0..<1000, turns: 10), of: cache)
        request(loop(1000..<2000, turns: 10), of: cache)
        #expect(request(loop(1000..<2000, turns: 5), of: cache) > 0.43)
    }
}
