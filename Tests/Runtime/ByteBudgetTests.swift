import AlcedoCore
import AlcedoRuntime
import AlcedoTesting
import Dispatch
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ByteBudgetTests {
    /// A reservation that is held until `end` is called, even when its task is canceled.
    ///
    /// After its creation it either has its bytes and has begun, or waits for them.
    private struct Holder {
        let task: Task<Void, any Error>
        let begun = Watched(false)
        private let ended = Watched(false)

        init(_ budget: ByteBudget, _ byteCount: Int, _ priority: LoadPriority = .normal) {
            task = Task.immediate { [begun, ended] in
                try await budget.withReservation(of: byteCount, priority: PriorityHandle(priority)) {
                    begun.update { $0 = true }
                    await Task { try? await ended.waitUntil { $0 } }.value
                }
            }
        }

        func end() async throws {
            ended.update { $0 = true }
            try await task.value
        }

        func waitUntilBegun() async throws { try await begun.waitUntil { $0 } }
    }

    @Test func `a reservation returns the value or error of its work and releases its bytes`() async throws {
        struct Failure: Error {}
        let budget = ByteBudget(limit: 10)
        #expect(try await budget.withReservation(of: 7) { budget.reservedByteCount } == 7)
        await #expect(throws: Failure.self) { try await budget.withReservation(of: 7) { throw Failure() } }
        #expect(budget.withReservationNow(of: 10) { budget.reservedByteCount } == 10)
        #expect(throws: Failure.self) { try budget.withReservationNow(of: 7) { throw Failure() } }
        #expect(budget.reservedByteCount == 0)
    }

    @Test func `a reservation that does not fit waits, and an immediate one is refused`() async throws {
        let budget = ByteBudget(limit: 10)
        let first = Holder(budget, 6)
        try await first.waitUntilBegun()
        let second = Holder(budget, 5)
        #expect(!second.begun.value)
        #expect(budget.reservedByteCount == 6)
        #expect(budget.withReservationNow(of: 5) { true } == nil)

        try await first.end()
        try await second.waitUntilBegun()

        #expect(budget.reservedByteCount == 5)
        #expect(budget.withReservationNow(of: 5) { true } == true)
        try await second.end()
    }

    @Test func `a waiter overtakes lower priorities only`() async throws {
        let budget = ByteBudget(limit: 10)
        let first = Holder(budget, 6)
        try await first.waitUntilBegun()
        let large = Holder(budget, 9)
        let small = Holder(budget, 1)
        #expect(budget.withReservationNow(of: 1) { true } == nil)
        #expect(budget.withReservationNow(of: 1, priority: .low) { true } == nil)
        #expect(budget.withReservationNow(of: 1, priority: .high) { true } == true)
        #expect(!large.begun.value)
        #expect(!small.begun.value)
        #expect(budget.reservedByteCount == 6)

        try await first.end()
        try await large.waitUntilBegun()
        try await small.waitUntilBegun()
        #expect(budget.reservedByteCount == 10)

        try await large.end()
        try await small.end()
    }

    @Test func `a reservation over the whole budget waits for all others and runs alone`() async throws {
        let budget = ByteBudget(limit: 10)
        let first = Holder(budget, 1)
        try await first.waitUntilBegun()
        let huge = Holder(budget, .max)
        let next = Holder(budget, 1)
        #expect(!huge.begun.value)
        #expect(!next.begun.value)
        #expect(budget.reservedByteCount == 1)

        try await first.end()
        try await huge.waitUntilBegun()
        // Bytes are granted before their holders begin.
        #expect(!next.begun.value)
        #expect(budget.reservedByteCount == .max)
        #expect(budget.withReservationNow(of: 0, priority: .veryHigh) { true } == nil)

        try await huge.end()
        try await next.end()
        #expect(budget.reservedByteCount == 0)
    }

    @Test(arguments: [0, -3, Int.min]) func `with a budget of zero reservations run one at a time`(limit: Int)
        async throws
    {
        let budget = ByteBudget(limit: limit)
        let first = Holder(budget, 4)
        try await first.waitUntilBegun()
        let second = Holder(budget, 4)
        #expect(!second.begun.value)
        #expect(budget.reservedByteCount == 4)
        try await first.end()
        try await second.end()
        #expect(try await budget.withReservation(of: -5) { budget.reservedByteCount } == 0)
    }

    @Test func `canceling a waiter frees nothing and admits those behind it`() async throws {
        let budget = ByteBudget(limit: 10)
        let first = Holder(budget, 6)
        try await first.waitUntilBegun()
        let large = Holder(budget, 9)
        let small = Holder(budget, 4)

        large.task.cancel()
        await #expect(throws: CancellationError.self) { try await large.task.value }
        try await small.waitUntilBegun()

        #expect(!large.begun.value)
        #expect(budget.reservedByteCount == 10)
        try await first.end()
        try await small.end()
        #expect(budget.reservedByteCount == 0)
    }

    @Test func `a canceled task reserves nothing`() async throws {
        let budget = ByteBudget(limit: 10)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await budget.withReservation(of: 1) {}
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(budget.reservedByteCount == 0)
    }

    @Test func `canceling a holder keeps its bytes reserved until it ends`() async throws {
        let budget = ByteBudget(limit: 10)
        let holder = Holder(budget, 6)
        try await holder.waitUntilBegun()
        // Runs the cancellation handlers before it returns.
        holder.task.cancel()
        #expect(budget.reservedByteCount == 6)
        try await holder.end()
        #expect(budget.reservedByteCount == 0)
    }

    @Test func `concurrent reservations stay within the budget, and all bytes are released`() async throws {
        let budget = ByteBudget(limit: 100)
        let use = Watched((now: 0, most: 0, runs: 0))
        var generator = SeededGenerator(seed: 11)
        let tasks = (0..<1000).map { number in
            let byteCount = Int.random(in: 0...60, using: &generator)
            let priority = LoadPriority.allCases.randomElement(using: &generator) ?? .normal
            let task = Task {
                try await budget.withReservation(of: byteCount, priority: PriorityHandle(priority)) {
                    use.update {
                        $0.now += byteCount
                        $0.most = max($0.most, $0.now)
                    }
                    defer { use.update { $0.now -= byteCount } }
                    // The first holders keep their bytes until the next request, of at most 60 bytes, may not fit.
                    try await use.waitUntil { $0.most > 40 }
                    use.update { $0.runs += 1 }
                }
            }
            if number.isMultiple(of: 3) { task.cancel() }
            return task
        }

        var finished = 0
        for (number, task) in tasks.enumerated() {
            do {
                try await task.value
                finished += 1
            } catch is CancellationError {
                #expect(number.isMultiple(of: 3))
            }
        }

        #expect(use.value.most <= 100)
        #expect(use.value.most > 40)
        #expect(use.value.runs == finished)
        #expect(finished >= 666)
        #expect(budget.reservedByteCount == 0)
    }
}
