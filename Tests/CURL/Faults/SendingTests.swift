import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import Testing

/// RFC 9110 section 9.2.2: a request that is not idempotent is not sent twice.
@Suite(.timeLimit(.minutes(10)))
struct SendingTests {
    /// Returns a server that responds to `/` and closes the connection for other paths.
    private func origin() throws -> LoopbackOrigin {
        try LoopbackOrigin { request in
            request.path == "/" ? .text("hello").stalling(at: .beforeHead) : .status(200).cutting(at: .beforeHead)
        }
    }

    /// Leaves this many connections idle.
    private func warm(_ transport: CURLTransport, _ origin: LoopbackOrigin, _ count: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let seen = origin.requests.count
            for _ in 0..<count {
                group.addTask {
                    let request = HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120))
                    _ = try await transport.send(request).body.collect(limit: 100)
                }
            }
            try await origin.waitForRequest(count: seen + count)
            origin.release()
            try await group.waitForAll()
        }
    }

    @Test(
        arguments: [("POST", 1), ("PATCH", 1), ("MOVE", 1), ("GET", 2), ("PUT", 2), ("DELETE", 2)], ["", "order=1"])
    func `a request without a response is sent once, or twice if it is idempotent`(
        method: (name: String, maximumCount: Int), body: String
    ) async throws {
        let origin = try origin()
        defer { origin.stop() }
        let transport = CURLTransport()
        try await warm(transport, origin, 4)

        let request = HTTPRequest(
            method: HTTPMethod(rawValue: method.name), url: origin.url(for: "/p"),
            body: body.isEmpty ? nil : Data(body.utf8), idleTimeout: .seconds(120))
        let error = await #expect(throws: HTTPTransportError.self) { try await transport.send(request) }

        #expect(error?.code == .connectionLost)
        #expect(origin.requests.count { $0.path == "/p" } == method.maximumCount)
        // The refused handle does not affect the next.
        try await warm(transport, origin, 1)
    }

    @Test func `a request continues when its reused connection had closed`() async throws {
        let origin = try LoopbackOrigin { $0.attempt == 2 ? .status(200).cutting(at: .beforeHead) : .text("hello") }
        defer { origin.stop() }
        let transport = CURLTransport()
        for _ in 0..<2 {
            let request = HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120))
            #expect(try await transport.send(request).body.collect(limit: 100) == Data("hello".utf8))
        }
        #expect(origin.requests.count == 3)
    }
}
