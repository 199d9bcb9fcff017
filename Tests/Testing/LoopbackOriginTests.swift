import AlcedoCore
import AlcedoHTTP
import AlcedoLibc
import AlcedoRuntime
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct LoopbackOriginTests {
    private func get(_ target: String = "/", _ fields: String = "") -> String {
        "GET \(target) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n"
    }

    @Test func `a response has the head and body of its reply`() throws {
        let origin = try LoopbackOrigin { _ in .text("hello").setting("ETag", "\"a\"") }
        let client = try RawClient(port: origin.port)

        client.send(get("/", "Connection: close\r\n"))

        let response = try client.receiveAll()
        #expect(response.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(response.contains("ETag: \"a\"\r\n"))
        #expect(response.contains("Content-Length: 5\r\n"))
        #expect(response.hasSuffix("\r\n\r\nhello"))
    }

    @Test func `a connection carries many requests, pipelined ones too`() throws {
        let origin = try LoopbackOrigin { .text($0.target) }
        let client = try RawClient(port: origin.port)

        client.send(get("/a") + get("/b"))
        let first = try client.receiveHead() + client.receive(exactly: 2)
        let second = try client.receiveHead() + client.receive(exactly: 2)

        #expect(first.hasSuffix("/a"))
        #expect(second.hasSuffix("/b"))
        #expect(origin.requests.map(\.connection) == [1, 1])
        #expect(origin.state.connectionCount == 1)
    }

    @Test func `a request is recorded with its method, target, fields and body`() throws {
        let origin = try LoopbackOrigin { _ in .status(204) }
        let client = try RawClient(port: origin.port)

        client.send("POST /p%20q?x=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nX-A: \t b \r\nX-A: c\r\n\r\nbo")
        client.send("dy")
        let response = try client.receiveHead()

        let request = try #require(origin.requests.first)
        #expect(request.method == .post)
        #expect(request.target == "/p%20q?x=1")
        #expect(request.path == "/p%20q")
        #expect(request.query == "x=1")
        #expect(request.fields.values(of: "x-a") == ["b", "c"])
        #expect(request.body == Data("body".utf8))
        #expect(response.hasPrefix("HTTP/1.1 204 "))
        #expect(!response.contains("Content-Length"))
    }

    @Test func `a HEAD response declares the length and has no body`() throws {
        let origin = try LoopbackOrigin { _ in .text("hello") }
        let client = try RawClient(port: origin.port)

        client.send("HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")

        let response = try client.receiveAll()
        #expect(response.contains("Content-Length: 5\r\n"))
        #expect(response.hasSuffix("\r\n\r\n"))
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nA: " + String(repeating: "a", count: 20_000), 431),
        ("GET / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", 413),
        ("GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 501),
        ("GET / HTTP/2.0\r\n\r\n", 400), ("GET /\r\n\r\n", 400), ("GET x HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nno colon\r\n\r\n", 400), ("GET / HTTP/1.1\r\nA : b\r\n\r\n", 400),
        ("\u{16}\u{3}\u{1}", 400), ("\r\nGET\r\n\r\n", 400),
    ])
    func `an invalid request is refused and not recorded`(bytes: String, status: Int) throws {
        let origin = try LoopbackOrigin { _ in .text("never") }
        let client = try RawClient(port: origin.port)

        client.send(bytes)

        #expect(try client.receiveAll().hasPrefix("HTTP/1.1 \(status) "))
        #expect(origin.requests.isEmpty)
    }

    @Test func `a client that expects 100 receives Continue`() throws {
        let origin = try LoopbackOrigin { .text(String(decoding: $0.body, as: UTF8.self)) }
        let client = try RawClient(port: origin.port)

        client.send("PUT / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        let first = try client.receiveHead()
        client.send("ok")
        let second = try client.receiveHead()

        #expect(first == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(second.hasPrefix("HTTP/1.1 200 "))
    }

    @Test func `a stalled reply waits for its release`() async throws {
        let origin = try LoopbackOrigin { _ in .text("hello").stalling(at: .beforeHead).stalling(at: .afterBody(2)) }
        let client = try RawClient(port: origin.port)

        client.send(get())
        try await origin.waitForStalls()
        origin.release()

        let response = try client.receiveHead() + client.receive(exactly: 5)
        #expect(response.hasSuffix("hello"))
        // The client may have the bytes before the origin's thread has counted them.
        try await origin.waitUntil { $0.stalledCount == 0 }
    }

    @Test func `a release applies to requests that have arrived and not to later ones`() async throws {
        let origin = try LoopbackOrigin { _ in .text("hello").stalling(at: .afterBody(2)) }
        let client = try RawClient(port: origin.port)
        client.send(get())
        try await origin.waitForRequest()
        origin.release()
        _ = try client.receiveHead() + client.receive(exactly: 5)

        client.send(get())
        try await origin.waitForStalls()

        #expect(try client.receiveHead().hasPrefix("HTTP/1.1 200"))
        #expect(try client.receive(exactly: 2) == "he")
    }

    @Test func `a client that closes during a stalled reply is detected`() async throws {
        let origin = try LoopbackOrigin { _ in .text("hello").stalling(at: .beforeHead) }
        do {
            let client = try RawClient(port: origin.port)
            client.send(get())
            try await origin.waitForStalls()
        }

        try await origin.waitForDisconnects()

        #expect(origin.state.stalledCount == 0)
        #expect(origin.state.openConnectionCount == 0)
    }

    @Test func `a client that shuts down its sending side receives the rest of the response`() async throws {
        // More than the sockets buffer, so that the origin detects the end before it has sent everything.
        let body = Data(count: 32 << 20)
        let origin = try LoopbackOrigin { _ in .ok(body) }
        let client = try RawClient(port: origin.port)

        client.send(get())
        client.endSending()
        let head = try client.receiveHead()
        var count = 0
        while let bytes = try client.receive() { count += bytes.count }

        #expect(head.hasPrefix("HTTP/1.1 200 "))
        #expect(count == body.count)
        try await origin.waitForDisconnects()
        #expect(origin.state.openConnectionCount == 0)
    }

    @Test func `a cut after some bytes sends those bytes and then closes`() throws {
        let origin = try LoopbackOrigin { _ in .text("hello").cutting(at: .afterBody(2)) }
        let client = try RawClient(port: origin.port)

        client.send(get())

        let response = try client.receiveAll()
        #expect(response.contains("Content-Length: 5\r\n"))
        #expect(response.hasSuffix("\r\n\r\nhe"))
    }

    @Test func `a cut before the head sends nothing`() throws {
        let origin = try LoopbackOrigin { _ in .text("hello").cutting(at: .beforeHead) }
        let client = try RawClient(port: origin.port)

        client.send(get())

        #expect(try client.receiveAll() == "")
    }

    @Test func `a reset is received as a reset`() throws {
        let origin = try LoopbackOrigin { _ in .text("hello").cutting(at: .beforeHead, .reset) }
        let client = try RawClient(port: origin.port)

        client.send(get())

        #expect(throws: RawClient.Errno(number: ECONNRESET)) { try client.receiveAll() }
    }

    @Test(arguments: [3, 9]) func `a declared length may be wrong`(length: Int) throws {
        let origin = try LoopbackOrigin { _ in .text("hello").framed(.declaredLength(length)) }
        let client = try RawClient(port: origin.port)

        client.send(get())

        let response = try client.receiveAll()
        #expect(response.contains("Content-Length: \(length)\r\n"))
        #expect(response.hasSuffix("\r\n\r\nhello"))
    }

    @Test func `a body can be sent in chunks`() throws {
        let origin = try LoopbackOrigin { _ in .text("hello world!").framed(.chunked(size: 10)) }
        let client = try RawClient(port: origin.port)

        client.send(get("/", "Connection: close\r\n"))

        let response = try client.receiveAll()
        #expect(response.contains("Transfer-Encoding: chunked\r\n"))
        #expect(response.hasSuffix("\r\n\r\na\r\nhello worl\r\n2\r\nd!\r\n0\r\n\r\n"))
    }

    @Test func `a chunk can be invalid`() throws {
        let origin = try LoopbackOrigin { _ in .text("hello").framed(.chunked(size: 10, badAfter: 2)) }
        let client = try RawClient(port: origin.port)

        client.send(get())

        #expect(try client.receiveAll().hasSuffix("\r\n\r\n2\r\nhe\r\nno number\r\n"))
    }

    @Test func `raw bytes are sent unchanged`() throws {
        let origin = try LoopbackOrigin { _ in .raw(Data("not HTTP".utf8)) }
        let client = try RawClient(port: origin.port)

        client.send(get())

        #expect(try client.receiveAll() == "not HTTP")
    }

    @Test func `an endless body ends when the client disconnects`() async throws {
        let origin = try LoopbackOrigin { _ in .endless() }
        do {
            let client = try RawClient(port: origin.port)
            client.send(get())
            var count = 0
            while count < 3_000_000, let bytes = try client.receive() { count += bytes.count }
        }

        try await origin.waitForDisconnects()

        #expect(origin.state.openConnectionCount == 0)
    }

    @Test func `an endless body can be cut`() throws {
        let origin = try LoopbackOrigin { _ in .endless(framing: .raw).cutting(at: .afterBody(200_000)) }
        let client = try RawClient(port: origin.port)
        var count = 0

        client.send(get())
        while let bytes = try client.receive() { count += bytes.count }

        #expect(count == 200_000)
    }

    @Test func `a redirect names its target`() throws {
        let origin = try LoopbackOrigin { _ in .redirect(to: "/else", status: 301) }
        let client = try RawClient(port: origin.port)

        client.send(get())

        let response = try client.receiveHead()
        #expect(response.hasPrefix("HTTP/1.1 301 "))
        #expect(response.contains("Location: /else\r\n"))
    }

    @Test func `requests are counted by path, and attempts by target`() throws {
        let attempts = Locked<[Int]>([])
        let origin = try LoopbackOrigin { request in
            attempts.withLock { $0.append(request.attempt) }
            return .status(200)
        }
        let client = try RawClient(port: origin.port)

        client.send(get("/a") + get("/a?q") + get("/a") + get("/b"))
        for _ in 0..<4 { _ = try client.receiveHead() }

        #expect(origin.requestCount(for: "/a") == 3)
        #expect(origin.requestCount(for: "/a?q") == 1)
        #expect(origin.requestCount(for: "/c") == 0)
        #expect(attempts.withLock { $0 } == [1, 1, 2, 1])
    }

    @Test func `the log is bounded and the count is not`() throws {
        var options = OriginOptions()
        options.logLimit = 2
        let origin = try LoopbackOrigin(options: options) { _ in .status(200) }
        let client = try RawClient(port: origin.port)

        client.send(get("/1") + get("/2") + get("/3"))
        for _ in 0..<3 { _ = try client.receiveHead() }

        #expect(origin.requests.map(\.target) == ["/1", "/2"])
        #expect(origin.state.requestCount == 3)
    }

    @Test func `stopping closes connections and the port and ends waits`() async throws {
        let origin = try LoopbackOrigin { _ in .text("hello").stalling(at: .beforeHead) }
        let client = try RawClient(port: origin.port)
        client.send(get())
        try await origin.waitForStalls()
        let waiting = Task { try await origin.waitForRequest(count: 2) }

        origin.stop()

        #expect(try client.receiveAll() == "")
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(throws: RawClient.Errno(number: ECONNREFUSED)) { try RawClient(port: origin.port) }
    }

    @Test func `releasing an origin stops it`() throws {
        var origin: LoopbackOrigin? = try LoopbackOrigin { _ in .text("hello") }
        let port = try #require(origin?.port)
        let client = try RawClient(port: port)
        client.send(get())
        _ = try client.receiveHead() + client.receive(exactly: 5)

        origin = nil

        #expect(throws: RawClient.Errno(number: ECONNREFUSED)) { try RawClient(port: port) }
        #expect(try client.receiveAll() == "")
    }

    @Test func `a wait ends when its task is canceled`() async throws {
        let origin = try LoopbackOrigin { _ in .status(200) }
        let waiting = Task { try await origin.waitForRequest() }

        waiting.cancel()

        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func `connections over the limit wait for their turn`() throws {
        var options = OriginOptions()
        options.connectionLimit = 1
        let origin = try LoopbackOrigin(options: options) { _ in .status(200) }
        var first: RawClient? = try RawClient(port: origin.port)
        first?.send(get())
        #expect(try first?.receiveHead().hasPrefix("HTTP/1.1 200") == true)
        let second = try RawClient(port: origin.port)
        second.send(get())

        #expect(origin.state.connectionCount == 1)
        first = nil

        #expect(try second.receiveHead().hasPrefix("HTTP/1.1 200"))
    }

    @Test func `replies can depend on the path`() throws {
        let origin = try LoopbackOrigin(replies: ["/a": .text("any"), "/a?q": .text("one")])
        let client = try RawClient(port: origin.port)

        client.send(get("/a?q") + get("/a?z") + get("/b"))

        #expect(try client.receiveHead().contains(" 200 "))
        #expect(try client.receive(exactly: 3) == "one")
        #expect(try client.receiveHead().contains(" 200 "))
        #expect(try client.receive(exactly: 3) == "any")
        #expect(try client.receiveHead().contains(" 404 "))
    }
}
