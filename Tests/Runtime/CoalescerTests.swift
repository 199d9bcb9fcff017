import AlcedoCore
import AlcedoRuntime
import AlcedoTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CoalescerTests {
    private let coalescer = Coalescer<String, Int, String>()
    private let runs = Guarded(0)
    /// Work sleeps on it: `advance` lets it go on.
    private let clock = ManualClock()

    /// Tells who has joined: each waiter notes the updates it sees.
    private final class Waiters: Sendable {
        let seen = Guarded<[Int: [Int]]>([:])

        func listener(_ number: Int) -> @Sendable (Int) -> Void {
            { update in self.seen.change { $0[number, default: []].append(update) } }
        }
    }

    /// Work that reports a growing number until `isDone`, then returns "value".
    private func chatter(until isDone: @escaping @Sendable () -> Bool) -> Coalescer<String, Int, String>.Body {
        { [runs] report in
            runs.change { $0 += 1 }
            var number = 0
            while !isDone() {
                try Task.checkCancellation()
                number += 1
                report(number)
                await Task.yield()
            }
            return "value"
        }
    }

    @Test func `equal work runs once for all who wait`() async throws {
        let waiters = Waiters()
        let tasks = (0..<50).map { number in
            Task {
                try await coalescer.value(
                    for: "a", onUpdate: waiters.listener(number), chatter { waiters.seen.value.count == 50 })
            }
        }

        for task in tasks { #expect(try await task.value == "value") }
        #expect(runs.value == 1)
    }

    @Test func `a waiter sees every update after it joined, in order`() async throws {
        let waiters = Waiters()
        let tasks = (0..<5).map { number in
            Task {
                try await coalescer.value(
                    for: "a", onUpdate: waiters.listener(number),
                    chatter { waiters.seen.value.values.filter { $0.count > 20 }.count == 5 })
            }
        }
        for task in tasks { _ = try await task.value }

        let last = waiters.seen.value.values.compactMap(\.last).max()
        for updates in waiters.seen.value.values {
            let first = try #require(updates.first)
            #expect(updates == Array(first...(try #require(last))))
        }
    }

    @Test func `different keys run apart, and work that has ended runs anew`() async throws {
        for key in ["a", "b", "a"] {
            #expect(try await coalescer.value(for: key, chatter { true }) == "value")
        }
        #expect(runs.value == 3)
    }

    @Test func `a failure reaches all, and the next try runs anew`() async throws {
        struct Failure: Error {}
        let waiters = Waiters()
        let tasks = (0..<10).map { number in
            Task {
                try await coalescer.value(for: "a", onUpdate: waiters.listener(number)) { report in
                    while waiters.seen.value.count < 10 {
                        report(1)
                        await Task.yield()
                    }
                    throw Failure()
                }
            }
        }

        for task in tasks { await #expect(throws: Failure.self) { try await task.value } }
        #expect(try await coalescer.value(for: "a", chatter { true }) == "value")
    }

    @Test func `one who leaves goes at once, and leaves the others their work`() async throws {
        let waiters = Waiters()
        let isDone = Guarded(false)
        let tasks = (0..<3).map { number in
            Task {
                try await coalescer.value(
                    for: "a", onUpdate: waiters.listener(number), chatter { isDone.value })
            }
        }
        while waiters.seen.value.count < 3 { await Task.yield() }

        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        isDone.change { $0 = true }

        for task in tasks[1...] { #expect(try await task.value == "value") }
        #expect(runs.value == 1)
    }

    @Test func `the last one who leaves cancels the work`() async throws {
        let wasCancelled = Guarded(false)
        let task = Task {
            try await coalescer.value(for: "a") { [clock] _ in
                do {
                    try await clock.sleep(for: .seconds(1))
                    return "value"
                } catch {
                    wasCancelled.change { $0 = true }
                    throw error
                }
            }
        }
        try await clock.waitForSleepers(count: 1)

        task.cancel()

        await #expect(throws: CancellationError.self) { try await task.value }
        while !wasCancelled.value { await Task.yield() }
    }

    @Test func `work that was abandoned is begun anew, and its late end means nothing to the new one`() async throws {
        // The first run does not heed its cancellation and ends, wrongly, after the second has begun.
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

        late.advance(by: .seconds(1))
        for _ in 0..<100 { await Task.yield() }
        clock.advance(by: .seconds(1))

        #expect(try await second.value == "new")
    }

    @Test func `one who is cancelled already starts no work`() async throws {
        for _ in 0..<100 {
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                return try await coalescer.value(for: "a", chatter { true })
            }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        for _ in 0..<100 { await Task.yield() }
        #expect(runs.value == 0)
    }

    @Test func `joining and leaving at random, each waiter has one outcome`() async throws {
        let keys = ["a", "b", "c"]
        let tasks = (0..<1500).map { number in
            let task = Task {
                try await coalescer.value(for: keys[number % 3], onUpdate: { _ in }) { [runs] report in
                    runs.change { $0 += 1 }
                    for step in 0..<number % 7 {
                        report(step)
                        await Task.yield()
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
                #expect(number % 5 <= 1, "cancelled though nobody asked for it")
            }
        }
        #expect(runs.value > 0 && runs.value <= 1500)
    }
}
