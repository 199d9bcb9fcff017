import AlcedoCore
import AlcedoTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RecurrenceTests {
    private let clock = ManualClock()
    private let count = Watched(0)
    private let executor = ManualExecutor()

    @Test func `work repeats after each interval until it returns false`() {
        let recurrence = RepeatingTask(every: .seconds(60), clock: clock, taskExecutor: executor)
        for _ in 0..<3 {
            recurrence.start { [count] in
                count.update {
                    $0 += 1; return $0 < 3
                }
            }
        }

        for done in 1...3 {
            executor.drain()
            #expect(clock.sleeperCount == 1)
            #expect(count.value == done - 1)
            clock.advance(by: .seconds(60))
        }
        executor.drain()
        #expect(count.value == 3)
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a stopped or released task does not sleep or start again`() {
        var recurrence: RepeatingTask? = RepeatingTask(every: .seconds(60), clock: clock, taskExecutor: executor)
        recurrence?.start { true }
        executor.drain()
        #expect(clock.sleeperCount == 1)
        recurrence = nil
        executor.drain()
        #expect(clock.sleeperCount == 0)

        let stopped = RepeatingTask(every: .seconds(60), clock: clock, taskExecutor: executor)
        stopped.stop()
        stopped.start { [count] in
            count.update {
                $0 += 1; return true
            }
        }
        executor.drain()
        clock.advance(by: .seconds(60))
        executor.drain()
        #expect(clock.sleeperCount == 0)
        #expect(count.value == 0)
    }
}
