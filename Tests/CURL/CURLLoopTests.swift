import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import Testing

@testable import AlcedoCURL

@Suite(.timeLimit(.minutes(10)))
struct CURLLoopTests {
    private static func request(_ path: String, to origin: LoopbackOrigin) -> HTTPRequest {
        HTTPRequest(url: origin.url(for: path), idleTimeout: .seconds(120))
    }

    private static func transport(maxConcurrentTransfers limit: Int) -> CURLTransport {
        var options = CURLOptions()
        options.maxConcurrentTransfers = limit
        return CURLTransport(options: options)
    }

    @Test func `requests begin in the order they were sent, whatever their host`() async throws {
        let plug = try LoopbackOrigin { _ in .text("x").stalling(at: .beforeHead) }
        // With one slot, each request arrives after the preceding exchange has ended.
        let seen = Watched<[String]>([])
        let origins = try (0..<2).map { _ in
            try LoopbackOrigin { request in
                seen.update { $0.append(request.path) }
                return .text("x")
            }
        }
        defer { for origin in origins + [plug] { origin.stop() } }
        let transport = Self.transport(maxConcurrentTransfers: 1)
        // An immediate task has sent its request when it returns here.
        let first = Task.immediate { try await transport.send(Self.request("/", to: plug)).body.collect(limit: 10) }
        let waiting = [0, 0, 0, 1, 1, 0].enumerated().map { number, host in
            Task.immediate {
                try await transport.send(Self.request("/\(number)", to: origins[host])).body.collect(limit: 10)
            }
        }
        try await plug.waitForStalls()

        waiting[2].cancel()
        plug.release()

        _ = try await first.value
        for (number, task) in waiting.enumerated() where number != 2 { _ = try await task.value }
        await #expect(throws: CancellationError.self) { try await waiting[2].value }
        #expect(seen.value == ["/0", "/1", "/3", "/4", "/5"])
    }

    @Test func `a host may use all slots`() async throws {
        let origin = try LoopbackOrigin { _ in .text("x").stalling(at: .beforeHead) }
        defer { origin.stop() }
        let transport = Self.transport(maxConcurrentTransfers: 20)
        let tasks = (0..<21).map { number in
            Task.immediate { try await transport.send(Self.request("/\(number)", to: origin)).body.collect(limit: 10) }
        }

        try await origin.waitForStalls(count: 20)
        #expect(origin.state.requestCount == 20)
        origin.release()
        try await origin.waitForRequest(count: 21)
        origin.release()

        for task in tasks { #expect(try await task.value == Data("x".utf8)) }
    }

    @Test func `the clock of a transfer starts with its slot`() async throws {
        let plug = try LoopbackOrigin { _ in .text("x").stalling(at: .beforeHead) }
        let origin = try LoopbackOrigin { _ in .text("x") }
        defer { for origin in [plug, origin] { origin.stop() } }
        let transport = Self.transport(maxConcurrentTransfers: 1)
        let first = Task.immediate { try await transport.send(Self.request("/", to: plug)).body.collect(limit: 10) }
        let waiting = Task.immediate {
            let response = try await transport.send(Self.request("/", to: origin))
            _ = try await response.body.collect(limit: 10)
            return response.metrics
        }
        let sent = ContinuousClock.now
        try await plug.waitForStalls()
        // A whole exchange of another transport takes place meanwhile.
        _ = try await CURLTransport().send(Self.request("/other", to: origin)).body.collect(limit: 10)
        let waited = ContinuousClock.now - sent
        plug.release()

        _ = try await first.value
        let metrics = try #require(try await waiting.value)
        #expect(try #require(metrics.queued) >= waited)
        #expect(origin.requests.map(\.path) == ["/other", "/"])
    }

    @Test func `the time before a transfer has its slot counts toward no timeout`() throws {
        let now = ContinuousClock.now
        let clock = TransferClock(enqueued: now - .seconds(3_600))
        let url = try #require(URL(string: "http://h/"))
        for request in [
            HTTPRequest(url: url, idleTimeout: .seconds(1)),
            HTTPRequest(url: url, idleTimeout: .seconds(60), firstByteTimeout: .seconds(1)),
            HTTPRequest(url: url, idleTimeout: .seconds(60), totalTimeout: .seconds(1)),
        ] {
            #expect(try #require(clock.deadline(CURLTimeouts(request))).time >= now + .seconds(1))
        }
    }

    @Test func `a server that timed out is unresponsive until it responds`() {
        var servers = UnresponsiveServers()
        servers.recordTimeout("a")
        #expect(servers.contains("a"))
        #expect(!servers.contains("b"))
        servers.recordResponse("b")
        #expect(servers.contains("a"))
        servers.recordResponse("a")
        #expect(!servers.contains("a"))
    }
}
