import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import Testing

/// The optional cookie jar of a transport.
@Suite(.timeLimit(.minutes(10)))
struct CookieTests {
    private let transport: CURLTransport
    private let clock = ManualClock()

    init() {
        var options = CURLOptions()
        options.keepsCookies = true
        transport = CURLTransport(options: options, clock: clock)
    }

    /// Returns an origin that sets the cookies of a path's response.
    private func origin(_ cookies: @escaping @Sendable (_ path: String) -> [String]) throws -> LoopbackOrigin {
        try LoopbackOrigin { request in
            OriginReply(fields: HTTPFields(cookies(request.path).map { HTTPFields.Field("Set-Cookie", $0) }))
        }
    }

    private func send(_ url: URL, _ method: HTTPMethod = .get, cookie: String? = nil) async throws {
        var request = HTTPRequest(method: method, url: url, idleTimeout: .seconds(120))
        request.fields["Cookie"] = cookie
        let response = try await transport.send(request)
        _ = try await response.body.collect(limit: 10)
    }

    private func sent(to origin: LoopbackOrigin) -> [String?] { origin.requests.map { $0.fields["Cookie"] } }

    @Test func `a cookie is sent to its path by every handle of the transport`() async throws {
        let origin = try origin { $0 == "/set" ? ["a=1; Path=/", "b=2; Path=/deep"] : [] }
        defer { origin.stop() }

        try await send(origin.url(for: "/set"))
        for (path, method) in [("/", HTTPMethod.get), ("/deep/x", .get), ("/", .post), ("/", .head), ("/", .get)] {
            try await send(origin.url(for: path), method)
        }

        #expect(sent(to: origin) == [nil, "a=1", "b=2; a=1", "a=1", "a=1", "a=1"])
    }

    @Test func `a cookie is not sent to another host or after it expires`() async throws {
        let origin = try origin { $0 == "/set" ? ["a=1; Path=/"] : $0 == "/end" ? ["a=; Max-Age=0; Path=/"] : [] }
        defer { origin.stop() }
        let elsewhere = try #require(URL(string: "http://localhost:\(origin.port)/"))

        try await send(origin.url(for: "/set"))
        try await send(elsewhere)
        try await send(origin.url(for: "/end"))
        try await send(origin.url(for: "/"))

        #expect(sent(to: origin) == [nil, nil, "a=1", nil])
    }

    @Test(arguments: [-1.0, 1.0])
    func `cookies are deleted when the clock is set a year forward or back`(direction: Double) async throws {
        let origin = try origin { $0 == "/set" ? ["a=1; Max-Age=86400; Path=/"] : [] }
        defer { origin.stop() }
        let start = clock.now
        try await send(origin.url(for: "/set"))
        clock.advance(by: .seconds(3_600))
        try await send(origin.url(for: "/kept"))

        clock.setDate(start + direction * 365 * 24 * 60 * 60)
        try await send(origin.url(for: "/own"), cookie: "mine=3")
        try await send(origin.url(for: "/lost"))
        try await send(origin.url(for: "/set"))
        try await send(origin.url(for: "/kept"))
        clock.setDate(start)
        try await send(origin.url(for: "/lost"))

        #expect(sent(to: origin) == [nil, "a=1", "mine=3", nil, nil, "a=1", nil])
    }

    @Test func `a request with its own cookies sends only these and stores none`() async throws {
        let origin = try origin { $0 == "/set" ? ["a=1; Path=/"] : ["b=2; Path=/"] }
        defer { origin.stop() }

        try await send(origin.url(for: "/set"))
        try await send(origin.url(for: "/own"), cookie: "mine=3")
        try await send(origin.url(for: "/set"))

        #expect(sent(to: origin) == [nil, "mine=3", "a=1"])
    }

    @Test func `each transport has its own cookie jar`() async throws {
        let origin = try origin { _ in ["a=1; Path=/"] }
        defer { origin.stop() }
        try await send(origin.url(for: "/"))

        try await CookieTests().send(origin.url(for: "/"))

        #expect(sent(to: origin) == [nil, nil])
    }

    @Test func `concurrent transfers share the cookie jar`() async throws {
        let origin = try origin { ["c\($0.dropFirst())=1; Path=/"] }
        defer { origin.stop() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 { group.addTask { try await send(origin.url(for: "/\(number)")) } }
            try await group.waitForAll()
        }

        try await send(origin.url(for: "/20"))

        let cookies = try #require(sent(to: origin).last ?? nil).split(separator: "; ")
        #expect(Set(cookies) == Set((0..<20).map { "c\($0)=1" }))
    }

    @Test func `the cookie jar is bounded`() async throws {
        let filler = String(repeating: "x", count: 4_000)
        let origin = try origin { path in
            if path == "/set" { return ["a=1; Path=/"] }
            return path == "/" ? [] : (0..<45).map { "n\(path.dropFirst())-\($0)=\(filler); Path=/never" }
        }
        defer { origin.stop() }
        try await send(origin.url(for: "/set"))
        try await send(origin.url(for: "/"))

        // 45 cookies per response. The 24th exceeds the bound of 4 MiB.
        for number in 1...30 { try await send(origin.url(for: "/\(number)")) }
        try await send(origin.url(for: "/"))
        #expect(sent(to: origin).last == .some(nil))
        try await send(origin.url(for: "/set"))
        try await send(origin.url(for: "/"))

        let sent = sent(to: origin)
        #expect(sent[1] == "a=1")
        #expect(sent.last == "a=1")
    }
}
