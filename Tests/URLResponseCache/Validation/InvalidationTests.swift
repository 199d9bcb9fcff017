import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import AlcedoURLResponseCache
import FoundationEssentials
import Testing

/// RFC 9111 section 4.4.
@Suite(.timeLimit(.minutes(10)))
struct InvalidationTests {
    @Test(
        arguments: Roles.all,
        [
            ("POST", 200, false), ("PUT", 204, false), ("DELETE", 303, false), ("PATCH", 200, false),
            ("FOO", 200, false), ("post", 200, false), ("POST", 399, false), ("POST", 400, true), ("POST", 500, true),
            ("DELETE", 404, true), ("HEAD", 200, true), ("OPTIONS", 200, true), ("TRACE", 200, true),
        ])
    func `a successful unsafe method invalidates the stored response`(
        role: CacheRole, row: (method: String, status: Int, isKept: Bool)
    ) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60"])
        bench.server.respond(row.status)
        try await bench.send(
            method: HTTPMethod(rawValue: row.method), url: Bench.url("HTTP://EXAMPLE.test:80/a.png#x"))
        bench.server.respond(200)

        #expect(try await bench.send().isHit == row.isKept)
    }

    @Test(
        arguments: Roles.all,
        [
            ("/b.png", false), ("b.png", false), ("http://example.test/b.png", false),
            ("HTTP://EXAMPLE.TEST:80/b.png", false), ("//example.test/b.png#x", false), ("./x/../b.png", false),
            ("https://example.test/b.png", true), ("http://example.test:81/b.png", true),
            ("http://other.test/b.png", true), ("/c.png", true), ("http://[", true), ("", true),
        ])
    func `same-origin URLs named by the response are invalidated`(
        role: CacheRole, row: (location: String, isKept: Bool)
    ) async throws {
        for (name, status) in [
            ("Location", 201), ("Content-Location", 200), ("Location", 500), ("Content-Location", 500),
        ] {
            let bench = Bench(role)
            let other = Bench.url("http://example.test/b.png")
            try await bench.load(["Cache-Control": "max-age=60"], url: other)
            bench.server.respond(status, HTTPFields([.init(name, row.location)]))
            try await bench.send(method: .post)
            bench.server.respond(200)

            #expect(try await bench.send(url: other).isHit == (row.isKept || status == 500))
        }
    }

    @Test(arguments: Roles.all) func `URLs of another origin are not invalidated`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        let victim = Bench.url("http://other.test/b.png")
        try await bench.load(["Cache-Control": "max-age=60"], url: victim)
        bench.server.respond(200, ["Location": "http://other.test/b.png"])
        try await bench.send(method: .post)

        #expect(try await bench.send(url: victim).isHit)
    }

    @Test(arguments: Roles.all) func `invalidation removes all variants`(role: CacheRole) async throws {
        let bench = Bench(role)
        for name in ["a", "b"] {
            try await bench.load(["Cache-Control": "max-age=60", "Vary": "Accept"], for: ["Accept": name])
        }
        bench.server.respond(204, body: "")
        try await bench.send(method: .put)

        for name in ["a", "b"] {
            #expect(try await bench.load(["Vary": "Accept"], body: "new", for: ["Accept": name]).body == "new")
        }
    }

    @Test(arguments: Roles.all) func `an unsafe request without a response invalidates the stored response`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60"])

        await #expect(throws: HTTPTransportError.self) { try await bench.send(method: .post) }

        #expect(await bench.stored() == nil)
    }

    @Test func `a response in flight during an invalidation is not stored`() async throws {
        let bench = Bench()
        bench.server.respond(200, ["Cache-Control": "max-age=60"], body: "old")
        let late = try await bench.cache.send(HTTPRequest(url: Bench.url))
        bench.server.respond(204, body: "")
        try await bench.send(method: .put)

        #expect(try await late.body.collect(limit: 100) == "old".data)

        #expect(await bench.stored() == nil)
        try await bench.load(["Cache-Control": "max-age=60"], body: "new")
        #expect(try await bench.send().body == "new")
    }

    @Test func `a response that is confirmed during its removal does not come back`() async throws {
        let cache = URLResponseCache()
        let server = FakeTransport { request in
            let isConditional = request.fields["If-None-Match"] != nil
            if isConditional { await cache.removeAll() }
            let fields: HTTPFields = ["Cache-Control": "max-age=0", "ETag": "\"a\""]
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: isConditional ? 304 : 200, fields: fields),
                body: HTTPBody(isConditional ? Data() : "old".data))
        }
        let transport = CachingTransport(wrapping: server, cache: cache)
        let request = HTTPRequest(url: Bench.url)
        for _ in 0..<2 { #expect(try await transport.send(request).body.collect(limit: 100) == "old".data) }
        #expect(server.requests.count == 2)
        #expect(await !cache.hasResponse(for: request, ignoringMemory: false))
    }

    @Test(arguments: [true, false])
    func `a response in flight during a removal is not stored`(all: Bool) async throws {
        let (server, cache) = (ScriptedTransport(), URLResponseCache())
        let transport = CachingTransport(wrapping: server, cache: cache)
        let request = HTTPRequest(url: Bench.url)
        server.respond(200, ["Cache-Control": "max-age=60"], body: "old")
        let late = try await transport.send(request)
        if all { await cache.removeAll() } else { await cache.removeAllResponses(for: request) }

        #expect(try await late.body.collect(limit: 100) == "old".data)

        #expect(await !cache.hasResponse(for: request, ignoringMemory: false))
        server.respond(200, ["Cache-Control": "max-age=60"], body: "new")
        #expect(try await transport.send(request).body.collect(limit: 100) == "new".data)
        #expect(await cache.hasResponse(for: request, ignoringMemory: false))
    }
}
