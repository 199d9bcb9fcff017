import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// A download that waits before another attempt.
@Suite(.timeLimit(.minutes(10)))
struct SlotTests {
    private let clock = ManualClock()
    private let outcomes = Outcomes()
    private let counts = Watched<[String: Int]>([:])

    /// The first response to `/flaky…` is a 503 with a delay of ten seconds. All others arrive after the clock has
    /// advanced one second.
    private func downloader(
        limit: Int = 1, rate: DownloadRate? = nil, _ change: (inout DownloaderConfiguration) -> Void = { _ in }
    ) -> (Downloader, FakeTransport) {
        let transport = FakeTransport { [clock, counts] request in
            let path = request.url.path
            let attempt = counts.update { counts -> Int in
                counts[path, default: 0] += 1
                return counts[path] ?? 0
            }
            if path.hasPrefix("/flaky"), attempt == 1 {
                let head = HTTPResponseHead(url: request.url, status: 503, fields: ["Retry-After": "10"])
                return HTTPResponse(head: head, body: HTTPBody(Data()))
            }
            try await clock.sleep(for: .seconds(1))
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: 200), body: HTTPBody(Data("x".utf8)))
        }
        var configuration = DownloaderConfiguration(maxConcurrentDownloads: limit, rate: rate)
        configuration.retry = RetryPolicy(baseDelay: .zero)
        change(&configuration)
        return (Downloader(transport: transport, configuration: configuration, clock: clock), transport)
    }

    @discardableResult
    private func start(
        _ path: String, on downloader: Downloader, _ priority: LoadPriority = .normal
    ) throws -> DownloadReceipt {
        downloader.start(DownloadRequest(try web("http://h/\(path)"), priority: priority)) { [outcomes] in
            outcomes.record(path, $0.map(\.data.count))
        }
    }

    private func paths(_ transport: FakeTransport) -> [String] { transport.requests.map(\.url.path) }

    /// Returns once the transfer whose delay has ended waits for a slot, or has one if one is free.
    private func waitForReturn(_ downloader: Downloader) async throws {
        try await eventually { downloader.backingOffCount == 0 }
        // Setting it starts the transfers that can start, so none is about to start afterwards.
        downloader.isPaused = downloader.isPaused
    }

    @Test func `a retry releases its slot during the delay and waits for another`() async throws {
        let (downloader, transport) = downloader()
        try start("flaky", on: downloader)
        try start("a", on: downloader)
        // The delay and the request of the other.
        try await clock.waitForSleepers(count: 2)
        #expect(paths(transport) == ["/flaky", "/a"])
        #expect(downloader.transferCounts == (1, 1))
        try start("low", on: downloader, .low)
        try start("high", on: downloader, .high)

        clock.advance(by: .seconds(1))
        try await clock.waitForSleepers(count: 2)
        // The delay has ended while another runs. It starts after that, before the lower priority.
        clock.advance(by: .seconds(1))
        try await clock.waitForSleepers(count: 2)
        #expect(paths(transport) == ["/flaky", "/a", "/high", "/low"])
        try start("late", on: downloader)
        try start("veryLow", on: downloader, .veryLow)
        clock.advance(by: .seconds(8) - .milliseconds(500))
        try await clock.waitForSleepers(count: 2)
        #expect(paths(transport).last == "/late")
        clock.advance(by: .milliseconds(500))
        try await waitForReturn(downloader)
        #expect(downloader.transferCounts == (1, 2))
        for _ in 0..<3 {
            try await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(1))
        }

        try await outcomes.waitFor(6)
        #expect(paths(transport).suffix(3) == ["/late", "/flaky", "/veryLow"])
        #expect(outcomes.texts.values.allSatisfy { $0 == ["1 bytes"] })
        #expect(downloader.transferCounts == (0, 0))
    }

    @Test func `a download that skips the queue begins and retries without a slot`() async throws {
        let (downloader, transport) = downloader(rate: DownloadRate(perSecond: 1, burst: 1))
        try start("a", on: downloader)
        try start("waiting", on: downloader, .veryHigh)
        try await clock.waitForSleepers(count: 1)
        downloader.isPaused = true
        var urgent = DownloadRequest(try web("http://h/flaky"), priority: .veryLow)
        urgent.skipsQueue = true

        downloader.start(urgent) { [outcomes] in outcomes.record("flaky", $0.map(\.data.count)) }

        // The request of the first, and the delay of the urgent one, whose first response is a 503.
        try await clock.waitForSleepers(count: 2)
        #expect(paths(transport) == ["/a", "/flaky"])
        // The transfer without a slot is not counted.
        #expect(downloader.transferCounts == (1, 1))
        clock.advance(by: .seconds(1))
        try await outcomes.waitFor(1)
        clock.advance(by: .seconds(9))
        try await clock.waitForSleepers(count: 1)
        #expect(paths(transport) == ["/a", "/flaky", "/flaky"])
        clock.advance(by: .seconds(1))
        try await outcomes.waitFor(2)
        #expect(outcomes.texts == ["a": ["1 bytes"], "flaky": ["1 bytes"]])
        downloader.isPaused = false
        try await clock.waitForSleepers(count: 1)
        #expect(paths(transport).last == "/waiting")
        clock.advance(by: .seconds(1))
        try await outcomes.waitFor(3)
    }

    @Test func `a retry begins no attempt while the queue is paused`() async throws {
        let (downloader, transport) = downloader()
        try start("flaky", on: downloader)
        try await clock.waitForSleepers(count: 1)
        downloader.isPaused = true
        clock.advance(by: .seconds(10))
        try await waitForReturn(downloader)
        #expect(paths(transport) == ["/flaky"])
        #expect(downloader.transferCounts == (0, 1))

        downloader.isPaused = false

        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        try await outcomes.waitFor(1)
        #expect(outcomes.texts == ["flaky": ["1 bytes"]])
    }

    @Test func `a retry counts as a start for the rate limit`() async throws {
        let (downloader, transport) = downloader(limit: 9, rate: DownloadRate(perSecond: 0.01, burst: 2))
        try start("flaky", on: downloader)
        try await clock.waitForSleepers(count: 1)
        try start("a", on: downloader)
        try await clock.waitForSleepers(count: 2)
        clock.advance(by: .seconds(10))
        try await outcomes.waitFor(1)
        // Only the rate's timer.
        try await clock.waitForSleepers(count: 1)
        #expect(paths(transport) == ["/flaky", "/a"])
        clock.advance(by: .seconds(100))
        try await transport.waitForRequests(count: 3)
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        try await outcomes.waitFor(2)
        #expect(outcomes.texts == ["flaky": ["1 bytes"], "a": ["1 bytes"]])
    }

    @Test(arguments: ["in the pause", "in the line"])
    func `a retry is canceled at once, and the slots of the others stay correct`(moment: String) async throws {
        let (downloader, transport) = downloader()
        let receipt = try start("flaky", on: downloader)
        try start("a", on: downloader)
        try await clock.waitForSleepers(count: 2)
        if moment == "in the line" {
            // Another takes the slot before the delay ends.
            downloader.isPaused = true
            clock.advance(by: .seconds(10))
            try await outcomes.waitFor(1)
            try await waitForReturn(downloader)
        }

        downloader.cancel(receipt)

        #expect(outcomes.texts["flaky"] == ["cancelled"])
        downloader.isPaused = false
        try start("b", on: downloader)
        try start("c", on: downloader)
        for waiting in (0..<(moment == "in the line" ? 2 : 3)).reversed() {
            try await clock.waitForSleepers(count: 1)
            #expect(downloader.transferCounts == (1, waiting))
            clock.advance(by: .seconds(1))
        }
        try await outcomes.waitFor(4)
        #expect(paths(transport) == ["/flaky", "/a", "/b", "/c"])
        await downloader.shutDown()
        #expect(clock.sleeperCount == 0)
    }

    @Test(arguments: [false, true])
    func `shutting down ends a waiting retry`(isInLine: Bool) async throws {
        let (downloader, transport) = downloader()
        try start("flaky", on: downloader)
        try await clock.waitForSleepers(count: 1)
        if isInLine {
            downloader.isPaused = true
            clock.advance(by: .seconds(10))
            try await waitForReturn(downloader)
        }
        await downloader.shutDown()
        #expect(outcomes.texts == ["flaky": ["shutDown"]])
        #expect(downloader.transferCounts == (0, 0))
        #expect(clock.sleeperCount == 0)
        #expect(paths(transport) == ["/flaky"])
    }

    @Test func `a retry may time out while it waits for a slot`() async throws {
        let (downloader, transport) = downloader { $0.totalTimeout = .seconds(20) }
        try start("flaky", on: downloader)
        try await clock.waitForSleepers(count: 2)
        downloader.isPaused = true
        clock.advance(by: .seconds(10))
        try await waitForReturn(downloader)
        clock.advance(by: .seconds(10))
        try await outcomes.waitFor(1)
        #expect(outcomes.texts == ["flaky": ["transport(AlcedoHTTP.HTTPTransportError.Code.timedOut)"]])
        #expect(downloader.transferCounts == (0, 0))
        downloader.isPaused = false
        try start("a", on: downloader)
        // The total time limit and its request.
        try await clock.waitForSleepers(count: 2)
        clock.advance(by: .seconds(1))
        try await outcomes.waitFor(2)
        #expect(paths(transport) == ["/flaky", "/a"])
    }
}
