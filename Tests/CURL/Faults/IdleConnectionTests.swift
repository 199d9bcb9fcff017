import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoLibc
import AlcedoTesting
import FoundationEssentials
import Testing

/// A port of 127.0.0.1 where connections are not established, because too many wait to be accepted.
private final class FullListener: Sendable {
    let url: URL
    private let sockets: [Int32]

    init() throws {
        let listener = Self.makeSocket()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let waiting = (0..<8).map { _ in Self.makeSocket() }
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard bind(listener, address, length) == 0, listen(listener, 0) == 0,
                    getsockname(listener, address, &length) == 0
                else { return false }
                for socket in waiting { _ = connect(socket, address, length) }
                return true
            }
        }
        #expect(isListening)
        sockets = waiting + [listener]
        url = try #require(URL(string: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/"))
    }

    deinit { for socket in sockets { close(socket) } }

    private static func makeSocket() -> Int32 {
        socket(AF_INET, SocketType.stream | SocketType.nonBlocking | SocketType.closeOnExec, 0)
    }
}

/// Connections that change while they are idle.
@Suite(.timeLimit(.minutes(10)))
struct IdleConnectionTests {
    private func text(
        _ path: String, _ origin: LoopbackOrigin, _ transport: CURLTransport, method: HTTPMethod = .get,
        body: Data? = nil
    ) async throws -> String {
        let request = HTTPRequest(
            method: method, url: origin.url(for: path), body: body, idleTimeout: .seconds(120))
        return String(decoding: try await transport.send(request).body.collect(limit: 100), as: UTF8.self)
    }

    /// Returns a server whose response to `/first` declares two bytes. The surplus follows when the server is released.
    private func origin(surplus: String) throws -> LoopbackOrigin {
        try LoopbackOrigin { request in
            guard request.path == "/first" else { return .text("right") }
            return OriginReply(fields: ["Content-Length": "2"], body: Data("ok\(surplus)".utf8))
                .stalling(at: .afterBody(2))
        }
    }

    private static let otherImage = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"

    @Test(arguments: [otherImage, "\n", "\r\n", "x", "HTTP/1.1 200 OK\r\n"], [HTTPMethod.get, .post])
    func `bytes that arrive on an idle connection are not the next response`(
        surplus: String, method: HTTPMethod
    ) async throws {
        let origin = try origin(surplus: surplus)
        defer { origin.stop() }
        let transport = CURLTransport()
        #expect(try await text("/first", origin, transport) == "ok")
        origin.release()
        try await origin.waitUntil { $0.stalledCount == 0 }
        // The surplus is sent before another connection is served.
        #expect(try await text("/other", origin, CURLTransport()) == "right")

        let body = method == .post ? Data("body".utf8) : nil
        #expect(try await text("/second", origin, transport, method: method, body: body) == "right")

        let seen = origin.requests.filter { $0.path == "/second" }
        #expect(seen.map(\.connection) == [3])
    }

    @Test func `connections that were never established do not hide bytes that arrive on others`() async throws {
        let origin = try LoopbackOrigin { request in
            switch request.path {
            case "/held": OriginReply(body: Data("held".utf8), framing: .close).stalling(at: .afterBody(2))
            case "/first":
                OriginReply(fields: ["Content-Length": "2"], body: Data("ok\(Self.otherImage)".utf8))
                    .stalling(at: .afterBody(2))
            default: .text("right")
            }
        }
        defer { origin.stop() }
        let full = try FullListener()
        var options = CURLOptions()
        options.connectTimeout = .milliseconds(300)
        let transport = CURLTransport(options: options)
        // Its connection is the first in the transport's list, and the last one takes its place.
        let held = try await transport.send(HTTPRequest(url: origin.url(for: "/held"), idleTimeout: .seconds(120)))
        // The next connection has the descriptor of one of these.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    let error = await #expect(throws: HTTPTransportError.self) {
                        try await transport.send(HTTPRequest(url: full.url, idleTimeout: .seconds(120)))
                    }
                    #expect(error?.code == .timedOut)
                }
            }
            try await group.waitForAll()
        }

        #expect(try await text("/first", origin, transport) == "ok")
        origin.release()
        #expect(try await held.body.collect(limit: 100) == Data("held".utf8))
        // The surplus is sent before another connection is served.
        #expect(try await text("/other", origin, CURLTransport()) == "right")

        #expect(try await text("/second", origin, transport) == "right")
    }

    @Test(arguments: [HTTPMethod.get, .head, .put])
    func `a request on a dead connection is sent again on a new one, not on the next dead one`(
        method: HTTPMethod
    ) async throws {
        // Each connection carries one request and ends at the second one.
        let origin = try LoopbackOrigin { request in
            if request.path == "/warm" { return .text("warm").stalling(at: .beforeHead) }
            return request.connection <= 4 ? .status(200).cutting(at: .beforeHead, .reset) : .text("right")
        }
        defer { origin.stop() }
        let transport = CURLTransport()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { _ = try await text("/warm", origin, transport) } }
            try await origin.waitForRequest(count: 4)
            origin.release()
            try await group.waitForAll()
        }

        let body = try await text("/second", origin, transport, method: method)

        #expect(body == (method == .head ? "" : "right"))
        #expect(origin.requests.filter { $0.path == "/second" }.map(\.connection).last == 5)
        #expect(origin.requestCount(for: "/second") == 2)
    }

    @Test func `a connection whose server has closed it while idle is not used`() async throws {
        let origin = try LoopbackOrigin { request in
            request.path == "/first"
                ? OriginReply(fields: ["Content-Length": "2"], body: Data("ok".utf8)).framed(.declaredLength(2))
                    .setting("Connection", "keep-alive")
                : .text("right")
        }
        defer { origin.stop() }
        let transport = CURLTransport()
        #expect(try await text("/first", origin, transport) == "ok")
        #expect(try await text("/other", origin, CURLTransport()) == "right")

        // A POST is sent once only, so it would fail on the closed connection.
        #expect(try await text("/second", origin, transport, method: .post, body: Data("a".utf8)) == "right")
        #expect(origin.requestCount(for: "/second") == 1)
    }

    @Test(arguments: [0, -1]) func `without reuse, each request opens its own connection`(limit: Int) async throws {
        let origin = try LoopbackOrigin { _ in .text("right") }
        defer { origin.stop() }
        var options = CURLOptions()
        options.connectionLimit = limit
        let transport = CURLTransport(options: options)
        for _ in 0..<3 { #expect(try await text("/", origin, transport) == "right") }
        #expect(origin.requests.map(\.connection) == [1, 2, 3])
    }

    @Test func `a connection above the limit is closed`() async throws {
        let origin = try LoopbackOrigin { _ in .text("right").stalling(at: .beforeHead) }
        defer { origin.stop() }
        var options = CURLOptions()
        options.connectionLimit = 1
        options.maximumIdleTime = .seconds(3600)
        let transport = CURLTransport(options: options)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 { group.addTask { _ = try await text("/", origin, transport) } }
            try await origin.waitForRequest(count: 3)
            origin.release()
            try await group.waitForAll()
        }
        try await origin.waitForDisconnects(count: 2)
        #expect(origin.state.openConnectionCount == 1)
    }

    @Test func `a response that is not HTTP is an invalid response`() async throws {
        let origin = try LoopbackOrigin { _ in .raw(Data("\nnot HTTP\n".utf8)) }
        defer { origin.stop() }
        let error = await #expect(throws: HTTPTransportError.self) { try await text("/", origin, CURLTransport()) }
        #expect(error?.code == .invalidResponse)
    }
}
