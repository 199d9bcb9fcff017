import AlcedoCore
import AlcedoTesting
import TestSupport
import Testing

@testable import AlcedoDownloader

@Suite(.timeLimit(.minutes(10)))
struct TransferGateTests {
    private let clock = ManualClock()
    /// The transfers that began, in order.
    private let begun = Watched<[Int]>([])

    private func gate(limit: Int = 1) -> TransferGate {
        TransferGate(DownloaderConfiguration(maxConcurrentDownloads: limit), clock: clock)
    }

    private func add(
        _ ids: ClosedRange<Int>, to queue: TransferQueue = .server("h"), of gate: TransferGate,
        _ priority: PriorityHandle = PriorityHandle()
    ) {
        for id in ids { gate.add(id, to: queue, priority) }
    }

    /// Runs a transfer that was added: it waits for its slot, then sleeps. It has begun to do so when this returns.
    @discardableResult
    private func run(_ id: Int, in gate: TransferGate, sleep: Duration = .seconds(1)) -> Task<Void, any Error> {
        Task.immediate { [begun, clock] in
            try await gate.withSlot(id) {
                begun.update { $0.append(id) }
                try await clock.sleep(for: sleep)
            }
        }
    }

    private func endOne(of tasks: [Task<Void, any Error>], _ index: Int) async throws {
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        try await tasks[index].value
    }

    @Test func `transfers take their places when they are added, and not when their tasks wait`() async throws {
        let gate = gate()
        add(1...3, of: gate)
        #expect(gate.counts == (1, 2))
        let tasks = [3, 2, 1].map { run($0, in: gate) }
        #expect(begun.value == [1])
        for index in [2, 1, 0] { try await endOne(of: tasks, index) }
        #expect(begun.value == [1, 2, 3])
        #expect(gate.counts == (0, 0))
    }

    @Test func `a priority that changes before the task waits moves the place`() async throws {
        let gate = gate()
        let priority = PriorityHandle(.low)
        add(1...2, of: gate)
        gate.add(3, to: .server("h"), priority)
        priority.value = .high
        let tasks = (1...3).map { run($0, in: gate) }
        for index in [0, 2, 1] { try await endOne(of: tasks, index) }
        #expect(begun.value == [1, 3, 2])
    }

    @Test func `four files are read at once and then by priority, also while servers are paused`() async throws {
        let gate = gate()
        gate.isPaused = true
        add(1...6, to: .files, of: gate)
        gate.add(7, to: .files, PriorityHandle(.high))
        add(8...8, of: gate)
        add(9...9, to: .unlimited, of: gate)
        let tasks = (1...9).map { run($0, in: gate, sleep: .seconds($0)) }
        #expect(begun.value == [1, 2, 3, 4, 9])
        #expect(gate.counts == (0, 1))
        try await clock.waitForSleepers(count: 5)
        clock.advance(by: .seconds(1))
        try await tasks[0].value
        try await begun.waitUntil { $0.last == 7 }
        clock.advance(by: .seconds(1))
        try await tasks[1].value
        try await begun.waitUntil { $0.last == 5 }
        gate.isPaused = false
        try await begun.waitUntil { $0.last == 8 }
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
        #expect(gate.counts == (0, 0))
    }

    @Test func `a transfer that is canceled in the queue leaves it at once, and frees no slot`() async throws {
        let gate = gate()
        add(1...3, of: gate)
        let tasks = (1...3).map { run($0, in: gate) }
        tasks[1].cancel()
        #expect(gate.counts == (1, 1))
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        #expect(begun.value == [1])
        for index in [0, 2] { try await endOne(of: tasks, index) }
        #expect(begun.value == [1, 3])
    }

    @Test func `a canceled transfer keeps its slot until its body ends`() async throws {
        let gate = gate()
        add(1...2, of: gate)
        let hasEnded = Watched(false)
        let first = Task.immediate { [hasEnded] in
            try await gate.withSlot(1) {
                // Waits without regard to the cancellation.
                await Task { try? await hasEnded.waitUntil { $0 } }.value
            }
        }
        let second = run(2, in: gate)
        first.cancel()
        #expect(gate.counts == (1, 1))
        hasEnded.update { $0 = true }
        _ = await first.result
        try await clock.waitForSleepers(count: 1)
        #expect(begun.value == [2])
        clock.advance(by: .seconds(1))
        try await second.value
    }

    @Test func `a pause before a retry that is canceled leaves at once`() async throws {
        let gate = gate()
        let priority = PriorityHandle()
        gate.add(1, to: .server("h"), priority)
        let retry = Task.immediate {
            try await gate.withSlot(1) { try await gate.backOff(1, for: .seconds(10), priority) }
        }
        #expect(gate.counts == (0, 1))
        #expect(gate.backingOffCount == 1)
        retry.cancel()
        #expect(gate.counts == (0, 0))
        await #expect(throws: CancellationError.self) { try await retry.value }
    }

    @Test func `a closed gate ends the waits of transfers that have not begun, and of no others`() async throws {
        let gate = gate(limit: 2)
        let priority = PriorityHandle()
        add(1...1, of: gate)
        let running = run(1, in: gate)
        gate.add(2, to: .server("h"), priority)
        let retrying = Task.immediate { [begun] in
            try await gate.withSlot(2) {
                try await gate.backOff(2, for: .milliseconds(1), priority)
                begun.update { $0.append(2) }
            }
        }
        gate.isPaused = true
        add(3...4, of: gate)
        let waiting = run(3, in: gate)
        gate.close()
        // Its task asks only now.
        let late = run(4, in: gate)

        for task in [waiting, late] { await #expect(throws: CancellationError.self) { try await task.value } }
        clock.advance(by: .seconds(1))
        for task in [running, retrying] { try await task.value }
        #expect(begun.value == [1, 2])
        #expect(gate.counts == (0, 0))
    }
}
