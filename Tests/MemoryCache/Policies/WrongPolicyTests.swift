import AlcedoMemoryCache
import TestSupport
import Testing

/// What policies of somebody else's can do wrong, and cannot do to a cache.
@Suite(.timeLimit(.minutes(10)))
struct WrongPolicyTests {
    enum Fault: CaseIterable, Sendable {
        case sameSlotAgain, slotOfAnother, silence, keepsTooMuch, keepsLessThanNothing
    }

    private struct WrongPolicy: EvictionPolicy {
        static var readsMarks: Bool { true }

        let fault: Fault
        let foreign: EntrySlot?
        private var slots: [EntrySlot] = []
        private var last: EntrySlot?

        init(_ fault: Fault, foreign: EntrySlot?) { (self.fault, self.foreign) = (fault, foreign) }

        mutating func insert(_ entry: EntrySlot, hash: UInt64, cost: Int, hasRoom: Bool, marks: AccessMarks) {
            slots.append(entry)
        }

        mutating func remove(_ entry: EntrySlot) { slots.removeAll { $0 == entry } }

        mutating func evict(marks: AccessMarks) -> EntrySlot? {
            switch fault {
            case .sameSlotAgain:
                if let last, !slots.isEmpty { return last }
                last = slots.popLast()
                return last
            case .slotOfAnother:
                if let foreign { #expect(marks.takeCount(foreign) == 0 && marks.lastUse(foreign) == 0) }
                return foreign
            case .silence: return nil
            case .keepsTooMuch, .keepsLessThanNothing: return slots.isEmpty ? nil : slots.removeFirst()
            }
        }

        mutating func removeAll() { slots = [] }

        func costToKeep(limit: Int) -> Int {
            switch fault {
            case .keepsTooMuch: .max
            case .keepsLessThanNothing: .min
            default: limit
            }
        }
    }

    /// Notes the slots it is given.
    private struct Collector: EvictionPolicy {
        let slots: Guarded<[EntrySlot]>

        mutating func insert(_ entry: EntrySlot, hash: UInt64, cost: Int, hasRoom: Bool, marks: AccessMarks) {
            slots.change { $0.append(entry) }
        }

        mutating func remove(_ entry: EntrySlot) {}
        mutating func evict(marks: AccessMarks) -> EntrySlot? { nil }
        mutating func removeAll() {}
    }

    /// The slot of an entry of a cache that is far larger.
    private func foreignSlot() -> EntrySlot? {
        let slots = Guarded<[EntrySlot]>([])
        let cache = MemoryCache<Int, Int>(costLimit: .max, policy: .custom(Collector(slots: slots)))
        for key in 0..<2000 { cache.store(key, for: key, cost: 1) }
        return slots.value.last
    }

    @Test(arguments: Fault.allCases)
    func `limits hold and sums are right whatever a policy says`(fault: Fault) {
        let gone = Guarded(0)
        let cache = MemoryCache<Int, Int>(
            limits: MemoryCacheLimits(costLimit: 50, countLimit: 12),
            policy: .custom(WrongPolicy(fault, foreign: foreignSlot()))
        ) { _ in gone.change { $0 += 1 } }
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
            #expect(entries.count == cache.count && cache.count <= 12)
            #expect(entries.reduce(0) { $0 + $1.cost } == cache.totalCost)
            #expect(cache.totalCost <= 50)
        }
        #expect(cache.statistics.stores - gone.value == cache.count)
        cache.trim(count: 1)
        #expect(cache.count <= 1)
    }
}
