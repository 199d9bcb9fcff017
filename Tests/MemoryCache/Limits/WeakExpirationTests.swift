import AlcedoCore
import AlcedoMemoryCache
import AlcedoTesting
import TestSupport
import Testing

/// Expiration of values that were evicted and are still referenced.
@Suite(.timeLimit(.minutes(10)))
struct WeakExpirationTests {
    private let clock = ManualClock()
    private let held = DecodedImage.gray(side: 1, level: 9)

    private func cache(
        _ policy: PolicyChoice, life: Duration? = nil, extends: Bool = false
    ) -> MemoryCache<Int, DecodedImage> {
        policy.cache(
            MemoryCacheLimits(costLimit: 10, timeToLive: life, extendsExpiryOnUse: extends),
            findsReferencedValues: true,
            clock: clock)
    }

    @Test(arguments: [PolicyChoice.lru, .adaptive])
    func `an evicted value is not found after its expiry, though it is referenced`(policy: PolicyChoice) {
        let cache = cache(policy)
        cache.store(held, for: 1, cost: 10, timeToLive: .seconds(1))
        cache.trim(count: 0)
        clock.advance(by: .seconds(1) - .nanoseconds(1))
        #expect(cache.value(for: 1) != nil)

        clock.advance(by: .nanoseconds(1))

        #expect(cache.value(for: 1) == nil)
        #expect(cache.statistics.weakHits == 1)
        #expect(cache.statistics.misses == 2)
        withExtendedLifetime(held) {}
    }

    @Test(arguments: [PolicyChoice.lru, .adaptive])
    func `an expired value that was evicted by another is not found hours later`(policy: PolicyChoice) {
        let cache = cache(policy)
        cache.store(held, for: 1, cost: 10, timeToLive: .seconds(1))
        cache.store(.gray(side: 1), for: 2, cost: 10)
        clock.advance(by: .seconds(3600))
        #expect(cache.value(for: 1) == nil)
        withExtendedLifetime(held) {}
    }

    @Test(arguments: [PolicyChoice.lru, .adaptive])
    func `a value too costly to store expires as well`(policy: PolicyChoice) {
        let cache = cache(policy)
        cache.store(held, for: 1, cost: 11, timeToLive: .seconds(1))
        #expect(cache.value(for: 1) != nil)
        clock.advance(by: .seconds(1))
        #expect(cache.value(for: 1) == nil)
        withExtendedLifetime(held) {}
    }

    @Test(arguments: [PolicyChoice.lru, .adaptive])
    func `a read restarts the time to live of a referenced value where this is enabled`(policy: PolicyChoice) {
        let cache = cache(policy, life: .seconds(10), extends: true)
        cache.store(held, for: 1, cost: 11)
        for _ in 0..<3 {
            clock.advance(by: .seconds(9))
            #expect(cache.value(for: 1) != nil)
        }
        clock.advance(by: .seconds(10))
        #expect(cache.value(for: 1) == nil)
        withExtendedLifetime(held) {}
    }

    @Test func `a value without a time to live is found beside one that has one`() {
        let cache = cache(.adaptive)
        let other = DecodedImage.gray(side: 1)
        cache.store(held, for: 1, cost: 11, timeToLive: .seconds(1))
        cache.store(other, for: 2, cost: 11)
        clock.advance(by: .seconds(3600))
        cache.trim()
        #expect(cache.value(for: 1) == nil)
        #expect(cache.value(for: 2) != nil)
        withExtendedLifetime((held, other)) {}
    }

    @Test func `a refused value replaces the referenced value under its key`() {
        let cache = cache(.lru)
        let newer = DecodedImage.gray(side: 1, level: 10)
        cache.store(held, for: 1, cost: 11)
        cache.store(newer, for: 1, cost: 12)
        #expect(cache.value(for: 1)?.pixels == newer.pixels)
        cache.store(held, for: 1, cost: 11, timeToLive: .zero)
        #expect(cache.value(for: 1) == nil)
        withExtendedLifetime((held, newer)) {}
    }
}
