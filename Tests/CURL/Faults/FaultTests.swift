import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import Testing

/// Faulty servers.
@Suite(.timeLimit(.minutes(10)))
struct FaultTests {
    private func receive(
        _ reply: OriginReply, idle: Duration = .seconds(120), firstByte: Duration? = nil, total: Duration? = nil
    ) async throws -> Data {
        let origin = try LoopbackOrigin { _ in reply }
        defer { origin.stop() }
        let request = HTTPRequest(
            url: origin.url(for: "/"), idleTimeout: idle, firstByteTimeout: firstByte, totalTimeout: total)
        return try await CURLTransport().send(request).body.collect(limit: 1 << 20)
    }

    private func code(_ body: () async throws -> Data) async -> HTTPTransportError? {
        await #expect(throws: HTTPTransportError.self) { try await body() }
    }

    private static let half = OriginReply.raw(Data("HTTP/1.1 200 OK\r\nX-A".utf8))

    @Test(arguments: [
        OriginReply.text("x").stalling(at: .beforeHead), half.stalling(at: .afterBody(20)),
        OriginReply.text("hello").stalling(at: .afterBody(0)), OriginReply.text("hello").stalling(at: .afterBody(2)),
        OriginReply(body: Data("hello".utf8), framing: .chunked(size: 2)).stalling(at: .afterBody(3)),
    ])
    func `a silent server ends the transfer in every phase`(reply: OriginReply) async {
        let error = await code { try await receive(reply, idle: .milliseconds(200)) }
        #expect(error?.code == .timedOut)
        #expect(error?.message.hasPrefix("no data from http://127.0.0.1:") == true)
        #expect(error?.message.hasSuffix(" for 0.2 seconds") == true)
    }

    @Test func `the first byte has its own timeout`() async throws {
        let late = await code {
            try await receive(.text("x").stalling(at: .beforeHead), firstByte: .milliseconds(100))
        }
        #expect(late?.code == .timedOut)
        #expect(late?.message.hasPrefix("no response from http://127.0.0.1:") == true)
        #expect(late?.message.hasSuffix(" within 0.1 seconds") == true)
        // The timeout ended with the first byte, so only the total timeout ends this one.
        let slow = await code {
            try await receive(
                .text("hello").stalling(at: .afterBody(2)), firstByte: .seconds(60), total: .milliseconds(500))
        }
        #expect(slow?.message.hasPrefix("the transfer from http://127.0.0.1:") == true)
        #expect(slow?.message.hasSuffix(" took longer than 0.5 seconds") == true)
    }

    @Test func `informational responses do not count as the first byte`() async {
        let hints = "HTTP/1.1 103 Early Hints\r\n\r\n"
        let drip = OriginReply.raw(Data(String(repeating: hints, count: 3).utf8)).stalling(
            at: .afterBody(hints.utf8.count))
        let error = await code { try await receive(drip, firstByte: .milliseconds(100), total: .seconds(3)) }
        #expect(error?.message.hasPrefix("no response from http://127.0.0.1:") == true)
        #expect(error?.message.hasSuffix(" within 0.1 seconds") == true)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Len", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n",
        "HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n",
    ])
    func `a connection that closes within the head is lost`(head: String) async {
        let error = await code { try await receive(.raw(Data(head.utf8))) }
        #expect(error?.code == .connectionLost)
    }

    @Test func `the total timeout applies to active servers and slow readers`() async throws {
        let origin = try LoopbackOrigin { _ in .endless() }
        defer { origin.stop() }
        let request = HTTPRequest(
            url: origin.url(for: "/"), idleTimeout: .seconds(120), totalTimeout: .milliseconds(200))
        let lively = await #expect(throws: HTTPTransportError.self) {
            for try await _ in try await CURLTransport().send(request).body {}
        }
        #expect(lively?.code == .timedOut)

        let transport = CURLTransport()
        let lazy = await #expect(throws: HTTPTransportError.self) {
            let unread = try await transport.send(request)
            try await origin.waitForDisconnects(count: 2)
            for try await _ in unread.body {}
        }
        #expect(lazy?.code == .timedOut)
    }

    @Test func `connecting has its own timeout, including TLS`() async throws {
        // The second connection waits to be accepted, and so for the server's part of the handshake.
        var limits = OriginOptions()
        limits.connectionLimit = 1
        let origin = try LoopbackOrigin(options: limits) { _ in .endless() }
        defer { origin.stop() }
        var options = CURLOptions()
        options.connectTimeout = .seconds(1)
        let transport = CURLTransport(options: options)
        let first = try await transport.send(HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120)))
        let url = try #require(URL(string: "https://127.0.0.1:\(origin.port)/"))

        let error = await #expect(throws: HTTPTransportError.self) {
            try await transport.send(HTTPRequest(url: url, idleTimeout: .seconds(120)))
        }
        #expect(error?.code == .timedOut)
        first.body.cancel()
    }

    @Test func `a body longer than declared ends at its length and affects no other response`() async throws {
        let origin = try LoopbackOrigin { $0.path == "/long" ? Self.long : .text("mine") }
        defer { origin.stop() }
        let transport = CURLTransport()
        for _ in 0..<10 {
            for (path, text) in [("/long", "hello"), ("/", "mine")] {
                let response = try await transport.send(
                    HTTPRequest(url: origin.url(for: path), idleTimeout: .seconds(120)))
                #expect(try await response.body.collect(limit: 100) == Data(text.utf8))
            }
        }
    }

    private static let long = OriginReply(
        body: Data("hello, and HTTP/1.1 200 OK\r\n\r\n".utf8), framing: .declaredLength(5))

    @Test func `an invalid chunk size is an error`() async {
        let reply = OriginReply(body: Data("hello".utf8), framing: .chunked(size: 2, badAfter: 4))
        let error = await code { try await receive(reply) }
        #expect(error?.code == .invalidResponse)
    }

    @Test func `an endless body ends when its reader cancels`() async throws {
        let origin = try LoopbackOrigin { _ in .endless(framing: .chunked(size: 5000)) }
        defer { origin.stop() }
        let response = try await CURLTransport().send(
            HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120)))
        let error = await code { try await response.body.collect(limit: 1 << 20) }
        #expect(error?.code == .bodyTooLarge)
        try await origin.waitForDisconnects()
    }

    @Test(arguments: [1, 10_000]) func `an endless head is an error`(lineLength: Int) async {
        let line = "X-A: \(String(repeating: "a", count: lineLength))\r\n"
        let lines = String(repeating: line, count: (400 << 10) / line.utf8.count)
        let error = await code { try await receive(.raw(Data("HTTP/1.1 200 OK\r\n\(lines)\r\n".utf8))) }
        #expect(error?.code == .invalidResponse)
    }

    @Test func `an endless line in the head is an error`() async {
        let line = String(repeating: "a", count: 400 << 10)
        let error = await code { try await receive(.raw(Data("HTTP/1.1 200 OK\r\nX-A: \(line)\r\n\r\n".utf8))) }
        #expect(error?.code == .invalidResponse)
    }

    @Test func `a reset connection is lost`() async {
        let reply = OriginReply(body: Data(repeating: 1, count: 100_000))
        let error = await code { try await receive(reply.cutting(at: .afterBody(50_000), .reset)) }
        #expect(error?.code == .connectionLost)
    }

    @Test func `a host without an address throws cannotResolveHost or offline`() async throws {
        let url = try #require(URL(string: "http://nobody.invalid/"))
        let error = await #expect(throws: HTTPTransportError.self) {
            try await CURLTransport().send(HTTPRequest(url: url, idleTimeout: .seconds(120)))
        }
        let codes: [HTTPTransportError.Code] = [.cannotResolveHost, .offline]
        #expect(error.map { codes.contains($0.code) } == true)
        #expect(error?.message.contains("nobody.invalid") == true)
    }

    @Test func `a configured proxy is used, and the environment's is not`() async throws {
        let proxy = try LoopbackOrigin { _ in .text("by proxy") }
        let origin = try LoopbackOrigin { _ in .text("direct") }
        defer {
            proxy.stop()
            origin.stop()
        }
        var options = CURLOptions()
        options.proxy = .url(proxy.url)
        let through = try await CURLTransport(options: options).send(
            HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120)))
        #expect(try await through.body.collect(limit: 100) == Data("by proxy".utf8))
        #expect(origin.requests.isEmpty)

        options.proxy = .none
        let direct = try await CURLTransport(options: options).send(
            HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(120)))
        #expect(try await direct.body.collect(limit: 100) == Data("direct".utf8))
    }

    @Test func `canceling a body whose server has gone silent closes the connection`() async throws {
        let origin = try LoopbackOrigin { _ in
            OriginReply(body: Data(count: 100_000)).stalling(at: .afterBody(1_000))
        }
        defer { origin.stop() }
        let transport = CURLTransport()
        for round in 1...50 {
            // Longer than the test may take, so only the cancellation can close the connection.
            let response = try await transport.send(
                HTTPRequest(url: origin.url(for: "/"), idleTimeout: .seconds(3_600)))
            response.body.cancel()
            try await origin.waitForDisconnects(count: round)
        }
    }
}
