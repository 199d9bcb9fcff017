import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDownloader

@Suite(.timeLimit(.minutes(10)))
struct TimeTests {
    private let clock = ManualClock()

    private func start(_ fetcher: HTTPFetcher, _ url: URL) -> Task<Data, any Error> {
        Task { try await fetcher.fetch(HTTPRequest(url: url, idleTimeout: .seconds(120))) { _ in }.data }
    }

    @Test func `a response that does not begin in time is an error, and the connection is closed`() async throws {
        let origin = try LoopbackOrigin { _ in OriginReply.text("x").stalling(at: .beforeHead) }
        defer { origin.stop() }
        let fetcher = HTTPFetcher.make(CURLTransport(), clock: clock) { $0.firstByteTimeout = .seconds(5) }
        let task = start(fetcher, origin.url(for: "/a"))
        try await origin.waitForStalls()
        try await clock.waitForSleepers(count: 1)

        clock.advance(by: .seconds(5))

        let error = try await failure { try await task.value }
        #expect(error.code == .transport(.timedOut))
        #expect(error.cause is HTTPTransportError)
        try await origin.waitForDisconnects()
    }

    @Test func `a response that has begun is not limited by the response timeout`() async throws {
        let origin = try LoopbackOrigin { _ in OriginReply.text("slow").stalling(at: .afterBody(2)) }
        defer { origin.stop() }
        let fetcher = HTTPFetcher.make(CURLTransport(), clock: clock) { $0.firstByteTimeout = .seconds(5) }
        let (steps, begun) = AsyncStream.makeStream(of: DownloadProgress.self)
        let request = HTTPRequest(url: origin.url(for: "/a"), idleTimeout: .seconds(120))
        let task = Task { try await fetcher.fetch(request) { begun.yield($0) }.data }
        try await origin.waitForStalls()
        for await _ in steps { break }

        // The timeout has ended with the arrival of the head.
        #expect(clock.sleeperCount == 0)
        clock.advance(by: .seconds(1_000))
        origin.release()

        #expect(try await task.value == Data("slow".utf8))
    }

    @Test func `a response timeout is retried`() async throws {
        let origin = try LoopbackOrigin { request in
            request.attempt == 1 ? OriginReply.text("x").stalling(at: .beforeHead) : .text("end")
        }
        defer { origin.stop() }
        let fetcher = HTTPFetcher.make(CURLTransport(), clock: clock) {
            $0.firstByteTimeout = .seconds(5)
            $0.retries()
        }
        let task = start(fetcher, origin.url(for: "/a"))
        try await origin.waitForStalls()
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(5))
        // The delay of the retry.
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(250))
        #expect(try await task.value == Data("end".utf8))
    }

    @Test func `a download that exceeds its total time fails in any state`() async throws {
        let transport = FakeTransport { _ in throw HTTPTransportError(.cannotConnect, "down") }
        let fetcher = HTTPFetcher.make(transport, clock: clock) {
            $0.totalTimeout = .seconds(60)
            $0.retry = RetryPolicy(maximumAttempts: 1_000, baseDelay: .seconds(20), maximumDelay: .seconds(20))
        }
        let task = start(fetcher, try #require(URL(string: "http://h/a")))
        for _ in 0..<6 {
            try await clock.waitForSleepers(count: 2)
            clock.advance(by: .seconds(10))
        }
        let error = try await failure { try await task.value }
        #expect(error.code == .transport(.timedOut))
        #expect(transport.requests.count >= 6)
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a canceled download throws CancellationError, not a timeout`() async throws {
        let fetcher = HTTPFetcher.make(FakeTransport.waiting(on: clock), clock: clock) {
            ($0.firstByteTimeout, $0.totalTimeout) = (.seconds(5), .seconds(60))
        }
        let task = start(fetcher, try #require(URL(string: "http://h/a")))
        try await clock.waitForSleepers(count: 3)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test func `work within its time limit keeps its value and errors`() async throws {
        let deadline = Deadline(limit: .seconds(1), clock: clock, subject: "nothing")
        #expect(try await deadline.run { 7 } == 7)
        await #expect(throws: DownloadError.self) {
            try await deadline.run { throw DownloadError(.empty, "nothing") }
        }
        #expect(clock.sleeperCount == 0)
    }

    @Test func `progress is reported at the beginning, at the end and rarely in between`() {
        let steps = Watched<[Int]>([])
        var meter = ProgressMeter(interval: .milliseconds(50), clock: clock) { step in
            steps.update { $0.append(step.received) }
        }
        func step(_ count: Int) -> DownloadProgress { DownloadProgress(received: count, expected: 100) }
        meter.mark(step(0))
        for count in 1...9 {
            clock.advance(by: .milliseconds(10))
            meter.update(step(count))
        }
        #expect(steps.value == [0, 5])
        meter.mark(step(9))
        meter.mark(step(9))
        #expect(steps.value == [0, 5, 9])
        clock.advance(by: .milliseconds(49))
        meter.update(step(10))
        clock.advance(by: .milliseconds(1))
        meter.update(step(11))
        #expect(steps.value == [0, 5, 9, 11])
    }

    @Test func `a download of many pieces reports progress rarely`() async throws {
        let steps = Watched<[DownloadProgress]>([])
        let fetcher = HTTPFetcher.make(Script([.head(200, [:], Data(count: 500_000))]), clock: clock)
        let request = HTTPRequest(url: try #require(URL(string: "http://h/a")))
        _ = try await fetcher.fetch(request) { step in steps.update { $0.append(step) } }
        #expect(steps.value.map(\.received) == [0, 500_000])
    }
}
