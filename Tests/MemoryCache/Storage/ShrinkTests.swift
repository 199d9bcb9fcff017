import AlcedoCore
import AlcedoRuntime
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@testable import AlcedoMemoryCache

/// Memory and time of a cache after it shrinks.
@Suite(.timeLimit(.minutes(10)))
struct ShrinkTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a set of slots keeps the used slots contiguous`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var slots = SlotSet()
        var used: Set<Int> = []
        for _ in 0..<3000 {
            if Bool.random(using: &random) || used.isEmpty {
                let slot = slots.take()
                #expect(used.insert(slot).inserted)
                #expect(slot < slots.capacity)
            } else if let slot = used.randomElement(using: &random) {
                used.remove(slot)
                slots.free(slot)
            }
            #expect(Set((0..<slots.count).map { slots[$0] }) == used)
            #expect(!slots.contains(-1))
            #expect(!slots.contains(slots.capacity))
        }
        #expect((0..<slots.capacity).allSatisfy { slots.contains($0) == used.contains($0) })
    }

    /// Returns the minimum duration of several runs, so that a busy machine does not matter.
    private func least(_ body: () -> Void) -> Duration {
        (0..<20).map { _ in ContinuousClock().measure(body) }.min() ?? .zero
    }

    @Test func `listing few entries takes no longer after the cache held many`() {
        let clock = ManualClock()
        let (small, large) = (
            MemoryCache<Int, Int>(limits: MemoryCacheLimits(costLimit: .max), policy: .fifo, clock: clock),
            MemoryCache<Int, Int>(limits: MemoryCacheLimits(costLimit: .max), policy: .fifo, clock: clock)
        )
        for key in 0..<60_000 { large.store(key, for: key, cost: 1) }
        large.trim(count: 10)
        for key in 0..<10 { small.store(key, for: key, cost: 1) }
        for cache in [small, large] { cache.store(1, for: -1, cost: 1, timeToLive: .seconds(1)) }

        // Visiting sixty thousand slots would take a thousand times as long as ten.
        let bound = least { _ = small.entries } * 40 + .microseconds(50)
        let (looking, sweeping) = (least { _ = large.entries }, least { large.trim() })
        #expect(looking < bound)
        #expect(sweeping < bound)
        #expect(large.entries.count == 11)
    }

    @Test(arguments: ["removeAll", "trim to a count", "trim to a cost", "critical"], PolicyChoice.allCases)
    func `removing all entries releases the slots`(way: String, policy: PolicyChoice) {
        let cache: MemoryCache<Int, Int> = policy.cache(MemoryCacheLimits(costLimit: .max))
        for key in 0..<5000 { cache.store(key, for: key, cost: 1) }
        switch way {
        case "removeAll": cache.removeAll()
        case "trim to a count": cache.trim(count: 0)
        case "trim to a cost": cache.trim(toCost: 0)
        default: cache.respond(to: .critical)
        }
        #expect(cache.count == 0)
        #expect(cache.totalCost == 0)
        let (slots, cells) = cache.lock.withLock { state, _ in
            (state.table.slots.capacity, state.table.index.cells.count)
        }
        #expect(slots == 0)
        #expect(cells < 100)

        for key in 0..<100 { cache.store(key, for: key, cost: 1) }
        #expect((0..<100).allSatisfy { cache.value(for: $0) == $0 })
        let reason: EvictionReason = way == "removeAll" ? .removed : .trimmed
        #expect(cache.statistics.evictions[reason] == 5000)
    }

    @Test(arguments: [PolicyChoice.lru, .adaptive])
    func `critical pressure reports every entry once and keeps referenced values reachable`(
        policy: PolicyChoice
    ) {
        let evicted = Watched<[Int: EvictionReason]>([:])
        let cache: MemoryCache<Int, ReferencedNumber> = policy.cache(
            MemoryCacheLimits(costLimit: .max), findsReferencedValues: true
        ) {
            key, value, reason in
            evicted.update { $0[key] = reason }
        }
        let held = (0..<500).map { ReferencedNumber($0) }
        for number in held { cache.store(number, for: number.value, cost: 2) }
        cache.respond(to: .critical)
        #expect(evicted.value.count == 500)
        #expect(evicted.value.values.allSatisfy { $0 == .trimmed })
        #expect(cache.statistics.evictions == [.trimmed: 500])
        #expect(cache.statistics.evictedCosts[.trimmed] == 1000)
        #expect(held.allSatisfy { cache.value(for: $0.value) === $0 })
        #expect(cache.count == 0)
    }

    @Test(arguments: [PolicyChoice.lru, .adaptive])
    func `after critical pressure only referenced values are remembered`(policy: PolicyChoice) {
        let cache: MemoryCache<Int, ReferencedNumber> = policy.cache(
            MemoryCacheLimits(costLimit: .max), findsReferencedValues: true)
        let held = (0..<10).map { ReferencedNumber($0) }
        for number in held { cache.store(number, for: number.value, cost: 1) }
        for key in 10..<1000 { cache.store(ReferencedNumber(key), for: key, cost: 1) }

        cache.respond(to: .critical)

        #expect(cache.lock.withLock { state, _ in state.weak?.entries.count } == 10)
        #expect(held.allSatisfy { cache.value(for: $0.value) === $0 })
    }

    /// The memory is taken from the `malloc` arena of a thread, which keeps memory at its end. glibc maps large blocks
    /// instead until a larger mapped block was freed, as happens in every app that has released an image.
    @Test(.spawnsProcesses, .enabled(if: !keepsFreedMemory))
    func `after critical pressure the cache uses hardly more memory than a new one`() async {
        await #expect(processExitsWith: .success) {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    UnsafeMutableRawPointer.allocate(byteCount: 30 << 20, alignment: 1).deallocate()
                    for policy in [PolicyChoice.adaptive, .lru] {
                        let cache: MemoryCache<Int, Int> = policy.cache(MemoryCacheLimits(costLimit: .max))
                        for key in 0..<1000 { cache.store(key, for: key, cost: 1) }
                        let before = ResidentMemory.byteCount
                        for key in 0..<400_000 { cache.store(key, for: key, cost: 1) }
                        let full = ResidentMemory.byteCount - before
                        #expect(full > 30 << 20)

                        cache.respond(to: .critical)

                        let left = ResidentMemory.byteCount - before
                        #expect(left < full / 5, "\(policy): \(left >> 20) of \(full >> 20) MiB are left")
                        #expect(cache.count == 0)
                    }
                    continuation.resume()
                }
            }
        }
    }
}
