import AlcedoCore
import AlcedoNSCache
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct NSCacheThreadsTests {
    @Test func `four concurrent threads find what belongs to the key and keep the cost correct`() async {
        let (costLimit, countLimit) = (60, 15)
        let cache = NSCacheBackend(costLimit: costLimit, countLimit: countLimit)
        // The level is the key's number, and the cost varies.
        let keys = (0..<24).map { ImageKey(ResourceKey("\($0 / 3)"), variant: "\($0 % 3)") }

        await onThreads(4) { thread in
            var random = SeededGenerator(seed: UInt64(thread))
            for _ in 0..<1500 {
                let number = Int.random(in: 0..<keys.count, using: &random)
                switch Int.random(in: 0..<100, using: &random) {
                case 0..<40:
                    let cost = Int.random(in: 0...9, using: &random)
                    cache.store(.weighing(cost, level: UInt8(number)), for: keys[number])
                case 40..<80:
                    if let found = cache.image(for: keys[number]) { #expect(found.level == UInt8(number)) }
                case 80..<90: cache.remove(keys[number])
                case 90..<94: #expect(cache.removeAll(of: keys[number].resource) <= 3)
                case 94..<99: cache.trim(toCost: Int.random(in: 0...costLimit, using: &random))
                default: cache.removeAll()
                }
                #expect(cache.totalCost <= costLimit)
                #expect(cache.count <= countLimit)
            }
        }

        let left = keys.compactMap { cache.image(for: $0) }
        #expect(cache.count == left.count)
        #expect(cache.totalCost == left.reduce(0) { $0 + $1.cost })
    }
}
