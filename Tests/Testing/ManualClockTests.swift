import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ManualClockTests {
    private let clock = ManualClock(now: Date(timeIntervalSince1970: 1_000))

    @Test func `advancing moves the date and the uptime together`() {
        clock.advance(by: .milliseconds(1_500))

        #expect(clock.now == Date(timeIntervalSince1970: 1_001.5))
        #expect(clock.uptime == .milliseconds(1_500))
    }

    @Test func `setting the date keeps the uptime`() {
        clock.setDate(Date(timeIntervalSince1970: 5))

        #expect(clock.now == Date(timeIntervalSince1970: 5))
        #expect(clock.uptime == .zero)
    }

    @Test func `the uptime never decreases`() {
        clock.advance(by: .seconds(2))

        clock.advance(by: .seconds(-1))

        #expect(clock.uptime == .seconds(2))
    }

    @Test func `a sleeper wakes at its deadline and not before`() async throws {
        let sleeper = Task { try await clock.sleep(for: .seconds(10)) }
        try await clock.waitForSleepers(count: 1)

        clock.advance(by: .seconds(9))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))

        try await sleeper.value
        #expect(clock.sleeperCount == 0)
    }

    @Test func `sleepers wake at their deadlines`() {
        let executor = ManualExecutor()
        let order = Watched<[Int]>([])
        for seconds in [3, 1, 2] {
            Task(executorPreference: executor) {
                try await clock.sleep(for: .seconds(seconds))
                order.update { $0.append(seconds) }
            }
        }
        executor.drain()
        #expect(clock.sleeperCount == 3)

        for number in 1...3 {
            clock.advance(by: .seconds(1))
            executor.drain()
            #expect(order.value == Array(1...number))
        }
    }

    @Test func `sleepers past their deadlines are resumed in the order of deadlines`() {
        let executor = ManualExecutor()
        let order = Watched<[Int]>([])
        for seconds in [3, 1, 2] {
            Task(executorPreference: executor) {
                try await clock.sleep(for: .seconds(seconds))
                order.update { $0.append(seconds) }
            }
        }
        executor.drain()

        clock.advance(by: .seconds(3))
        executor.drain()

        #expect(order.value == [1, 2, 3])
    }

    @Test func `a canceled sleeper throws and is removed`() async throws {
        let sleeper = Task { try await clock.sleep(for: .seconds(10)) }
        try await clock.waitForSleepers(count: 1)

        sleeper.cancel()

        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a sleep of a canceled task throws at once`() async {
        let sleeper = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .zero)
        }

        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test(arguments: [Duration.zero, .seconds(-1)]) func `a sleep of zero length returns`(length: Duration) async throws
    {
        try await clock.sleep(for: length)

        #expect(clock.sleeperCount == 0)
    }
}
