import Alcedo
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import thumbnail_server

/// Responses being sent, and clients that do not read them.
@Suite(.timeLimit(.minutes(10)))
struct SendingTests {
    /// Sends large bodies, one for each path.
    private final class Handler: HTTPHandling {
        private let bodies: [String: Data]
        let requested = Watched(0)
        let disconnected = Watched(0)

        init(byteCount: Int) {
            bodies = ["/a": Data(repeating: 1, count: byteCount), "/b": Data(repeating: 2, count: byteCount)]
        }

        func respond(to head: RequestHead) -> HandlerResult {
            requested.update { $0 += 1 }
            return .response(ServerResponse(status: 200, body: bodies[head.target] ?? Data()))
        }

        func overloadResponse() -> ServerResponse { HTTPError.overloaded.response }

        func timeoutResponse(to head: RequestHead) -> ServerResponse { HTTPError.timedOut.response }

        func requestEnded(_ head: RequestHead, status: Int?, byteCount: Int, duration: Duration) {
            if status == nil { disconnected.update { $0 += 1 } }
        }
    }

    private static func run(
        _ settings: HTTPServer.Settings, clock: any TimeSource = SystemClock(),
        _ test: (Handler, HTTPServer) async throws -> Void
    ) async throws {
        // More than the system buffers for a client that reads nothing.
        let handler = Handler(byteCount: 24 << 20)
        let server = try HTTPServer(settings, handler: handler, clock: clock)
        let result: Result<Void, any Error>
        do { result = .success(try await test(handler, server)) } catch { result = .failure(error) }
        await server.stop(grace: .zero)
        try result.get()
    }

    private static func ask(_ target: String, _ server: HTTPServer, method: String = "GET") async throws -> RawClient {
        let client = try RawClient(port: server.port)
        client.send("\(method) \(target) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        return client
    }

    @Test func `a shared body counts once until its last client has received it`() throws {
        let bodies = ResponseBodyPool(limit: 10_000)
        let (a, b) = (Data(repeating: 1, count: 6_000), Data(repeating: 2, count: 6_000))
        var references = [
            try #require(bodies.acquire(a)), try #require(bodies.acquire(a)),
        ]
        #expect(bodies.byteCount == 6_000)
        #expect(bodies.acquire(b) == nil)
        references.removeLast()
        #expect(bodies.byteCount == 6_000)
        #expect(bodies.acquire(b) == nil)
        references.removeLast()
        #expect(bodies.byteCount == 0)
        #expect(bodies.acquire(b) != nil)
    }

    @Test func `a body over the limit is sent alone, and a small one always`() throws {
        let bodies = ResponseBodyPool(limit: 10_000)
        let reference = try #require(bodies.acquire(Data(repeating: 1, count: 20_000)))
        let other = Data(repeating: 2, count: 2_000)
        #expect(bodies.acquire(other) == nil)
        #expect(reference.bytes.count == 20_000)
        #expect(reference.bytes.allSatisfy { $0 == 1 })
    }

    @Test func `unread responses leave space for the same body only`() async throws {
        try await Self.run(HTTPServer.Settings(maximumSendingByteCount: 1 << 20)) { handler, server in
            let slow = try await Self.ask("/a", server)
            try await handler.requested.waitUntil { $0 >= 1 }

            let same = try await Self.ask("/a", server).readToEnd()
            #expect(same.hasPrefix("HTTP/1.1 200 "))
            #expect(same.utf8.count > 24 << 20)
            let other = try await Self.ask("/b", server).readToEnd()
            #expect(other.hasPrefix("HTTP/1.1 503 "))
            #expect(other.contains("Retry-After: 1"))
            let head = try await Self.ask("/b", server, method: "HEAD").readToEnd()
            #expect(head.hasPrefix("HTTP/1.1 200 "))
            #expect(head.contains("Content-Length: \(24 << 20)"))
            slow.disconnect()
        }
    }

    @Test func `a client that reads too slowly is disconnected, and its response is released`() async throws {
        try await Self.run(HTTPServer.Settings(sendingTimeout: .milliseconds(1), maximumSendingByteCount: 1 << 20)) {
            handler, server in
            let slow = try await Self.ask("/a", server)
            try await handler.disconnected.waitUntil { $0 >= 1 }
            let other = try await Self.ask("/b", server, method: "GET")
            try await handler.disconnected.waitUntil { $0 >= 2 }
            // It was not refused, because the earlier response had been released.
            #expect(try await other.readToEnd().hasPrefix("HTTP/1.1 200 "))
            withExtendedLifetime(slow) {}
        }
    }

    /// Sets the clock forward, and returns when the server has closed the connections that are too slow.
    private static func advance(_ clock: ManualClock, by seconds: Int, _ server: HTTPServer) async throws {
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(seconds))
        try await clock.waitForSleepers(count: 1)
        // The loop checks the connections after an event at the latest, so before the next one.
        let client = try RawClient(port: server.port)
        for _ in 0..<2 {
            client.send("HEAD /b HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.receiveHead().hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test func `a client that reads hardly anything is disconnected long before the limit`() async throws {
        let clock = ManualClock()
        try await Self.run(HTTPServer.Settings(sendingTimeout: .seconds(600)), clock: clock) { handler, server in
            let slow = try await Self.ask("/a", server)
            #expect(try slow.receiveHead().hasPrefix("HTTP/1.1 200 "))
            // A sixth of the limit, in which a client need not receive anything.
            try await Self.advance(clock, by: 99, server)
            #expect(handler.disconnected.value == 0)

            // By now, half of the response should have arrived.
            try await Self.advance(clock, by: 252, server)

            #expect(handler.disconnected.value == 1)
            withExtendedLifetime(slow) {}
        }
    }

    @Test func `a client that reads fast enough for the limit is not disconnected`() async throws {
        let clock = ManualClock()
        try await Self.run(HTTPServer.Settings(sendingTimeout: .seconds(600)), clock: clock) { handler, server in
            let client = try await Self.ask("/a", server)
            _ = try client.receiveHead()
            #expect(try client.receive(exactly: 12 << 20).utf8.count == 12 << 20)

            try await Self.advance(clock, by: 348, server)

            #expect(try client.receiveAll().utf8.count == 12 << 20)
            #expect(handler.disconnected.value == 0)
        }
    }

    @Test func `the system holds only a small part of a response for a client that does not read`() async throws {
        // More than the system may hold, and less than it would hold by default.
        let handler = Handler(byteCount: 1 << 20)
        let server = try HTTPServer(HTTPServer.Settings(maximumSendingByteCount: 1), handler: handler)
        let slow = try await Self.ask("/a", server)
        #expect(try slow.receiveHead().hasPrefix("HTTP/1.1 200 "))

        // The first body is still being sent, so there is no space for another one.
        let other = try await Self.ask("/b", server).readToEnd()

        #expect(other.hasPrefix("HTTP/1.1 503 "))
        slow.disconnect()
        await server.stop(grace: .zero)
    }

    @Test func `waiting for connections to end stops at the limit`() async {
        let connections = OpenConnections()
        await connections.waitUntilNone(for: .seconds(300))
        connections.opened()
        for limit in [Duration.zero, .seconds(-1), .nanoseconds(1)] {
            for _ in 0..<1_000 { await connections.waitUntilNone(for: limit) }
        }
        async let all: Void = connections.waitUntilNone(for: .seconds(300))
        connections.closed()
        await all
    }

    @Test func `the server does not wait for connections without a request`() async throws {
        let handler = Handler(byteCount: 1)
        let server = try HTTPServer(HTTPServer.Settings(idleGracePeriod: .zero), handler: handler)
        let (silent, kept) = (try RawClient(port: server.port), try RawClient(port: server.port))
        kept.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
        let text = Task { try await kept.readToEnd() }
        // Connections are accepted in the order in which they were opened, so the silent one is open as well.
        try await handler.requested.waitUntil { $0 >= 1 }
        // The time exceeds the time limit of the test.
        await server.stop(grace: .seconds(900))
        #expect(try await text.value.hasPrefix("HTTP/1.1 200 "))
        #expect(try await silent.readToEnd().isEmpty)
    }
}
