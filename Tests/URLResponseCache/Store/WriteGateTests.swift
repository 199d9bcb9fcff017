import AlcedoCore
import AlcedoTesting
import TestSupport
import Testing

@testable import AlcedoURLResponseCache

@Suite(.timeLimit(.minutes(10)))
struct WriteGateTests {
    private let gate = WriteGate()

    @Test func `one task at a time is in the gate of a resource, and all come through in order`() {
        let (clock, executor) = (ManualClock(), ManualExecutor())
        let through = Guarded<[Int]>([])
        for number in 0..<50 {
            Task(executorPreference: executor) {
                await gate.alone(with: ResourceKey("a")) {
                    try? await clock.sleep(for: .seconds(1))
                    through.change { $0.append(number) }
                }
            }
        }

        for count in 0..<50 {
            executor.drain()
            #expect(clock.sleeperCount == 1 && through.value.count == count)
            clock.advance(by: .seconds(1))
        }
        executor.drain()

        #expect(clock.sleeperCount == 0 && through.value == Array(0..<50))
    }

    @Test func `another resource has a gate of its own`() async {
        var isThrough = false

        await gate.alone(with: ResourceKey("a")) {
            await gate.alone(with: ResourceKey("b")) { isThrough = true }
        }

        #expect(isThrough)
    }
}
