import AlcedoCore
import AlcedoMemoryCache
import AlcedoTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct PurgePriorityTests {
    private let source = ManualMemoryPressureSource()
    private let evicted = Watched<[Int]>([])

    private func cache(
        _ policy: PolicyChoice = .adaptive, findsReferencedValues: Bool = false
    ) -> MemoryCache<Int, ReferencedNumber> {
        policy.cache(MemoryCacheLimits(costLimit: 100), findsReferencedValues: findsReferencedValues) {
            [evicted] key, value, reason in
            #expect(reason == .trimmed)
            evicted.update { $0.append(key) }
        }
    }

    @Test(arguments: PolicyChoice.allCases)
    func `a warning evicts entries of low priority first and those of high priority last`(policy: PolicyChoice) {
        let cache = cache(policy)
        for (key, priority) in [PurgePriority.high, .normal, .low, .low, .normal, .high, .normal, .low].enumerated() {
            cache.store(ReferencedNumber(key), for: key, cost: 10, priority: priority)
        }
        cache.respond(to: .warning)
        #expect(evicted.value == [2, 3, 7, 1])
        cache.respond(to: .warning)
        #expect(evicted.value.dropFirst(4) == [4, 6])
        cache.respond(to: .warning)
        #expect(evicted.value.dropFirst(6) == [0])
        cache.respond(to: .critical)
        #expect(cache.count == 0)
    }

    @Test(arguments: PolicyChoice.allCases)
    func `among entries of one priority the least recently used is evicted first`(policy: PolicyChoice) {
        let cache = cache(policy)
        for key in 0..<6 { cache.store(ReferencedNumber(key), for: key, cost: 10, priority: .low) }
        for key in [1, 0, 3] { _ = cache.value(for: key) }
        cache.respond(to: .warning)
        #expect(evicted.value == [2, 4, 5])
        cache.respond(to: .warning)
        #expect(evicted.value.dropFirst(3) == [1, 0])
    }

    @Test func `storing again gives an entry the priority of the last store`() {
        let cache = MemoryCache<Int, Int>(costLimit: 100, policy: .lru)
        for key in 0..<4 { cache.store(key, for: key, cost: 10, priority: key < 2 ? .low : .high) }
        // With equal and with different costs.
        cache.store(0, for: 0, cost: 10, priority: .high)
        cache.store(1, for: 1, cost: 9, priority: .high)
        cache.store(2, for: 2, cost: 10)
        cache.store(3, for: 3, cost: 10, priority: .low)
        cache.respond(to: .warning)
        #expect(cache.contains(0))
        #expect(cache.contains(1))
        #expect(!cache.contains(2))
        #expect(!cache.contains(3))
    }

    @Test func `a reused slot does not inherit the priority of a removed entry`() {
        let cache = MemoryCache<Int, Int>(costLimit: 20, policy: .lru)
        cache.store(1, for: 1, cost: 10, priority: .high)
        cache.removeValue(for: 1)
        cache.store(2, for: 2, cost: 10)
        cache.store(3, for: 3, cost: 10, priority: .high)
        cache.respond(to: .warning)
        #expect(!cache.contains(2))
        #expect(cache.contains(3))
    }

    @Test func `priorities change nothing without memory pressure`() {
        let cache = MemoryCache<Int, Int>(costLimit: 20, policy: .lru)
        cache.store(1, for: 1, cost: 10, priority: .high)
        cache.store(2, for: 2, cost: 10, priority: .low)
        cache.store(3, for: 3, cost: 10)
        #expect(!cache.contains(1))
        #expect(cache.contains(2))
    }

    /// Between `beginContentAccess()` and `endContentAccess()`.
    @Test func `a discarded value is found only while it is in use`() {
        let cache = cache(findsReferencedValues: true)
        var held: ReferencedNumber? = ReferencedNumber(7)
        if let held { cache.store(held, for: 1, cost: 10, priority: .low) }
        cache.respond(to: .critical)
        #expect(!cache.contains(1))
        #expect(cache.value(for: 1) === held)
        held = nil
        evicted.update { $0 = [] }
        #expect(cache.value(for: 1) == nil)
    }

    @Test func `a memory pressure source triggers the purge`() {
        let cache = MemoryCache<Int, Int>(
            limits: MemoryCacheLimits(costLimit: 100), findsReferencedValues: false, pressureSource: source)
        cache.store(1, for: 1, cost: 10, priority: .high)
        cache.store(2, for: 2, cost: 10, priority: .low)
        source.set(.warning)
        #expect(cache.contains(1))
        #expect(!cache.contains(2))
    }
}
