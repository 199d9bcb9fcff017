import AlcedoCore
import AlcedoTesting
import TestSupport
import Testing

@testable import AlcedoURLResponseCache

@Suite(.timeLimit(.minutes(10)))
struct ResourceLockTests {
    private let lock = ResourceLock()

    @Test func `one task at a time holds the lock of a resource, in order of arrival`() {
        let (clock, executor) = (ManualClock(), ManualExecutor())
        let through = Watched<[Int]>([])
        for number in 0..<50 {
            Task(executorPreference: executor) {
                await lock.withLock(on: ResourceKey("a")) {
                    try? await clock.sleep(for: .seconds(1))
                    through.update { $0.append(number) }
                }
            }
        }

        for count in 0..<50 {
            executor.drain()
            #expect(clock.sleeperCount == 1)
            #expect(through.value.count == count)
            clock.advance(by: .seconds(1))
        }
        executor.drain()

        #expect(clock.sleeperCount == 0)
        #expect(through.value == Array(0..<50))
    }

    @Test func `different resources have different locks`() async {
        var isThrough = false

        await lock.withLock(on: ResourceKey("a")) {
            await lock.withLock(on: ResourceKey("b")) { isThrough = true }
        }

        #expect(isThrough)
    }
}
