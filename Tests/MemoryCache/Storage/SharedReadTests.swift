import AlcedoCore
import AlcedoRuntime
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@testable import AlcedoMemoryCache

/// Lookups that other threads can run concurrently.
@Suite(.timeLimit(.minutes(10)))
struct SharedReadTests {
    private typealias Cache = MemoryCache<Int, Int>

    private let clock = ManualClock()

    /// Runs `body` on a thread whose lane is not the first, which a single reader would use.
    private func onAnotherLane(of cache: Cache, _ body: @escaping @Sendable () -> Void) async {
        while true {
            let isDone = await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    guard cache.lock.threadNumber.current & (cache.lock.laneCount - 1) != 0 else {
                        return continuation.resume(returning: false)
                    }
                    body()
                    continuation.resume(returning: true)
                }
            }
            if isDone { return }
        }
    }

    private func soleHits(_ cache: Cache) -> Int { cache.lock.lane(0).pointee.withLock { $0.hits } }

    @Test(arguments: [nil, .seconds(100)] as [Duration?], [false, true])
    func `a hit under the shared lock succeeds for an entry with a time to live`(life: Duration?, extends: Bool) async {
        let limits = MemoryCacheLimits(costLimit: 100, timeToLive: life, extendsExpiryOnUse: extends)
        let cache = Cache(limits: limits, clock: clock)
        cache.store(1, for: 1, cost: 1, timeToLive: .seconds(10))
        let found = Watched(0)
        await onAnotherLane(of: cache) {
            for _ in 0..<5 where cache.value(for: 1) == 1 { found.update { $0 += 1 } }
        }
        #expect(found.value == 5)
        #expect(cache.statistics.hits == 5)
        #expect(soleHits(cache) == 0)
    }

    @Test func `concurrent readers find entries only until they expire`() async {
        let cache = Cache(
            limits: MemoryCacheLimits(costLimit: 1000, timeToLive: .seconds(10), extendsExpiryOnUse: true), clock: clock
        )
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for step in 0..<2000 {
                        let key = (task + step) % 50
                        if let value = cache.value(for: key) {
                            #expect(value == key)
                        } else {
                            cache.store(key, for: key, cost: 1)
                        }
                        if step % 20 == 0 { clock.advance(by: .seconds(1)) }
                        if step % 100 == 0 { #expect(cache.entries.allSatisfy { $0.key == $0.value }) }
                    }
                }
            }
        }
        clock.advance(by: .seconds(10))
        #expect(cache.entries.isEmpty)
        #expect((0..<50).allSatisfy { cache.value(for: $0) == nil })
        #expect(cache.count == 0)
    }
}
