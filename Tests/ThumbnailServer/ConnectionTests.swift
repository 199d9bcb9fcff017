import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import thumbnail_server

/// Slow clients, and more connections than the limits allow.
@Suite(.timeLimit(.minutes(10)))
struct ConnectionTests {
    /// Responds to `/health` at once, and to other paths when the gate opens.
    private final class Handler: HTTPHandling {
        let gate = Watched(false)
        let requested = Watched(0)

        func respond(to head: RequestHead) -> HandlerResult {
            requested.update { $0 += 1 }
            guard head.path != "/health" else { return .response(ServerResponse(status: 200, text: "ok\n")) }
            return .asynchronous { [gate] in
                try? await gate.waitUntil { $0 }
                return ServerResponse(status: 200, text: "done\n")
            }
        }

        func overloadResponse() -> ServerResponse { HTTPError.overloaded.response }

        func timeoutResponse(to head: RequestHead) -> ServerResponse { HTTPError.timedOut.response }

        func requestEnded(_ head: RequestHead, status: Int?, byteCount: Int, duration: Duration) {}
    }

    private let clock = ManualClock()
    private let handler = Handler()
    private let lines = Watched<[String]>([])

    private func run(
        _ settings: HTTPServer.Settings, _ test: (HTTPServer) async throws -> Void
    ) async throws {
        let server = try HTTPServer(settings, handler: handler, clock: clock) { [lines] line in
            lines.update { $0.append(line) }
        }
        let result: Result<Void, any Error>
        do { result = .success(try await test(server)) } catch { result = .failure(error) }
        handler.gate.update { $0 = true }
        await server.stop(grace: .zero)
        try result.get()
    }

    private func connect(_ server: HTTPServer, sending text: String = "") throws -> RawClient {
        let client = try RawClient(port: server.port)
        client.send(text)
        return client
    }

    private static let health = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
    private static let slow = "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"

    /// Advances the clock, and lets the server close what is over. The monitor sleeps for 250 ms at a time.
    private func advance(by seconds: Int) async throws {
        for _ in 0..<2 {
            try await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(seconds) / 2)
        }
        try await clock.waitForSleepers(count: 1)
    }

    @Test func `a head that arrives byte by byte has one deadline for the whole of it`() async throws {
        try await run(HTTPServer.Settings(clientTimeout: .seconds(1_000), headTimeout: .seconds(10))) { server in
            let client = try connect(server, sending: Self.health)
            #expect(try client.receiveHead().hasPrefix("HTTP/1.1 200 "))
            #expect(try client.receive(exactly: 3) == "ok\n")
            // A connection without a head is idle, which is allowed for longer.
            try await advance(by: 100)
            client.send("GET /health HTTP/1.1\r\nX: ")
            // The first byte has arrived when another connection has been served.
            _ = try connect(server, sending: Self.health).receiveHead()
            for _ in 0..<5 {
                try await advance(by: 2)
                client.send("a")
            }
            try await advance(by: 2)

            let text = try await client.readToEnd()
            #expect(text.hasPrefix("HTTP/1.1 408 "))
            #expect(text.contains("Connection: close"))
        }
    }

    @Test func `a client with too many connections is refused until one of them has ended`() async throws {
        try await run(HTTPServer.Settings(maxConcurrentConnectionsPerClient: 2)) { server in
            let clients = try (0..<2).map { _ in try connect(server, sending: Self.health) }
            for client in clients { #expect(try client.receiveHead().hasPrefix("HTTP/1.1 200 ")) }

            let refused = try connect(server)
            #expect(try await refused.readToEnd().hasPrefix("HTTP/1.1 503 "))
            for client in clients {
                client.disconnect()
                // Bytes that a refused connection does not read can make the client miss the response.
                try await eventually {
                    (try? connect(server, sending: Self.health).receiveHead())?.hasPrefix("HTTP/1.1 200 ") == true
                }
            }
        }
    }

    @Test func `clients that send no complete head make way for others, however many there are`() async throws {
        try await run(HTTPServer.Settings(maxConcurrentConnections: 4)) { server in
            var slow: [RawClient] = []
            for _ in 0..<4 {
                let client = try connect(server, sending: Self.health)
                _ = try client.receiveHead()
                client.send("GET / HT")
                slow.append(client)
            }
            try await advance(by: 2)
            for _ in 0..<20 {
                let client = try connect(server, sending: Self.health)
                #expect(try client.receiveHead().hasPrefix("HTTP/1.1 200 "))
                slow.append(client)
                try await advance(by: 2)
            }
            // The first ones were closed.
            #expect(try await slow[0].readToEnd().hasPrefix("ok\n"))
        }
    }

    @Test func `when requests occupy all connections, the state of the server can still be requested`() async throws {
        try await run(HTTPServer.Settings(maxConcurrentConnections: 2)) { server in
            let busy = try (0..<2).map { _ in try connect(server, sending: Self.slow) }
            try await handler.requested.waitUntil { $0 == 2 }

            let health = try connect(server, sending: Self.health)
            #expect(try await health.readToEnd().hasPrefix("HTTP/1.1 200 "))
            let other = try connect(server, sending: Self.slow)
            #expect(try await other.readToEnd().hasPrefix("HTTP/1.1 503 "))

            handler.gate.update { $0 = true }
            for client in busy { #expect(try client.receiveHead().hasPrefix("HTTP/1.1 200 ")) }
        }
    }

    @Test func `a connection that is kept serves HTTP 1.0 and 1.1 one request after another`() async throws {
        try await run(HTTPServer.Settings()) { server in
            let client = try connect(
                server, sending: "GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + Self.health + Self.slow)
            #expect(try client.receiveHead().contains("\r\nConnection: keep-alive\r\n"))
            #expect(try client.receive(exactly: 3) == "ok\n")
            #expect(try !client.receiveHead().contains("Connection"))
            #expect(try client.receive(exactly: 3) == "ok\n")
            handler.gate.update { $0 = true }
            client.send("HEAD /health HTTP/1.0\r\n\r\n")
            let rest = try await client.readToEnd()
            #expect(rest.contains("done\n"))
            #expect(rest.hasSuffix("\r\n\r\n"))
            #expect(rest.contains("Content-Length: 3\r\n"))
        }
    }

    @Test(.spawnsProcesses)
    func `a lack of file descriptors is reported once, and the connections are served after it`() async {
        await #expect(processExitsWith: .success) {
            try Scarcity.limitDescriptors(to: 200)
            let lines = Watched<[String]>([])
            let server = try HTTPServer(HTTPServer.Settings(), handler: Handler()) { line in
                lines.update { $0.append(line) }
            }
            var waiting: [RawClient] = []
            for _ in 0..<2 {
                try await Scarcity.withDescriptors(1) {
                    waiting.append(try RawClient(port: server.port))
                    waiting[0].send("GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                    try await lines.waitUntil { !$0.isEmpty }
                }
                // Tasks run one after another here, so a read must not block.
                let response = try await waiting.removeLast().readToEnd()
                #expect(response.hasPrefix("HTTP/1.1 200 "))
            }
            #expect(lines.value.count == 1)
            #expect(lines.value.first?.hasPrefix("cannot accept a connection: ") == true)
        }
    }
}
