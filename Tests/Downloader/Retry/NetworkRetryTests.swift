import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDownloader

/// Retries that wait for the network.
@Suite(.timeLimit(.minutes(10)))
struct NetworkRetryTests {
    private let clock = ManualClock()
    private let network = ManualNetworkMonitor(isOnline: false)
    private let policy = RetryPolicy(baseDelay: .zero, maximumNetworkWait: .seconds(30))
    private let ok = Script.Response.head(200, [:], Data("x".utf8))

    private func fetcher(
        _ transport: any HTTPTransport, _ policy: RetryPolicy? = nil, _ monitor: (any NetworkMonitoring)? = nil
    ) -> HTTPFetcher {
        HTTPFetcher.make(transport, clock: clock) {
            $0.retry = policy ?? self.policy
            $0.networkMonitor = monitor ?? network
        }
    }

    /// Starts a download whose first attempt fails, and returns it when its retry waits for the network.
    private func waitingDownload(_ transport: any HTTPTransport) async throws -> Task<Download, any Error> {
        let fetcher = fetcher(transport)
        let task = Task { try await fetcher.fetch("http://h/a") }
        try await network.waitForWaits()
        try await clock.waitForSleepers(count: 1)
        return task
    }

    @Test(arguments: [HTTPTransportError.Code.offline, .cannotResolveHost, .cannotConnect, .connectionLost, .timedOut])
    func `a retry begins when the network becomes available`(code: HTTPTransportError.Code) async throws {
        let script = Script([.failure(code), ok])
        let task = try await waitingDownload(script)
        clock.advance(by: .seconds(29))
        #expect(script.requests.value.count == 1)

        network.isOnline = true

        #expect(try await task.value.data == Data("x".utf8))
        #expect(network.urls.map(\.absoluteString) == ["http://h/a"])
        #expect(clock.sleeperCount == 0)
    }

    @Test func `after the time given, the error of the attempt is thrown`() async throws {
        let script = Script([.failure(.offline), ok])
        let task = try await waitingDownload(script)

        clock.advance(by: .seconds(30))

        #expect(try await failure { try await task.value }.code == .transport(.offline))
        #expect(script.requests.value.count == 1)
    }

    @Test func `each retry has the time for itself, and the error is that of the last attempt`() async throws {
        let attempts = Watched(0)
        let transport = FakeTransport { [network] _ in
            network.isOnline = false
            let isFirst = attempts.update { count in
                count += 1
                return count == 1
            }
            throw HTTPTransportError(isFirst ? .offline : .connectionLost, "no network")
        }
        let task = try await waitingDownload(transport)
        clock.advance(by: .seconds(20))
        network.isOnline = true
        try await network.waitForWaits(count: 2)
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(29))
        #expect(clock.sleeperCount == 1)

        clock.advance(by: .seconds(1))

        #expect(try await failure { try await task.value }.code == .transport(.connectionLost))
        #expect(attempts.value == 2)
    }

    @Test func `a cancellation ends the wait`() async throws {
        let script = Script([.failure(.offline), ok])
        let task = try await waitingDownload(script)

        task.cancel()

        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(script.requests.value.count == 1)
    }

    @Test func `a retry after a response does not wait for the network`() async throws {
        let script = Script([.head(503, [:]), ok])
        #expect(try await fetcher(script).fetch("http://h/a").data == Data("x".utf8))
        #expect(network.urls.isEmpty)
    }

    @Test func `without a maximum wait, the network is not asked`() async throws {
        let policy = RetryPolicy(baseDelay: .zero)
        let offline = Script([.failure(.offline), ok])
        let error = try await failure { try await fetcher(offline, policy).fetch("http://h/a") }
        #expect(error.code == .transport(.offline))
        let refused = Script([.failure(.cannotConnect), ok])
        #expect(try await fetcher(refused, policy).fetch("http://h/a").data == Data("x".utf8))
        #expect(network.urls.isEmpty)
    }

    @Test func `if the monitor fails, the error of the attempt is thrown`() async throws {
        struct Broken: NetworkMonitoring, Error {
            func waitUntilOnline(for url: URL) async throws { throw self }
        }
        let script = Script([.failure(.connectionLost), ok])
        let error = try await failure { try await fetcher(script, nil, Broken()).fetch("http://h/a") }
        #expect(error.code == .transport(.connectionLost))
        #expect(script.requests.value.count == 1)
    }

    /// A transport without a network for `/a`, and with a response after 40 seconds for others.
    private var halfOffline: FakeTransport {
        FakeTransport { [clock] request in
            if request.url.path == "/a" { throw HTTPTransportError(.offline, "no network") }
            try await clock.sleep(for: .seconds(40))
            return HTTPResponse(head: HTTPResponseHead(url: request.url, status: 200), body: HTTPBody(Data("x".utf8)))
        }
    }

    /// A downloader with one slot.
    private func downloader(_ transport: any HTTPTransport, mirror: HTTPRequest? = nil) -> Downloader {
        var configuration = DownloaderConfiguration(maxConcurrentDownloads: 1)
        configuration.retry = policy
        configuration.networkMonitor = network
        if let mirror { configuration.alternatives = { $0.url.path == "/a" ? [mirror] : [] } }
        return Downloader(transport: transport, configuration: configuration, clock: clock)
    }

    @Test func `a download whose wait for the network ends fails while others have all slots`() async throws {
        let downloader = downloader(halfOffline)
        let waiting = Task { try await downloader.download(try web("http://h/a")) }
        try await network.waitForWaits()
        let other = Task { try await downloader.download(try web("http://h/b")) }
        // The maximum time of the wait, and the other request.
        try await clock.waitForSleepers(count: 2)

        clock.advance(by: .seconds(30))

        #expect(try await failure { try await waiting.value }.code == .transport(.offline))
        #expect(downloader.transferCounts == (1, 0))
        clock.advance(by: .seconds(10))
        #expect(try await other.value.data == Data("x".utf8))
        #expect(downloader.transferCounts == (0, 0))
    }

    @Test func `a download that waits for the network has no slot, and waits for one for its alternative`()
        async throws
    {
        let transport = halfOffline
        let mirror = HTTPRequest(url: try #require(URL(string: "http://h/mirror")))
        let downloader = downloader(transport, mirror: mirror)
        let waiting = Task { try await downloader.download(try web("http://h/a")) }
        try await network.waitForWaits()
        let other = Task { try await downloader.download(try web("http://h/b")) }
        // The maximum time of the wait, and the other request.
        try await clock.waitForSleepers(count: 2)
        #expect(downloader.transferCounts == (1, 1))

        clock.advance(by: .seconds(30))
        try await eventually { downloader.backingOffCount == 0 }
        #expect(downloader.transferCounts == (1, 1))
        clock.advance(by: .seconds(10))
        #expect(try await other.value.data == Data("x".utf8))
        try await clock.waitForSleepers(count: 1)
        #expect(transport.requests.map(\.url.path) == ["/a", "/b", "/mirror"])
        clock.advance(by: .seconds(40))

        #expect(try await waiting.value.data == Data("x".utf8))
        #expect(downloader.transferCounts == (0, 0))
    }
}
