import AlcedoCore
import AlcedoNSCache
import TestSupport
import Testing

@Suite struct NSCacheModelTests {
    /// The expected values of all images found. NSCache decides which of them it keeps.
    private struct Reference {
        var stored: [ImageKey: (level: UInt8, cost: Int)] = [:]

        mutating func store(_ level: UInt8, for key: ImageKey, cost: Int, costLimit: Int) {
            stored[key] = cost <= costLimit && costLimit > 0 ? (level, max(0, cost)) : nil
        }

        /// Removes what the cache has evicted, and records an issue for each image that differs from the stored one.
        mutating func compare(_ cache: NSCacheBackend, _ keys: [ImageKey]) {
            for key in keys {
                let found = cache.image(for: key)
                guard let found else {
                    stored[key] = nil
                    continue
                }
                #expect(found.level == stored[key]?.level, "\(key)")
                #expect(max(0, found.cost) == stored[key]?.cost, "\(key)")
            }
            #expect(cache.count == stored.count)
            #expect(cache.totalCost == stored.values.reduce(0) { $0 + $1.cost })
        }
    }

    private let keys = (0..<8).flatMap { number in
        ["", "small", "round"].map { ImageKey(ResourceKey("\(number)"), variant: $0) }
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func `after any random call, found images were stored last, and the cost is correct`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let costLimit = seed == 8 ? 0 : Int.random(in: 1...80, using: &random)
        let countLimit = seed % 2 == 0 ? Int.max : Int.random(in: 1...12, using: &random)
        let cache = NSCacheBackend(costLimit: costLimit, countLimit: countLimit)
        var reference = Reference()

        for _ in 0..<1500 {
            let key = keys.randomElement(using: &random) ?? keys[0]
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<70:
                let (level, cost) = (UInt8.random(in: 0...255, using: &random), Int.random(in: -2...20, using: &random))
                cache.store(.weighing(cost, level: level), for: key)
                reference.store(level, for: key, cost: cost, costLimit: costLimit)
            case 70..<85:
                #expect(cache.remove(key) == (reference.stored.removeValue(forKey: key) != nil))
            case 85..<91:
                let gone = reference.stored.filter { $0.key.resource == key.resource }
                #expect(cache.removeAll(of: key.resource) == gone.count)
                for key in gone.keys { reference.stored[key] = nil }
            case 91..<98:
                let cost = Int.random(in: -1...90, using: &random)
                let before = cache.totalCost
                cache.trim(toCost: cost)
                #expect(cache.totalCost <= max(0, cost))
                #expect(before > max(0, cost) || cache.totalCost == before)
            default:
                cache.removeAll()
                reference.stored = [:]
            }
            reference.compare(cache, keys)
            #expect(cache.totalCost <= costLimit)
            #expect(cache.count <= countLimit)
        }
    }
}
