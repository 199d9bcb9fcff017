import AlcedoCore
import AlcedoMemoryCache
import AlcedoTesting
import TestSupport
import Testing

/// Invalid results of a custom policy, and the cache's protection against them.
@Suite(.timeLimit(.minutes(10)))
struct WrongPolicyTests {
    enum Fault: CaseIterable, Sendable {
        case sameSlotAgain, slotOfAnother, negativeSlot, silence
    }

    private struct WrongPolicy: EvictionPolicy {
        let fault: Fault
        let foreign: Int?
        private var slots: [Int] = []
        private var last: Int?

        init(_ fault: Fault, foreign: Int?) { (self.fault, self.foreign) = (fault, foreign) }

        mutating func insert(_ slot: Int, hash: UInt64, cost: Int, fits: Bool) {
            slots.append(slot)
        }

        mutating func use(_ slot: Int) {}

        mutating func remove(_ slot: Int) { slots.removeAll { $0 == slot } }

        mutating func evict() -> Int? {
            switch fault {
            case .sameSlotAgain:
                if let last, !slots.isEmpty { return last }
                last = slots.popLast()
                return last
            case .slotOfAnother: return foreign
            case .negativeSlot: return -1
            case .silence: return nil
            }
        }

        mutating func removeAll() { slots = [] }
    }

    /// Records the slots that it receives.
    private struct Collector: EvictionPolicy {
        let slots: Watched<[Int]>

        mutating func insert(_ slot: Int, hash: UInt64, cost: Int, fits: Bool) {
            slots.update { $0.append(slot) }
        }

        mutating func use(_ slot: Int) {}
        mutating func remove(_ slot: Int) {}
        mutating func evict() -> Int? { nil }
        mutating func removeAll() {}
    }

    /// Returns the slot of an entry of a much larger cache.
    private func foreignSlot() -> Int? {
        let slots = Watched<[Int]>([])
        let cache = MemoryCache<Int, Int>(costLimit: .max, policy: .custom(Collector(slots: slots)))
        for key in 0..<2000 { cache.store(key, for: key, cost: 1) }
        return slots.value.last
    }

    @Test(arguments: Fault.allCases)
    func `limits hold and costs add up whatever an invalid policy returns`(fault: Fault) {
        checkLimits(.custom(WrongPolicy(fault, foreign: foreignSlot())))
    }

    @Test(arguments: [Int.min, -1, 0, .max])
    func `limits hold and costs add up whatever the preferred cost is`(preferredCost: Int) {
        checkLimits(.purging(toPreferredCost: preferredCost))
    }

    private func checkLimits(_ policy: MemoryCachePolicy) {
        let evicted = Watched(0)
        let cache = MemoryCache<Int, Int>(
            limits: MemoryCacheLimits(costLimit: 50, countLimit: 12), policy: policy
        ) { _, _, _ in evicted.update { $0 += 1 } }
        var random = SeededGenerator(seed: 3)
        for step in 0..<2000 {
            let key = Int.random(in: 0..<40, using: &random)
            switch step % 8 {
            case 0..<5: cache.store(key, for: key, cost: Int.random(in: 0...9, using: &random))
            case 5: if let value = cache.value(for: key) { #expect(value == key) }
            case 6: cache.removeValue(for: key)
            default: if step % 40 == 7 { cache.trim(toCost: 20) }
            }
            let entries = cache.entries
            #expect(entries.count == cache.count)
            #expect(cache.count <= 12)
            #expect(entries.reduce(0) { $0 + $1.cost } == cache.totalCost)
            #expect(cache.totalCost <= 50)
        }
        #expect(cache.statistics.stores - evicted.value == cache.count)
        cache.trim(count: 1)
        #expect(cache.count <= 1)
    }
}
