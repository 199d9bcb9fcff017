import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoRuntime
import AlcedoTesting
import Dispatch
import FoundationEssentials
import TestSupport
import Testing

/// Downloads with completions, and methods that affect all downloads.
@Suite(.timeLimit(.minutes(10)))
struct ReceiptTests {
    private let clock = ManualClock()
    private let outcomes = Outcomes()

    private func downloader(
        _ transport: FakeTransport, _ configuration: DownloaderConfiguration = .init()
    ) -> Downloader {
        Downloader(transport: transport, configuration: configuration, clock: clock)
    }

    @discardableResult
    private func start(
        _ path: String, on downloader: Downloader, _ priority: LoadPriority = .normal, as name: String? = nil
    ) throws -> DownloadReceipt {
        let request = DownloadRequest(try web("http://h/\(path)"), priority: priority)
        return downloader.start(request) { [outcomes] in outcomes.record(name ?? path, $0.map(\.data.count)) }
    }

    @Test func `a completion is called once with the outcome`() async throws {
        let downloader = downloader(FakeTransport(body: Data(count: 5)))
        try start("a", on: downloader)
        try await outcomes.waitFor(1)
        await downloader.shutDown()
        #expect(outcomes.texts == ["a": ["5 bytes"]])
    }

    @Test func `a receipt cancels one waiter at once, and the last one cancels the transfer`() async throws {
        let transport = FakeTransport.waiting(on: clock)
        let downloader = downloader(transport)
        let first = try start("a", on: downloader, as: "first")
        let second = try start("a", on: downloader, as: "second")
        try await clock.waitForSleepers(count: 1)

        downloader.cancel(first)
        #expect(outcomes.texts == ["first": ["cancelled"]])
        #expect(clock.sleeperCount == 1)
        downloader.cancel(first)
        downloader.cancel(second)

        #expect(outcomes.texts == ["first": ["cancelled"], "second": ["cancelled"]])
        // Its slot is free once its work has ended.
        try await eventually { downloader.transferCounts.running == 0 }
        #expect(clock.sleeperCount == 0)
        #expect(transport.requests.count == 1)
    }

    @Test func `a receipt of a finished download does nothing`() async throws {
        let downloader = downloader(FakeTransport(body: Data("x".utf8)))
        let receipt = try start("a", on: downloader)
        try await outcomes.waitFor(1)
        downloader.cancel(receipt)
        downloader.setPriority(.high, of: receipt)
        try start("a", on: downloader, as: "again")
        try await outcomes.waitFor(2)
        #expect(outcomes.texts == ["a": ["1 bytes"], "again": ["1 bytes"]])
    }

    @Test func `a receipt of another downloader cancels nothing and changes no priority`() async throws {
        let (one, other) = (downloader(.waiting(on: clock)), downloader(.waiting(on: clock)))
        let receipt = try start("a", on: one, as: "one")
        let foreign = try start("a", on: other, as: "other")
        try await clock.waitForSleepers(count: 2)
        #expect(receipt != foreign)

        one.cancel(foreign)
        one.setPriority(.veryLow, of: foreign)
        other.cancel(receipt)
        #expect(outcomes.texts.isEmpty)
        clock.advance(by: .seconds(1))

        try await outcomes.waitFor(2)
        #expect(outcomes.texts == ["one": ["1 bytes"], "other": ["1 bytes"]])
    }

    @Test func `priorities decide the order and can change while requests wait`() async throws {
        let transport = FakeTransport.waiting(on: clock)
        let downloader = downloader(transport, .init(maxConcurrentDownloads: 1))
        try start("plug", on: downloader)
        try await clock.waitForSleepers(count: 1)
        try start("normal", on: downloader)
        let raised = try start("raised", on: downloader, .veryLow)
        let lowered = try start("lowered", on: downloader, .veryHigh)
        try start("joined", on: downloader, .veryLow)
        try start("joined", on: downloader, .high)
        downloader.setPriority(.veryHigh, of: raised)
        downloader.setPriority(.low, of: lowered)

        for count in 1...5 {
            try await clock.waitForSleepers(count: 1)
            #expect(downloader.transferCounts == (1, 5 - count))
            clock.advance(by: .seconds(1))
        }

        try await outcomes.waitFor(6)
        #expect(
            transport.requests.map(\.url.path) == ["/plug", "/raised", "/joined", "/normal", "/lowered"])
    }

    @Test func `while the queue is paused nothing begins, and transfers in progress continue`() async throws {
        let transport = FakeTransport.waiting(on: clock)
        let downloader = downloader(transport)
        try start("runs", on: downloader)
        try await clock.waitForSleepers(count: 1)
        downloader.isPaused = true
        #expect(downloader.isPaused)
        try start("waits", on: downloader)
        clock.advance(by: .seconds(1))
        try await outcomes.waitFor(1)
        #expect(transport.requests.count == 1)
        #expect(downloader.transferCounts == (0, 1))

        downloader.isPaused = false

        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        try await outcomes.waitFor(2)
        #expect(outcomes.texts["waits"] == ["1 bytes"])
    }

    @Test func `canceling all downloads does not affect later ones`() async throws {
        let downloader = downloader(.waiting(on: clock), .init(maxConcurrentDownloads: 2))
        for path in ["a", "b", "c", "d"] { try start(path, on: downloader) }
        let task = Task.immediate { try await downloader.download(web("http://h/a")) }
        try await clock.waitForSleepers(count: 2)

        downloader.cancelAll()

        #expect(outcomes.texts.values.allSatisfy { $0 == ["cancelled"] })
        #expect(outcomes.texts.count == 4)
        await #expect(throws: CancellationError.self) { try await task.value }
        try start("e", on: downloader)
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        try await outcomes.waitFor(5)
        #expect(outcomes.texts["e"] == ["1 bytes"])
    }

    @Test func `a downloader that is shut down ends its transfers and refuses new ones`() async throws {
        let hasEnded = Watched(0)
        let transport = FakeTransport { [clock] _ in
            defer { hasEnded.update { $0 += 1 } }
            try await clock.sleep(for: .seconds(1))
            throw HTTPTransportError(.failed, "never")
        }
        let downloader = downloader(transport, .init(maxConcurrentDownloads: 1))
        try start("a", on: downloader)
        try start("b", on: downloader)
        try await clock.waitForSleepers(count: 1)

        await downloader.shutDown()

        #expect(hasEnded.value == 1)
        #expect(outcomes.texts == ["a": ["shutDown"], "b": ["shutDown"]])
        try start("c", on: downloader)
        #expect(outcomes.texts["c"] == ["shutDown"])
        let error = try await failure { try await downloader.download(.bytes(Data([1]), identity: "x")) }
        #expect(error.code == .shutDown)
        await downloader.shutDown()
        #expect(transport.requests.count == 1)
    }

    @Test func `a released downloader ends its transfers in progress, and its other waiters receive an error`()
        async throws
    {
        do {
            let downloader = downloader(.waiting(on: clock))
            try start("runs", on: downloader)
            try await clock.waitForSleepers(count: 1)
            downloader.isPaused = true
            try start("a", on: downloader)
            try start("b", on: downloader)
        }
        try await outcomes.waitFor(2)
        #expect(outcomes.texts == ["a": ["cancelled"], "b": ["cancelled"]])
        clock.advance(by: .seconds(1))
        try await outcomes.waitFor(3)
        #expect(outcomes.texts["runs"] == ["1 bytes"])
    }

    @Test func `a rate limit spreads starts over time with one timer`() async throws {
        let downloader = downloader(
            FakeTransport(body: Data("x".utf8)),
            .init(maxConcurrentDownloads: 100, rate: DownloadRate(perSecond: 10, burst: 2)))
        for number in 0..<5 { try start("\(number)", on: downloader) }
        try await outcomes.waitFor(2)
        #expect(clock.sleeperCount == 1)
        for done in 3...5 {
            clock.advance(by: .milliseconds(101))
            try await outcomes.waitFor(done)
            #expect(outcomes.texts.count == done)
            if done < 5 { try await clock.waitForSleepers(count: 1) }
        }
        #expect(downloader.transferCounts == (0, 0))
    }

    @Test func `a waiter for the rate limit is canceled at once, and the timer with the last one`() async throws {
        let downloader = downloader(
            FakeTransport(body: Data("x".utf8)), .init(rate: DownloadRate(perSecond: 0.001, burst: 1)))
        try start("a", on: downloader)
        let waiting = try start("b", on: downloader)
        try start("c", on: downloader)
        try await clock.waitForSleepers(count: 1)
        downloader.cancel(waiting)
        #expect(outcomes.texts["b"] == ["cancelled"])
        await downloader.shutDown()
        #expect(outcomes.texts["c"] == ["shutDown"])
        #expect(clock.sleeperCount == 0)
    }

    @Test func `each host has its own slots`() async throws {
        let transport = FakeTransport.waiting(on: clock)
        let downloader = downloader(
            transport, .init(maxConcurrentDownloads: 4, maxConcurrentDownloadsPerHost: 1))
        for url in ["http://h/a", "http://h:80/b", "http://H/c", "https://h/d", "http://other/e"] {
            downloader.start(DownloadRequest(try web(url))) { [outcomes] in outcomes.record(url, $0.map(\.data.count)) }
        }
        try await clock.waitForSleepers(count: 3)
        #expect(downloader.transferCounts == (3, 2))
        #expect(
            Set(transport.requests.map(\.url.absoluteString)) == ["http://h/a", "https://h/d", "http://other/e"])
        downloader.cancelAll()
    }

    // MARK: While a request is being modified

    private func modifying(_ transport: FakeTransport) -> Downloader {
        var configuration = DownloaderConfiguration(maxConcurrentDownloads: 1)
        configuration.modifyRequest = { [clock] request in
            if request.url.path != "/plug" { try await clock.sleep(for: .seconds(5)) }
            var request = request
            request.fields["X-Token"] = "t"
            return request
        }
        return downloader(transport, configuration)
    }

    @Test func `a waiter canceled while its request is modified has its outcome at once`() async throws {
        let transport = FakeTransport(body: Data("x".utf8))
        let downloader = modifying(transport)
        let receipt = try start("a", on: downloader)
        let task = Task { try await downloader.download(web("http://h/b")) }
        try start("c", on: downloader)
        try await clock.waitForSleepers(count: 3)

        downloader.cancel(receipt)
        #expect(outcomes.texts == ["a": ["cancelled"]])
        downloader.cancelAll()

        #expect(outcomes.texts["c"] == ["cancelled"])
        await #expect(throws: CancellationError.self) { try await task.value }
        await downloader.shutDown()
        #expect(clock.sleeperCount == 0)
        #expect(transport.requests.isEmpty)
    }

    @Test func `a waiter canceled while its modified request joins others has its outcome at once`() async throws {
        let hasBegun = DispatchSemaphore(value: 0)
        let steps = Watched(0)
        var configuration = DownloaderConfiguration(maxConcurrentDownloads: 10_000)
        configuration.modifyRequest = { request in
            hasBegun.signal()
            // Up to as long as the other thread may need to wake up.
            let number = Int(request.url.lastPathComponent) ?? 0
            for _ in 0..<number % 100 * 20 { steps.update { $0 += 1 } }
            return request
        }
        let downloader = downloader(.waiting(on: clock), configuration)
        // The instant of the cancellation is random, so there are many. Any order must pass. A separate thread wakes up
        // sooner than a task.
        let thread = BlockingExecutor(name: "canceller", maxConcurrent: 1)
        for number in 0..<2_000 {
            let receipt = try start("\(number)", on: downloader)
            try await thread.run {
                hasBegun.wait()
                downloader.cancel(receipt)
            }
            #expect(outcomes.texts["\(number)"] == ["cancelled"])
        }
    }

    @Test func `a priority changed while the request is modified takes effect`() async throws {
        let transport = FakeTransport { [clock] request in
            #expect(request.fields["X-Token"] == "t")
            if request.url.path == "/plug" { try await clock.sleep(for: .seconds(9)) }
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: 200), body: HTTPBody(Data("x".utf8)))
        }
        let downloader = modifying(transport)
        try start("plug", on: downloader)
        try await clock.waitForSleepers(count: 1)
        let low = try start("low", on: downloader, .low)
        try start("normal", on: downloader)
        try await clock.waitForSleepers(count: 3)
        downloader.setPriority(.high, of: low)
        clock.advance(by: .seconds(5))
        try await eventually { downloader.transferCounts.waiting == 2 }
        clock.advance(by: .seconds(4))
        try await outcomes.waitFor(3)
        #expect(transport.requests.map(\.url.path) == ["/plug", "/low", "/normal"])
    }

    @Test func `a modifier that declines or fails determines the outcome`() async throws {
        var configuration = DownloaderConfiguration()
        configuration.modifyRequest = { request in
            if request.url.path == "/odd" { throw HTTPTransportError(.failed, "odd") }
            return nil
        }
        let downloader = downloader(FakeTransport(body: Data("x".utf8)), configuration)
        try start("a", on: downloader)
        try start("odd", on: downloader)
        try await outcomes.waitFor(2)
        #expect(outcomes.texts == ["a": ["declined"], "odd": ["hook"]])
        await downloader.shutDown()
        try start("late", on: downloader)
        #expect(outcomes.texts["late"] == ["shutDown"])
    }
}
