import AlcedoCore
import AlcedoRuntime
import AlcedoTesting
import TestSupport
import Testing

@testable import AlcedoMemoryCache

/// Random calls of every kind under every policy, compared with a reference that receives the evictions.
///
/// The policy decides which entry is evicted. Everything else follows from the contract: which values are found and
/// until when, in which group, which are found only while they are referenced, every sum, and that each stored value
/// leaves exactly once.
@Suite(.timeLimit(.minutes(10)))
struct PolicyModelTests {
    private struct Key: GroupedKey {
        let number: Int
        var group: Int { number % 7 }
    }

    private typealias Cache = MemoryCache<Key, ReferencedNumber>
    private typealias Eviction = (key: Key, value: ReferencedNumber, reason: EvictionReason)

    private struct Stored {
        var value: Int
        var cost: Int
        var deadline: Duration?
        var life: Duration?

        func isOver(at now: Duration) -> Bool { deadline.map { $0 <= now } ?? false }

        mutating func use(at now: Duration, extends: Bool) {
            if extends, let life { deadline = now + life }
        }
    }

    /// The expected entries, the values expected to be found by reference only, and the expected counts.
    private struct Reference {
        let limits: MemoryCacheLimits
        let isWeak: Bool
        var stored: [Int: Stored] = [:]
        /// Values that were evicted or refused, which are found while they are referenced.
        var lost: [Int: Stored] = [:]
        var storeCount = 0
        var rejectionCount = 0
        var evictionCount = 0

        mutating func record(_ evictions: [Eviction], at now: Duration) {
            for eviction in evictions {
                evictionCount += 1
                let entry = stored.removeValue(forKey: eviction.key.number)
                #expect(entry?.value == eviction.value.value)
                switch eviction.reason {
                case .costLimit, .countLimit, .trimmed: if isWeak { lost[eviction.key.number] = entry }
                case .expired: #expect(entry?.isOver(at: now) == true)
                case .noSpace, .removed, .replaced: break
                }
            }
        }
    }

    @Test(arguments: PolicyChoice.allCases, [1, 2, 3, 4] as [UInt64])
    func `thousands of random calls follow the contract of the policy`(policy: PolicyChoice, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let clock = ManualClock()
        let evicted = Watched<[Eviction]>([])
        let limits = MemoryCacheLimits(
            costLimit: 60, countLimit: seed == 2 ? 12 : .max, maximumEntryCost: 20,
            timeToLive: seed == 3 ? .seconds(20) : nil, extendsExpiryOnUse: seed == 4)
        var reference = Reference(limits: limits, isWeak: seed != 1)
        let cache: Cache = policy.cache(limits, findsReferencedValues: reference.isWeak, clock: clock) {
            key, value, reason in
            evicted.update { $0.append((key, value, reason)) }
        }
        // Every second value is referenced. The others are found only while they are in the cache.
        var held: [ReferencedNumber] = []

        for step in 0..<3000 {
            let key = Key(number: Int.random(in: 0..<40, using: &random))
            let now = clock.uptime
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<40:
                let value = ReferencedNumber(step)
                if step % 2 == 0 { held.append(value) }
                let cost = Int.random(in: 0...22, using: &random)
                let own: Duration? = [nil, nil, .seconds(5), .seconds(30), .zero].randomElement(using: &random) ?? nil
                let life = own ?? limits.timeToLive
                let isStored = cache.store(value, for: key, cost: cost, timeToLive: own)
                let entry = Stored(value: step, cost: cost, deadline: life.map { now + $0 }, life: life)
                // The entries evicted for it and the previous entry of its key left before it was stored.
                reference.lost[key.number] = nil
                reference.record(evicted.value, at: now)
                #expect(reference.stored[key.number] == nil)
                if isStored {
                    #expect(cost <= 20)
                    #expect(life != .zero)
                    reference.stored[key.number] = entry
                    reference.storeCount += 1
                } else {
                    reference.rejectionCount += 1
                    if reference.isWeak, life != .zero { reference.lost[key.number] = entry }
                }
            case 40..<75:
                let found = cache.value(for: key)?.value
                reference.record(evicted.value, at: now)
                #expect(found == expectedValue(for: key.number, in: &reference, held: held, at: now))
            case 75..<80:
                let entry = reference.stored[key.number]
                #expect(cache.contains(key) == (entry.map { !$0.isOver(at: now) } ?? false))
                let removed = cache.removeValue(for: key)
                #expect(removed?.value == (entry?.isOver(at: now) == true ? nil : entry?.value))
                reference.lost[key.number] = nil
                reference.record(evicted.value, at: now)
            case 80..<84:
                let members = reference.stored.keys.filter { $0 % 7 == key.group }.count
                #expect(cache.removeGroup(key.group) == members)
                reference.record(evicted.value, at: now)
                reference.lost = reference.lost.filter { $0.key % 7 != key.group }
            case 84..<88:
                let (cost, count) = (
                    Int.random(in: 0...70, using: &random), Int.random(in: 0...20, using: &random)
                )
                cache.trim(toCost: cost, count: count)
                #expect(cache.totalCost <= cost)
                #expect(cache.count <= count)
                reference.record(evicted.value, at: now)
            case 88..<92:
                cache.respond(to: [.normal, .warning, .warning, .critical].randomElement(using: &random) ?? .normal)
                reference.record(evicted.value, at: now)
            case 92..<94:
                cache.trim()
                reference.record(evicted.value, at: now)
                #expect(reference.stored.values.allSatisfy { !$0.isOver(at: now) })
            case 94..<99: clock.advance(by: .seconds(Int.random(in: 0...4, using: &random)))
            default:
                cache.removeAll()
                reference.record(evicted.value, at: now)
                reference.lost = [:]
                #expect(cache.count == 0)
            }
            evicted.update { $0 = [] }
            checkSums(of: cache, against: reference, at: clock.uptime)
        }
        #expect(held.count > 100)
    }

    private func expectedValue(
        for key: Int, in reference: inout Reference, held: [ReferencedNumber], at now: Duration
    ) -> Int? {
        let extends = reference.limits.extendsExpiryOnUse
        if let entry = reference.stored[key] {
            #expect(!entry.isOver(at: now), "an expired entry was not removed")
            reference.stored[key]?.use(at: now, extends: extends)
            return entry.value
        }
        guard let entry = reference.lost[key], entry.value % 2 == 0 else { return nil }
        guard !entry.isOver(at: now) else {
            reference.lost[key] = nil
            return nil
        }
        reference.lost[key]?.use(at: now, extends: extends)
        return entry.value
    }

    private func checkSums(of cache: Cache, against reference: Reference, at now: Duration) {
        #expect(cache.count == reference.stored.count)
        #expect(cache.totalCost == reference.stored.values.reduce(0) { $0 + $1.cost })
        #expect(cache.totalCost <= reference.limits.costLimit)
        #expect(cache.count <= reference.limits.countLimit)

        let entries = cache.entries
        let living = reference.stored.filter { !$0.value.isOver(at: now) }
        #expect(entries.count == living.count)
        #expect(entries.allSatisfy { living[$0.key.number]?.value == $0.value.value })

        let statistics = cache.statistics
        #expect(statistics.stores == reference.storeCount)
        #expect(statistics.failures == reference.rejectionCount)
        #expect(statistics.evictions.values.reduce(0, +) == reference.evictionCount)
        #expect(statistics.storedCost - statistics.evictedCosts.values.reduce(0, +) == cache.totalCost)

        let (indexed, mortal, inRow) = cache.lock.withLock { state, _ in
            (state.table.index.count, state.table.expiringCount, state.table.slots.count)
        }
        #expect(indexed == cache.count)
        #expect(inRow == cache.count)
        #expect(mortal == reference.stored.values.count { $0.deadline != nil })
    }
}
