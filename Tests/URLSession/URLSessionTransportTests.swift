import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import AlcedoURLSession
import FoundationEssentials
import Testing

@Suite(.timeLimit(.minutes(10))) struct URLSessionTransportTests {
    private let transport = URLSessionTransport()

    private func send(
        _ reply: OriginReply, method: HTTPMethod = .get
    ) async throws -> (HTTPResponseHead, Data) {
        let origin = try LoopbackOrigin { _ in reply }
        let response = try await transport.send(
            HTTPRequest(method: method, url: origin.url(for: "/"), idleTimeout: .seconds(120)))
        return (response.head, try await response.body.collect(limit: 8 << 20))
    }

    private func expect(
        _ code: HTTPTransportError.Code, from reply: OriginReply, at location: SourceLocation = #_sourceLocation
    ) async {
        let error = await #expect(throws: HTTPTransportError.self, sourceLocation: location) { try await send(reply) }
        #expect(error?.code == code, "\(error?.message ?? "")", sourceLocation: location)
    }

    @Test(arguments: TransportConformance.checks)
    func `the URLSession transport passes each conformance check`(check: TransportConformance.Check) async throws {
        try await check { _ in URLSessionTransport() }
    }

    @Test func `head and body arrive unchanged`() async throws {
        let body = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let reply = OriginReply(status: 203, fields: ["X-A": "caf\u{C3}\u{A9}"], body: body)
        let origin = try LoopbackOrigin { _ in reply }

        let response = try await transport.send(HTTPRequest(url: origin.url(for: "/a?b=c"), idleTimeout: .seconds(120)))

        #expect(response.head.status == 203)
        #expect(response.head.url == origin.url(for: "/a?b=c"))
        #expect(response.head.fields["x-a"] == "caf\u{C3}\u{A9}")
        #expect(try await response.body.collect(limit: body.count) == body)
        #expect(origin.requests.map(\.target) == ["/a?b=c"])
    }

    @Test func `method, fields and body of a request arrive`() async throws {
        let origin = try LoopbackOrigin { _ in .status(204) }
        var request = HTTPRequest(
            method: .put, url: origin.url, fields: ["X-A": "b"], body: Data("body".utf8), idleTimeout: .seconds(120))
        request.fields.append("X-A", "c")
        request.fields["X-Empty"] = ""

        _ = try await transport.send(request)

        let seen = try #require(origin.requests.first)
        #expect(seen.method == .put)
        #expect(seen.fields["X-A"] == "b, c")
        #expect(seen.fields["X-Empty"] == "")
        #expect(seen.fields["Cookie"] == nil)
        #expect(seen.body == Data("body".utf8))
    }

    @Test func `an encoded body is decoded, whatever the request says`() async throws {
        // "alcedo alcedo alcedo alcedo", by gzip.
        let packed: [UInt8] = [
            0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x4b, 0xcc, 0x49, 0x4e, 0x4d, 0xc9, 0x57, 0x48,
            0xc4, 0x42, 0x01, 0x00, 0x4e, 0x2f, 0xfe, 0xc0, 0x1b, 0x00, 0x00, 0x00,
        ]
        let origin = try LoopbackOrigin { _ in
            OriginReply(fields: ["Content-Encoding": "gzip"], body: Data(packed))
        }
        defer { origin.stop() }

        for fields: HTTPFields in [HTTPFields(), ["Accept-Encoding": "gzip"], ["Range": "bytes=0-"]] {
            let response = try await transport.send(
                HTTPRequest(url: origin.url(for: "/"), fields: fields, idleTimeout: .seconds(120)))
            let body = try await response.body.collect(limit: 100)
            #expect(String(decoding: body, as: UTF8.self) == "alcedo alcedo alcedo alcedo")
        }
    }

    @Test(arguments: [404, 500, 304, 204, 999]) func `the transport returns every status as a response`(status: Int)
        async throws
    {
        #expect(try await send(.status(status)).0.status == status)
    }

    @Test(arguments: ["Basic realm=\"x\"", "Basic", "Bearer error=\"x\"", "Digest realm=\"x\", nonce=\"y\""])
    func `a 401 with a challenge is returned with its body`(challenge: String) async throws {
        let (head, body) = try await send(
            OriginReply(status: 401, fields: ["WWW-Authenticate": challenge], body: Data("who?".utf8)))

        #expect(head.status == 401)
        #expect(head.fields["WWW-Authenticate"] == challenge)
        #expect(body == Data("who?".utf8))
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func `a redirect is returned, not followed`(status: Int) async throws {
        let reply = OriginReply(status: status, fields: ["Location": "/else"], body: Data("moved".utf8))
        let origin = try LoopbackOrigin { _ in reply }

        let response = try await transport.send(HTTPRequest(url: origin.url, idleTimeout: .seconds(120)))

        #expect(response.head.status == status)
        #expect(response.head.fields["Location"] == "/else")
        #expect(try await response.body.collect(limit: 100) == Data("moved".utf8))
        #expect(origin.requests.count == 1)
    }

    @Test func `a redirect without a Location is returned without its body`() async throws {
        let (head, body) = try await send(OriginReply(status: 302, body: Data("moved".utf8)))

        #expect(head.status == 302)
        #expect(body.isEmpty)
    }

    @Test func `a HEAD response has its length and no body`() async throws {
        let (head, body) = try await send(.text("hello"), method: .head)

        #expect(head.fields["Content-Length"] == "5")
        #expect(body.isEmpty)
    }

    @Test func `informational responses are skipped`() async throws {
        let bytes = "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

        let (head, body) = try await send(.raw(Data(bytes.utf8)))

        #expect(head.status == 200)
        #expect(body == Data("hi".utf8))
    }

    @Test(arguments: [OriginReply.Framing.contentLength, .chunked(size: 3), .close])
    func `a body may have any framing`(framing: OriginReply.Framing) async throws {
        #expect(try await send(.text("hello world").framed(framing)).1 == Data("hello world".utf8))
    }

    @Test(arguments: [
        OriginReply.text("hello").cutting(at: .beforeHead), .text("hello").cutting(at: .beforeHead, .reset),
        .text("hello").cutting(at: .afterBody(0)), .text("hello").cutting(at: .afterBody(2)),
        .text("hello").cutting(at: .afterBody(2), .reset), .text("hello").framed(.declaredLength(9)),
        .text("hello").framed(.chunked(size: 2)).cutting(at: .afterBody(4)),
    ])
    func `a closed connection throws connectionLost`(reply: OriginReply) async {
        await expect(.connectionLost, from: reply)
    }

    @Test func `bytes after the declared length are not part of the body`() async throws {
        #expect(try await send(.text("hello").framed(.declaredLength(3))).1 == Data("hel".utf8))
    }

    @Test(arguments: [
        OriginReply.raw(Data("not HTTP at all\r\n\r\n".utf8)),
        .raw(Data("HTTP/1.1 99 OK\r\n\r\n".utf8)),
    ])
    func `a response that is not HTTP is invalid`(reply: OriginReply) async {
        await expect(.invalidResponse, from: reply)
    }

    /// FoundationNetworking distinguishes these from a lost connection only by libcurl's text.
    @Test(arguments: [
        OriginReply.raw(Data("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello".utf8)),
        .raw(Data("HTTP/1.1 200 OK\r\nno colon\r\n\r\n".utf8)),
        .raw(Data("HTTP/1.1 200 OK\r\nX: \u{0}\r\n\r\n".utf8)),
        .raw(Data("HTTP/1.1 200 OK\r\nX: ".utf8) + [0xE9] + Data("\r\n\r\n".utf8)),
        .text("hello").framed(.chunked(size: 2, badAfter: 2)),
        .text("hello").setting("Content-Encoding", "gzip"),
    ])
    func `a malformed response is a lost connection`(reply: OriginReply) async {
        await expect(.connectionLost, from: reply)
    }

    @Test func `a silent server times out`() async throws {
        let origin = try LoopbackOrigin { _ in .text("hello").stalling(at: .beforeHead) }
        let request = HTTPRequest(url: origin.url, idleTimeout: .milliseconds(100))

        let error = await #expect(throws: HTTPTransportError.self) { try await transport.send(request) }

        #expect(error?.code == .timedOut)
        try await origin.waitForDisconnects()
    }

    @Test func `a stalled body times out`() async throws {
        let origin = try LoopbackOrigin { _ in .text("hello").stalling(at: .afterBody(2)) }
        let request = HTTPRequest(url: origin.url, idleTimeout: .seconds(1))

        let error = await #expect(throws: HTTPTransportError.self) {
            try await transport.send(request).body.collect(limit: 100)
        }

        #expect(error?.code == .timedOut)
    }

    @Test func `a port without a server cannot be connected to`() async throws {
        let nobody = try ClosedPort()
        defer { nobody.free() }

        let error = await #expect(throws: HTTPTransportError.self) {
            try await transport.send(HTTPRequest(url: nobody.url, idleTimeout: .seconds(120)))
        }

        #expect(error?.code == .cannotConnect)
    }

    @Test func `HTTPS to a plain HTTP server fails`() async throws {
        let origin = try LoopbackOrigin { _ in .text("hello") }
        let url = try #require(URL(string: "https://127.0.0.1:\(origin.port)/"))

        let error = await #expect(throws: HTTPTransportError.self) {
            try await transport.send(HTTPRequest(url: url, idleTimeout: .seconds(120)))
        }

        #expect(error?.code == .secureConnectionFailed)
    }

    @Test func `an invalid request is refused before it is sent`() async throws {
        let origin = try LoopbackOrigin { _ in .text("hello") }
        let requests = [
            HTTPRequest(url: try #require(URL(string: "ftp://127.0.0.1/"))),
            HTTPRequest(url: try #require(URL(string: "http:///path"))),
            HTTPRequest(method: HTTPMethod(rawValue: "GET /\r\n"), url: origin.url),
            HTTPRequest(method: HTTPMethod(rawValue: ""), url: origin.url),
            HTTPRequest(url: origin.url, body: Data("body".utf8)),
            HTTPRequest(url: origin.url, fields: ["X-A": "b\r\nX-B: c"]),
            HTTPRequest(url: origin.url, fields: ["X A": "b"]),
            HTTPRequest(url: origin.url, fields: ["X-A": "\u{E9}"]),
        ]

        for request in requests {
            let error = await #expect(throws: HTTPTransportError.self) { try await transport.send(request) }
            #expect(error?.code == .invalidRequest)
        }

        #expect(origin.requests.isEmpty)
    }

    @Test func `a body over the unread limit ends, and the bytes received before it can be read`() async throws {
        let transport = URLSessionTransport(maximumUnreadByteCount: 1 << 20)
        let origin = try LoopbackOrigin { _ in .endless() }

        let response = try await transport.send(HTTPRequest(url: origin.url, idleTimeout: .seconds(120)))
        try await origin.waitForDisconnects()

        var count = 0
        let error = await #expect(throws: HTTPTransportError.self) {
            for try await piece in response.body { count += piece.count }
        }
        #expect(error?.code == .bodyTooLarge)
        #expect(count > 0)
        #expect(count <= HTTPBodyPipe.capacity)
    }

    @Test func `a body larger than the pipe waits for its reader`() async throws {
        let body = Data((0..<(4 << 20)).map { UInt8(truncatingIfNeeded: $0 >> 8) })
        let origin = try LoopbackOrigin { $0.path == "/big" ? .ok(body) : .status(204) }
        let response = try await transport.send(HTTPRequest(url: origin.url(for: "/big"), idleTimeout: .seconds(120)))
        // By the end of a second exchange the first could have run many times.
        _ = try await transport.send(HTTPRequest(url: origin.url, idleTimeout: .seconds(120)))

        #expect(try await response.body.collect(limit: body.count) == body)
    }

    @Test func `a transport that is shut down ends its transfers and refuses new ones`() async throws {
        let origin = try LoopbackOrigin { _ in .text("hello").stalling(at: .beforeHead) }
        let url = origin.url
        let running = Task { [transport] in try await transport.send(HTTPRequest(url: url, idleTimeout: .seconds(120)))
        }
        try await origin.waitForStalls()

        transport.shutDown()

        let first = await #expect(throws: HTTPTransportError.self) { _ = try await running.value }
        let second = await #expect(throws: HTTPTransportError.self) {
            try await transport.send(HTTPRequest(url: url, idleTimeout: .seconds(120)))
        }
        #expect(first?.code == .shutDown)
        #expect(second?.code == .shutDown)
    }

    @Test func `a body outlives its transport`() async throws {
        let origin = try LoopbackOrigin { _ in .text("hello").stalling(at: .afterBody(2)) }
        let response = try await URLSessionTransport().send(HTTPRequest(url: origin.url, idleTimeout: .seconds(120)))

        origin.release()

        #expect(try await response.body.collect(limit: 100) == Data("hello".utf8))
    }
}
