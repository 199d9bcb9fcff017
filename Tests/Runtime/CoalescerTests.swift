import AlcedoCore
import AlcedoTesting
import TestSupport
import Testing

@testable import AlcedoRuntime

@Suite(.timeLimit(.minutes(10)))
struct CoalescerTests {
    private let coalescer = Coalescer<String, Int, String>()
    private let runs = Watched(0)
    /// Work sleeps on this clock, so advancing it continues the work.
    private let clock = ManualClock()

    /// Shows which waiters have joined, because each records its updates.
    private final class Waiters: Sendable {
        let seen = Watched<[Int: [Int]]>([:])

        func listener(_ number: Int) -> @Sendable (Int) -> Void {
            { update in self.seen.update { $0[number, default: []].append(update) } }
        }
    }

    /// Work that reports the sent updates until their end, then returns "value" or throws.
    private struct Relay {
        private let updates = AsyncStream.makeStream(of: Int.self)
        let runs: Watched<Int>
        var error: (any Error)?

        var body: Coalescer<String, Int, String>.Body {
            { [runs, updates, error] report in
                runs.update { $0 += 1 }
                for await update in updates.stream { report(update) }
                try Task.checkCancellation()
                if let error { throw error }
                return "value"
            }
        }

        func send(_ update: Int) { updates.continuation.yield(update) }

        func finish() { updates.continuation.finish() }
    }

    /// Joins the work "a" before it returns, as an immediate task does.
    private func join(
        _ relay: Relay, as number: Int, _ waiters: Waiters
    ) -> Task<String, any Error> {
        Task.immediate { [coalescer] in
            try await coalescer.value(for: "a", onUpdate: waiters.listener(number), relay.body)
        }
    }

    /// Work that ends at once.
    private var brief: Coalescer<String, Int, String>.Body {
        { [runs] _ in
            runs.update { $0 += 1 }
            return "value"
        }
    }

    @Test func `equal work runs once for all waiters`() async throws {
        let (relay, waiters) = (Relay(runs: runs), Waiters())
        let tasks = (0..<50).map { join(relay, as: $0, waiters) }
        relay.send(1)
        relay.finish()

        for task in tasks { #expect(try await task.value == "value") }
        #expect(runs.value == 1)
        #expect(waiters.seen.value == Dictionary(uniqueKeysWithValues: (0..<50).map { ($0, [1]) }))
    }

    @Test func `without an executor, work begins on the thread of its first waiter`() async throws {
        let relay = Relay(runs: runs)
        let task = join(relay, as: 0, Waiters())
        #expect(runs.value == 1)

        relay.finish()
        #expect(try await task.value == "value")
    }

    @Test func `with an executor, work begins there`() async throws {
        let executor = ManualExecutor()
        let coalescer = Coalescer<String, Int, String>(taskExecutor: executor)
        let task = Task.immediate { [brief] in try await coalescer.value(for: "a", brief) }
        #expect(runs.value == 0)

        #expect(try await executor.drain { try await task.value } == "value")
        #expect(runs.value == 1)
    }

    @Test func `a waiter receives every update after it joined, in order`() async throws {
        let (relay, waiters) = (Relay(runs: runs), Waiters())
        var tasks: [Task<String, any Error>] = []
        for number in 0..<5 {
            tasks.append(join(relay, as: number, waiters))
            for update in 1...10 { relay.send(10 * number + update) }
            // The update was received and not only sent, so the next waiter joins after it.
            try await waiters.seen.waitUntil { $0[0]?.last == 10 * number + 10 }
        }
        relay.finish()
        for task in tasks { _ = try await task.value }

        for number in 0..<5 { #expect(waiters.seen.value[number] == Array((10 * number + 1)...50)) }
    }

    @Test func `different keys run separately, and finished work runs again`() async throws {
        for key in ["a", "b", "a"] {
            #expect(try await coalescer.value(for: key, brief) == "value")
        }
        #expect(runs.value == 3)
    }

    @Test func `a failure reaches all waiters, and the next request runs again`() async throws {
        struct Failure: Error {}
        let (relay, waiters) = (Relay(runs: runs, error: Failure()), Waiters())
        let tasks = (0..<10).map { join(relay, as: $0, waiters) }
        relay.send(1)
        relay.finish()

        for task in tasks { await #expect(throws: Failure.self) { try await task.value } }
        #expect(waiters.seen.value.count == 10)
        #expect(runs.value == 1)
        #expect(try await coalescer.value(for: "a", brief) == "value")
    }

    @Test func `a waiter that leaves returns at once and does not cancel the work of others`() async throws {
        let (relay, waiters) = (Relay(runs: runs), Waiters())
        let tasks = (0..<3).map { join(relay, as: $0, waiters) }
        relay.send(1)
        try await waiters.seen.waitUntil { $0.count == 3 }

        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        relay.finish()

        for task in tasks[1...] { #expect(try await task.value == "value") }
        #expect(runs.value == 1)
    }

    @Test func `the last waiter to leave cancels the work`() async throws {
        let wasCancelled = Watched(false)
        let task = Task {
            try await coalescer.value(for: "a") { [clock] _ in
                do {
                    try await clock.sleep(for: .seconds(1))
                    return "value"
                } catch {
                    wasCancelled.update { $0 = true }
                    throw error
                }
            }
        }
        try await clock.waitForSleepers(count: 1)

        task.cancel()

        await #expect(throws: CancellationError.self) { try await task.value }
        try await wasCancelled.waitUntil { $0 }
    }

    @Test func `abandoned work starts again, and its late end does not affect the new run`() async throws {
        // The first run ignores its cancellation and ends after the second has begun.
        let late = ManualClock()
        let first = Task {
            try await coalescer.value(for: "a") { [clock] _ in
                await Task { try? await late.sleep(for: .seconds(1)) }.value
                try? await clock.sleep(for: .zero)
                return "old"
            }
        }
        try await late.waitForSleepers(count: 1)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let second = Task {
            try await coalescer.value(for: "a") { [clock] _ in
                try await clock.sleep(for: .seconds(1))
                return "new"
            }
        }
        try await clock.waitForSleepers(count: 1)
        #expect(coalescer.runningCount == 2)

        late.advance(by: .seconds(1))
        try await eventually { coalescer.runningCount == 1 }
        clock.advance(by: .seconds(1))

        #expect(try await second.value == "new")
    }

    @Test func `a shutdown waits for work that is starting`() async throws {
        var state = CoalescerState<Int, Int, Int>()
        let outcome = Watched<[Int: Bool]>([:])
        let waiter = CoalescerState<Int, Int, Int>.Waiter(body: { _, _, _ in 0 }) { result in
            outcome.update { $0[1] = (try? result.get()) != nil }
        }
        let started = try #require(state.join(1, id: 1, waiter: waiter, priority: { 0 }).start?.flight)
        let (waiters, tasks) = state.shutDown(CancellationError())
        #expect(tasks.count == 1)
        for waiter in waiters { waiter.complete(.failure(CancellationError())) }
        #expect(outcome.value == [1: false])

        await withCheckedContinuation { shutdown in
            let waits = state.observeEnd(shutdown)
            #expect(waits)
            for observer in state.finish(started).ended { observer.resume() }
        }

        #expect(state.runningCount == 0)
    }

    // MARK: Callers outside of a task

    /// The outcomes of completions.
    private let outcomes = Watched<[String]>([])

    /// Joins the work "a", which returns "value" after the clock has advanced.
    @discardableResult
    private func join(
        _ name: String, priority: Int = 0, priorities: Watched<[Int]>? = nil
    ) -> CoalescerTicket {
        let ticket = CoalescerTicket()
        coalescer.join(
            "a", ticket: ticket, priority: priority, onUpdate: nil,
            onBegin: { priority in priorities?.update { $0.append(priority.value) } },
            { [clock, runs] _, priority, _ in
                runs.update { $0 += 1 }
                try await clock.sleep(for: .seconds(1))
                priorities?.update { $0.append(priority.value) }
                return "value"
            },
            completion: { [outcomes] result in
                let text = (try? result.get()) ?? "canceled"
                outcomes.update { $0.append("\(name): \(text)") }
            })
        return ticket
    }

    @Test func `completions are called once, in order of arrival`() async throws {
        for name in ["first", "second", "third"] { join(name) }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))

        try await outcomes.waitUntil { $0.count == 3 }
        await coalescer.shutDown(throwing: CancellationError())
        #expect(outcomes.value == ["first: value", "second: value", "third: value"])
        #expect(runs.value == 1)
    }

    @Test func `a ticket leaves at once, and the last one cancels the work`() async throws {
        let (first, second) = (join("first"), join("second"))
        try await clock.waitForSleepers(count: 1)

        coalescer.leave(first)
        coalescer.leave(first)
        coalescer.leave(CoalescerTicket())
        #expect(outcomes.value == ["first: canceled"])
        #expect(clock.sleeperCount == 1)
        #expect(coalescer.waiterCount == 1)
        coalescer.leave(second)

        #expect(outcomes.value == ["first: canceled", "second: canceled"])
        #expect(coalescer.waiterCount == 0)
        try await eventually { coalescer.runningCount == 0 }
        #expect(clock.sleeperCount == 0)
    }

    @Test func `work has the highest priority of its tickets`() async throws {
        let priorities = Watched<[Int]>([])
        let first = join("first", priority: 1, priorities: priorities)
        // The priority is known on this thread before the work begins.
        #expect(priorities.value == [1])
        join("second")
        let third = join("third", priority: 2)
        coalescer.setPriority(3, of: first)
        coalescer.setPriority(-1, of: first)
        coalescer.setPriority(9, of: CoalescerTicket())
        try await clock.waitForSleepers(count: 1)
        coalescer.leave(third)
        clock.advance(by: .seconds(1))

        try await outcomes.waitUntil { $0.count == 3 }
        #expect(priorities.value == [1, 0])
    }

    @Test func `canceling all work ends its waiters at once, and does not affect later work`() async throws {
        for name in ["first", "second"] { join(name) }
        let task = Task.immediate { [coalescer, brief] in try await coalescer.value(for: "a", brief) }
        try await clock.waitForSleepers(count: 1)

        coalescer.cancelAll(throwing: CancellationError())

        #expect(outcomes.value == ["first: canceled", "second: canceled"])
        await #expect(throws: CancellationError.self) { try await task.value }
        join("later")
        try await eventually { coalescer.runningCount == 1 }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        try await outcomes.waitUntil { $0.last == "later: value" }
    }

    @Test func `one piece of work may have very many waiters`() async throws {
        let tickets = (0..<50_000).map { join("\($0)", priority: $0 % 2) }
        for ticket in tickets.dropLast() { coalescer.leave(ticket) }
        #expect(coalescer.waiterCount(for: "a") == 1)
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        try await outcomes.waitUntil { $0.count == 50_000 }
        #expect(runs.value == 1)
    }

    // MARK: Work within other work

    /// Work that waits for the work "inner", which sleeps on the clock if this is the first to need it.
    private func nested(
        _ key: String, in outer: Coalescer<String, Int, String>, ended: Watched<[String]>
    ) -> Task<String, any Error> {
        Task.immediate { [coalescer, clock, runs] in
            try await outer.value(for: key, priority: AdjustablePriority(0)) { _, priority, task in
                defer { ended.update { $0.append(Task.isCancelled ? "\(key) canceled" : key) } }
                return try await coalescer.value(for: "inner", within: task, priority: priority) { _, _, _ in
                    runs.update { $0 += 1 }
                    try await clock.sleep(for: .seconds(1))
                    return "value"
                }
            }
        }
    }

    @Test func `inner work runs in the task of the work that begins it`() async throws {
        let executor = ManualExecutor()
        let outer = Coalescer<String, Int, String>(taskExecutor: executor)
        let inner = Coalescer<String, Int, String>(taskExecutor: executor)
        let value = Task.immediate {
            try await outer.value(for: "a", priority: AdjustablePriority(0)) { _, priority, task in
                try await inner.value(for: "b", within: task, priority: priority) { _, _, _ in "value" }
            }
        }
        #expect(executor.drain() == 1)
        #expect(try await value.value == "value")
    }

    @Test func `a task without waiters continues until its inner work has none`() async throws {
        let (outer, ended) = (Coalescer<String, Int, String>(), Watched<[String]>([]))
        let first = nested("a", in: outer, ended: ended)
        let second = nested("b", in: outer, ended: ended)
        #expect(coalescer.waiterCount(for: "inner") == 2)

        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(coalescer.waiterCount(for: "inner") == 1)
        #expect(clock.sleeperCount == 1)
        #expect(ended.value.isEmpty)
        clock.advance(by: .seconds(1))

        #expect(try await second.value == "value")
        try await ended.waitUntil { Set($0) == ["a canceled", "b"] }
        #expect(runs.value == 1)
    }

    @Test func `the last waiter of inner work cancels the task in which it runs`() async throws {
        let (outer, ended) = (Coalescer<String, Int, String>(), Watched<[String]>([]))
        let tasks = ["a", "b"].map { nested($0, in: outer, ended: ended) }
        for task in tasks {
            #expect(clock.sleeperCount == 1)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(clock.sleeperCount == 0)
        try await ended.waitUntil { Set($0) == ["a canceled", "b canceled"] }
        try await eventually { outer.runningCount + coalescer.runningCount == 0 }
    }

    @Test func `with random cancellations, inner work gives each waiter one outcome`() async throws {
        let (outer, ended) = (Coalescer<String, Int, String>(), Watched<[String]>([]))
        for round in 0..<300 {
            let tasks = (0..<6).map { number in
                Task { [coalescer] in
                    try await outer.value(for: "\(number % 3)", priority: AdjustablePriority(number)) {
                        _, level, task in
                        defer { ended.update { $0.append("\(number)") } }
                        return try await coalescer.value(for: "inner", within: task, priority: level) { _, _, _ in
                            for _ in 0..<round % 5 {
                                try Task.checkCancellation()
                                // Yields, because the cancellations come at any instant. Any order must pass.
                                await Interleaving.giveWay()
                            }
                            return "value"
                        }
                    }
                }
            }
            for number in [0, 3, 4] where (round + number) % 2 == 0 { tasks[number].cancel() }
            for (number, task) in tasks.enumerated() {
                do {
                    #expect(try await task.value == "value")
                } catch is CancellationError {
                    #expect([0, 3, 4].contains(number), "canceled without a request")
                    #expect((round + number) % 2 == 0, "canceled without a request")
                }
            }
        }
        try await eventually { outer.runningCount + coalescer.runningCount == 0 }
    }

    @Test func `a canceled caller starts no work`() async throws {
        for _ in 0..<100 {
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await coalescer.value(for: "a", brief)
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        // Work that had been started would be in progress or have ended by then.
        try await eventually { coalescer.runningCount == 0 }
        #expect(runs.value == 0)
    }

    @Test func `with random joins and cancellations, each waiter has one outcome`() async throws {
        let keys = ["a", "b", "c"]
        let tasks = (0..<1500).map { number in
            let task = Task {
                try await coalescer.value(for: keys[number % 3], onUpdate: { _ in }) { [runs] report in
                    runs.update { $0 += 1 }
                    for step in 0..<number % 7 {
                        report(step)
                        // Yields, because the work could not wait for an event that may depend on the end of the same
                        // work.
                        await Interleaving.giveWay()
                    }
                    try Task.checkCancellation()
                    return keys[number % 3]
                }
            }
            if number % 5 == 0 { task.cancel() }
            return task
        }

        for (number, task) in tasks.enumerated() {
            if number % 5 == 1 { task.cancel() }
            do {
                #expect(try await task.value == keys[number % 3])
            } catch is CancellationError {
                #expect(number % 5 <= 1, "canceled without a request")
            }
        }
        #expect(runs.value > 0)
        #expect(runs.value <= 1500)
    }
}
