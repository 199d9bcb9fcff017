import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import AlcedoURLResponseCache
import FoundationEssentials
import Testing

/// The cache over a real socket, seen from the server.
@Suite(.timeLimit(.minutes(10)))
struct LoopbackTests {
    private static let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) })

    private let clock = ManualClock()
    private let origin: LoopbackOrigin

    init() throws {
        origin = try LoopbackOrigin { request in
            let fields: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"v\"", "Vary": "Accept-Language"]
            if request.method != .get { return .status(204) }
            if request.path == "/trouble", request.attempt > 1 { return .status(503) }
            if request.fields["If-None-Match"] == "\"v\"" { return .status(304, fields: fields) }
            switch request.path {
            case "/cut" where request.attempt == 1:
                return OriginReply(fields: fields, body: Self.content).cutting(at: .afterBody(70_000))
            case "/cut" where request.fields["Range"] == "bytes=70000-" && request.fields["If-Range"] == "\"v\"":
                let range = HTTPFields(fields.fields + [.init("Content-Range", "bytes 70000-199999/200000")])
                return OriginReply(status: 206, fields: range, body: Self.content.dropFirst(70_000))
            case "/chunked": return OriginReply(fields: fields, body: Self.content).framed(.chunked(size: 9_000))
            default: return OriginReply(fields: fields, body: Self.content)
            }
        }
    }

    private func transport(_ role: CacheRole) -> CachingTransport {
        CachingTransport(
            wrapping: CURLTransport(), store: MemoryResponseStore(), rules: ResponseCacheRules(role: role), clock: clock
        )
    }

    private func request(_ path: String, method: HTTPMethod = .get, _ fields: HTTPFields = [:]) -> HTTPRequest {
        HTTPRequest(method: method, url: origin.url(for: path), fields: fields, idleTimeout: .seconds(120))
    }

    private func load(
        _ request: HTTPRequest, through transport: CachingTransport
    ) async throws -> (head: HTTPResponseHead, body: Data, source: ResponseCaching.Source?) {
        let response = try await transport.send(request)
        return (response.head, try await response.body.collect(limit: 1 << 20), response.caching?.source)
    }

    @Test(arguments: Roles.all, ["/plain", "/chunked"])
    func `a response is new, then fresh, then revalidated, and new again after a change`(
        role: CacheRole, path: String
    ) async throws {
        defer { origin.stop() }
        let transport = transport(role)
        for (source, count) in [(.new, 1), (.fresh, 1), (.revalidated, 2), (.fresh, 2)]
            as [(ResponseCaching.Source, Int)]
        {
            if source == .revalidated { clock.advance(by: .seconds(61)) }
            let received = try await load(request(path), through: transport)
            #expect(received.source == source)
            #expect(received.head.status == 200)
            #expect(received.body == Self.content)
            #expect(origin.requestCount(for: path) == count)
        }
        #expect(try await load(request(path, method: .put), through: transport).head.status == 204)
        #expect(try await load(request(path), through: transport).source == .new)
    }

    @Test(arguments: Roles.all) func `a response truncated by the connection is completed and then served as a whole`(
        role: CacheRole
    ) async throws {
        defer { origin.stop() }
        let transport = transport(role)
        await #expect(throws: HTTPTransportError.self) { try await load(request("/cut"), through: transport) }

        let completed = try await load(request("/cut"), through: transport)

        #expect(completed.head.status == 200)
        #expect(completed.body == Self.content)
        #expect(origin.requests.last?.fields["Range"] == "bytes=70000-")
        #expect(try await load(request("/cut"), through: transport).source == .fresh)
        let range = try await load(request("/cut", ["Range": "bytes=69998-70001"]), through: transport)
        #expect(range.head.status == 206)
        #expect(range.body == Self.content[69_998..<70_002])
    }

    @Test(arguments: Roles.all)
    func `a server error is passed on, and a stale response is served without a server`(role: CacheRole) async throws {
        let transport = transport(role)
        _ = try await load(request("/trouble"), through: transport)
        clock.advance(by: .seconds(61))
        #expect(try await load(request("/trouble"), through: transport).head.status == 503)
        origin.stop()
        clock.advance(by: .seconds(61))

        let received = try await load(request("/trouble"), through: transport)

        #expect(received.source == .stale)
        #expect(received.body == Self.content)
    }

    /// RFC 9110 section 14.4: the field has no meaning with status 200. Each row: its value, and whether the body is
    /// stored.
    @Test(arguments: Roles.all, [("bytes 0-4/10", false), ("bytes 0-4/5", false), ("rows 0-4/5", true), ("x", true)])
    func `a Content-Range on a 200 is ignored, and a part is never stored as the whole`(
        role: CacheRole, row: (value: String, isStored: Bool)
    ) async throws {
        defer { origin.stop() }
        let odd = try LoopbackOrigin { request in
            .ok(Data("hello".utf8)).setting("Content-Range", row.value).setting("Cache-Control", "max-age=60")
        }
        defer { odd.stop() }
        let transport = transport(role)
        for number in 1...2 {
            let received = try await load(
                HTTPRequest(url: odd.url(for: "/"), idleTimeout: .seconds(120)), through: transport)
            #expect(received.head.status == 200)
            #expect(received.body == Data("hello".utf8))
            #expect(received.head.fields["Content-Range"] == row.value)
            #expect(received.source == (row.isStored && number == 2 ? .fresh : .new))
        }
        let range = HTTPRequest(url: odd.url(for: "/"), fields: ["Range": "bytes=1-2"], idleTimeout: .seconds(120))
        let received = try await load(range, through: transport)
        #expect(received.head.status == (row.isStored ? 206 : 200))
        #expect(received.head.fields["Content-Range"] == (row.isStored ? "bytes 1-2/5" : row.value))
    }

    @Test(arguments: Roles.all, ["x-unheard-of", "none", "x-foo, chunked", "chunked, x-foo"])
    func `an unknown transfer coding is an error and is not stored`(
        role: CacheRole, coding: String
    ) async throws {
        defer { origin.stop() }
        for body in ["5\r\nhello\r\n0\r\n\r\n", "0\r\n\r\n", ""] {
            let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: \(coding)\r\n\r\n"
            let odd = try LoopbackOrigin { _ in .raw(Data((head + body).utf8)) }
            defer { odd.stop() }
            let (store, url) = (MemoryResponseStore(), odd.url(for: "/"))
            let transport = CachingTransport(
                wrapping: CURLTransport(), store: store, rules: ResponseCacheRules(role: role), clock: clock)
            for _ in 0..<2 {
                let error = await #expect(throws: HTTPTransportError.self) {
                    try await load(HTTPRequest(url: url, idleTimeout: .seconds(120)), through: transport)
                }
                #expect(error?.code == .invalidResponse)
            }
            #expect(odd.requests.count == 2)
            #expect(store.totalSize == 0)
        }
    }

    @Test(arguments: Roles.all) func `variants and the caller's own condition are served`(role: CacheRole) async throws
    {
        defer { origin.stop() }
        let transport = transport(role)
        _ = try await load(request("/plain", ["Accept-Language": "de, en;q=0.5"]), through: transport)
        #expect(
            try await load(request("/plain", ["Accept-Language": "en; q=0.5,DE"]), through: transport).source == .fresh)
        // The server confirms the German variant for French as well.
        #expect(try await load(request("/plain", ["Accept-Language": "fr"]), through: transport).source == .revalidated)
        #expect(origin.requests.last?.fields["If-None-Match"] == "\"v\"")

        let own = try await load(
            request("/plain", ["Accept-Language": "fr", "If-None-Match": "\"v\""]), through: transport)
        #expect(own.head.status == 304)
        #expect(own.body.isEmpty)
        #expect(own.source == .fresh)
        #expect(origin.requests.count == 2)
    }
}
