import AlcedoCore
import AlcedoTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RecurrenceTests {
    private let clock = ManualClock()
    private let count = Guarded(0)

    @Test func `work is done after each interval until it wants no more`() async throws {
        let recurrence = Recurrence(every: .seconds(60), clock: clock)
        for _ in 0..<3 {
            recurrence.start { [count] in
                count.change {
                    $0 += 1; return $0 < 3
                }
            }
        }

        for done in 1...3 {
            try await clock.waitForSleepers(count: 1)
            #expect(clock.sleeperCount == 1)
            #expect(count.value == done - 1)
            clock.advance(by: .seconds(60))
            while count.value < done { await Task.yield() }
        }
        #expect(clock.sleeperCount == 0)
    }

    @Test func `what is stopped or let go of sleeps no more, and does not begin again`() async throws {
        var recurrence: Recurrence? = Recurrence(every: .seconds(60), clock: clock)
        recurrence?.start { true }
        try await clock.waitForSleepers(count: 1)
        recurrence = nil
        while clock.sleeperCount > 0 { await Task.yield() }

        let stopped = Recurrence(every: .seconds(60), clock: clock)
        stopped.stop()
        stopped.start { [count] in
            count.change {
                $0 += 1; return true
            }
        }
        clock.advance(by: .seconds(60))
        #expect(clock.sleeperCount == 0)
        #expect(count.value == 0)
    }
}
