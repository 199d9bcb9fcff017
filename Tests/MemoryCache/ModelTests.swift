import TestSupport
import AlcedoMemoryCache
import Testing

@Suite struct ModelTests {
    /// A reference implementation of the contract: a list, the least recently used first.
    private struct Reference {
        let costLimit: Int
        let countLimit: Int
        var entries: [(key: Int, value: Int, cost: Int)] = []

        var totalCost: Int { entries.reduce(0) { $0 + $1.cost } }

        mutating func value(for key: Int) -> Int? {
            guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
            entries.append(entries.remove(at: index))
            return entries.last?.value
        }

        mutating func store(_ value: Int, for key: Int, cost: Int) -> Bool {
            _ = remove(key)
            let cost = max(0, cost)
            guard cost <= costLimit, costLimit > 0, countLimit > 0 else { return false }
            entries.append((key, value, cost))
            trim(toCost: costLimit, count: countLimit)
            return true
        }

        mutating func remove(_ key: Int) -> Int? {
            guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
            return entries.remove(at: index).value
        }

        mutating func trim(toCost cost: Int, count: Int) {
            while !entries.isEmpty, totalCost > cost || entries.count > count { entries.removeFirst() }
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func `thousands of random calls match a reference model`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let costLimit = Int.random(in: 0...60, using: &random)
        let countLimit = seed % 2 == 0 ? Int.max : Int.random(in: 1...12, using: &random)
        let cache = MemoryCache<Int, Int>(costLimit: costLimit, countLimit: countLimit, policy: .lru)
        var reference = Reference(costLimit: costLimit, countLimit: countLimit)

        for step in 0..<4000 {
            let key = Int.random(in: 0..<20, using: &random)
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<45:
                let cost = Int.random(in: -2...15, using: &random)
                #expect(cache.store(step, for: key, cost: cost) == reference.store(step, for: key, cost: cost))
            case 45..<85:
                #expect(cache.value(for: key) == reference.value(for: key))
            case 85..<95:
                #expect(cache.removeValue(for: key) == reference.remove(key))
            case 95..<99:
                let cost = Int.random(in: -1...40, using: &random)
                let count = Int.random(in: -1...10, using: &random)
                cache.trim(toCost: cost, count: count)
                reference.trim(toCost: max(0, cost), count: max(0, count))
            default:
                cache.removeAll()
                reference.entries = []
            }
            #expect(cache.totalCost == reference.totalCost)
            #expect(cache.count == reference.entries.count)
        }
        // Evicting entries one by one verifies the order of use.
        while let oldest = reference.entries.first {
            cache.trim(count: reference.entries.count - 1)
            #expect(cache.removeValue(for: oldest.key) == nil, "another went before \(oldest.key)")
            reference.entries.removeFirst()
            #expect(cache.count == reference.entries.count)
        }
    }
}
