import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Waiters for one key whose sources differ.
@Suite(.timeLimit(.minutes(10)))
struct CoalescerSourceTests {
    /// A failure of the source.
    private struct Rejection: Error, Equatable {
        var name: String
    }

    private struct OtherFailure: Error {}

    private let coalescer = Coalescer<String, Int, String> { $0 is Rejection }
    private let runs = Watched<[String]>([])
    private let priorities = Watched<[LoadPriority]>([])
    /// Each run sleeps on this clock, so advancing it ends the run.
    private let clock = ManualClock()

    private func source(_ name: String, _ fields: HTTPFields = HTTPFields()) throws -> ImageSource {
        .http(HTTPRequest(url: try #require(URL(string: "http://h/\(name)")), fields: fields))
    }

    /// Joins the work "k" before it returns.
    private func join(
        _ name: String, _ source: ImageSource? = nil, _ priority: LoadPriority = .normal,
        isCancelable: Bool = false, throwing error: (any Error)? = nil
    ) throws -> Task<String, any Error> {
        let source = try source ?? self.source(name)
        return Task.immediate { [coalescer, runs, priorities, clock] in
            try await coalescer.value(
                for: "k", from: ImageRequest(source: source).workSource, isCancelable: isCancelable,
                priority: PriorityHandle(priority).level
            ) { _, level, _ in
                runs.update { $0.append(name) }
                try await clock.sleep(for: .seconds(1))
                priorities.update { $0.append(PriorityHandle(level: level).value) }
                if let error { throw error }
                return name
            }
        }
    }

    @Test func `a cancellation by URL ends cancelable waiters with that URL, whatever their fields`() async throws {
        let others = [try join("a"), try join("b", isCancelable: true)]
        let canceled = [
            try join("a", isCancelable: true),
            try join("a", source("a", ["Accept": "image/png"]), isCancelable: true),
        ]
        #expect(coalescer.cancelableCount == 3)

        coalescer.cancel(try source("a"))

        for waiter in canceled { await #expect(throws: CancellationError.self) { try await waiter.value } }
        #expect(coalescer.cancelableCount == 1)
        try await endRun()
        for waiter in others { #expect(try await waiter.value == "a") }
        #expect(runs.value == ["a"])
    }

    @Test func `a cancellation by URL of all waiters cancels the work`() async throws {
        let waiters = [try join("a", isCancelable: true), try join("a", isCancelable: true)]
        try await clock.waitForSleepers(count: 1)

        coalescer.cancel(try source("a"))

        for waiter in waiters { await #expect(throws: CancellationError.self) { try await waiter.value } }
        try await eventually { coalescer.runningCount == 0 }
        #expect(priorities.value.isEmpty)
    }

    /// Ends the run in progress.
    private func endRun() async throws {
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
    }

    private func rejection(of task: Task<String, any Error>) async throws -> String? {
        await #expect(throws: Rejection.self) { try await task.value }?.name
    }

    @Test func `a refused source fails its own waiter, and the next waiter's source is tried`() async throws {
        let first = try join("a", throwing: Rejection(name: "a"))
        let second = try join("b")

        try await endRun()
        #expect(try await rejection(of: first) == "a")
        try await endRun()

        #expect(try await second.value == "b")
        #expect(runs.value == ["a", "b"])
    }

    @Test func `three sources are tried in order, once each, and each waiter receives its own error`() async throws {
        let first = try join("a", throwing: Rejection(name: "a"))
        let second = try join("b", throwing: Rejection(name: "b"))
        let third = try join("c", throwing: Rejection(name: "c"))
        let again = try join("a", throwing: Rejection(name: "never run"))

        for _ in 0..<3 { try await endRun() }

        #expect(try await rejection(of: first) == "a")
        #expect(try await rejection(of: second) == "b")
        #expect(try await rejection(of: third) == "c")
        #expect(try await rejection(of: again) == "a")
        #expect(runs.value == ["a", "b", "c"])
    }

    @Test func `the success of one source serves the remaining waiters`() async throws {
        let tasks = [try join("a", throwing: Rejection(name: "a")), try join("b"), try join("c"), try join("b")]

        for _ in 0..<2 { try await endRun() }

        for task in tasks[1...] { #expect(try await task.value == "b") }
        #expect(runs.value == ["a", "b"])
        #expect(try await rejection(of: tasks[0]) == "a")
    }

    @Test func `requests for one URL with different fields are different sources`() async throws {
        let url = ["X-Token": "old"] as HTTPFields
        let first = try join("old", source("a", url), throwing: Rejection(name: "old"))
        let second = try join("new", source("a", ["X-Token": "new"]))

        for _ in 0..<2 { try await endRun() }

        #expect(try await rejection(of: first) == "old")
        #expect(try await second.value == "new")
    }

    @Test func `a failure independent of the source reaches all waiters after one run`() async throws {
        let tasks = [try join("a", throwing: OtherFailure()), try join("b"), try join("c")]

        try await endRun()

        for task in tasks { await #expect(throws: OtherFailure.self) { try await task.value } }
        #expect(runs.value == ["a"])
    }

    @Test func `the source of a canceled waiter is not tried`() async throws {
        let tasks = [try join("a", throwing: Rejection(name: "a")), try join("b"), try join("c")]
        try await clock.waitForSleepers(count: 1)

        tasks[1].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        for _ in 0..<2 { try await endRun() }

        #expect(try await rejection(of: tasks[0]) == "a")
        #expect(try await tasks[2].value == "c")
        #expect(runs.value == ["a", "c"])
    }

    @Test func `the last waiter to leave a further run cancels it`() async throws {
        let first = try join("a", throwing: Rejection(name: "a"))
        let second = try join("b")
        try await endRun()
        #expect(try await rejection(of: first) == "a")
        try await clock.waitForSleepers(count: 1)

        second.cancel()

        await #expect(throws: CancellationError.self) { try await second.value }
        await coalescer.shutDown(throwing: OtherFailure())
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a further run has the priority of the remaining waiters`() async throws {
        let first = try join("a", nil, .veryHigh, throwing: Rejection(name: "a"))
        let second = try join("b", nil, .low)

        for _ in 0..<2 { try await endRun() }

        #expect(try await rejection(of: first) == "a")
        #expect(try await second.value == "b")
        #expect(priorities.value == [.veryHigh, .low])
    }
}
