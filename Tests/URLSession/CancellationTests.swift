import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import AlcedoURLSession
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct CancellationTests {
    private let transport = URLSessionTransport()

    @Test func `canceling before the head ends the transfer`() async throws {
        let origin = try LoopbackOrigin { _ in .text("hello").stalling(at: .beforeHead) }
        let url = origin.url
        let task = Task { [transport] in try await transport.send(HTTPRequest(url: url, idleTimeout: .seconds(120))) }
        try await origin.waitForStalls()

        task.cancel()

        await #expect(throws: CancellationError.self) { _ = try await task.value }
        try await origin.waitForDisconnects()
    }

    @Test func `a canceled task sends nothing`() async throws {
        let origin = try LoopbackOrigin { _ in .text("hello") }
        let url = origin.url(for: "/canceled")
        let task = Task { [transport] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await transport.send(HTTPRequest(url: url, idleTimeout: .seconds(120)))
        }

        await #expect(throws: CancellationError.self) { _ = try await task.value }
        // The transport begins requests in order, so a request of the canceled task would arrive before this one.
        let response = try await transport.send(HTTPRequest(url: origin.url(for: "/next"), idleTimeout: .seconds(120)))
        _ = try await response.body.collect(limit: 100)
        #expect(origin.requests.map(\.path) == ["/next"])
    }

    @Test func `canceling a reader ends the transfer`() async throws {
        let origin = try LoopbackOrigin { _ in .text("hello").stalling(at: .afterBody(2)) }
        let response = try await transport.send(HTTPRequest(url: origin.url, idleTimeout: .seconds(120)))
        let task = Task { try await response.body.collect(limit: 100) }
        try await origin.waitForStalls()

        task.cancel()

        await #expect(throws: CancellationError.self) { try await task.value }
        try await origin.waitForDisconnects()
    }

    @Test func `canceling the body ends the transfer`() async throws {
        let origin = try LoopbackOrigin { _ in .endless() }
        let response = try await transport.send(HTTPRequest(url: origin.url, idleTimeout: .seconds(120)))

        response.body.cancel()

        await #expect(throws: CancellationError.self) { try await response.body.collect(limit: 100) }
        try await origin.waitForDisconnects()
    }

    @Test func `releasing the body ends the transfer`() async throws {
        let origin = try LoopbackOrigin { _ in .text("hello").stalling(at: .afterBody(2)) }

        _ = try await transport.send(HTTPRequest(url: origin.url, idleTimeout: .seconds(120)))

        try await origin.waitForDisconnects()
    }

    @Test func `each of many randomly canceled requests has one outcome`() async throws {
        let counts = try await CancelStress(requests: 2_000, seed: 1).run(transport)

        #expect(counts.whole + counts.cancelled == 2_000)
        #expect(counts.whole > 0)
        #expect(counts.cancelled > 0)
    }
}

/// Sends many requests concurrently, and cancels some of them at random instants.
struct CancelStress {
    struct Counts: Sendable {
        var whole = 0
        var cancelled = 0
    }

    let requests: Int
    let seed: UInt64

    /// - Throws: Any error of a request other than `CancellationError`.
    func run(_ transport: URLSessionTransport) async throws -> Counts {
        let body = Data(repeating: 7, count: 5_000)
        let origin = try LoopbackOrigin { _ in .ok(body) }
        let url = origin.url
        var random = SeededGenerator(seed: seed)
        var counts = Counts()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<requests {
                if index >= 16 { counts.add(try await group.next()) }
                let patience = Int.random(in: 0..<200, using: &random)
                let delay = Duration.nanoseconds(500 * patience * patience)
                group.addTask {
                    let task = Task {
                        let response = try await transport.send(HTTPRequest(url: url, idleTimeout: .seconds(120)))
                        return try await response.body.collect(limit: 1 << 20)
                    }
                    // Yields for a random time, because a request must survive its cancellation at any instant, not
                    // only at certain events. A sleep is too coarse, and a number of yields takes minutes where the
                    // threads are busy.
                    await Interleaving.giveWay(for: delay)
                    if patience % 2 == 0 { task.cancel() }
                    do {
                        let whole = try await task.value
                        #expect(whole == body)
                        return true
                    } catch is CancellationError {
                        return false
                    }
                }
            }
            for try await isWhole in group { counts.add(isWhole) }
        }
        return counts
    }
}

extension CancelStress.Counts {
    fileprivate mutating func add(_ isWhole: Bool?) {
        guard let isWhole else { return }
        if isWhole { whole += 1 } else { cancelled += 1 }
    }
}
