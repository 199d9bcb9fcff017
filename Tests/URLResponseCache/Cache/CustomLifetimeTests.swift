import AlcedoCore
import AlcedoDiskCache
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoURLResponseCache

/// The app's time to live. After it a response is removed, whatever its headers contain.
@Suite(.timeLimit(.minutes(10)))
struct CustomLifetimeTests {
    private static let long: HTTPFields = [
        "Cache-Control": "max-age=100000, stale-while-revalidate=100000, stale-if-error=100000", "ETag": "\"v\"",
    ]
    private static let brief: HTTPFields = [
        "Cache-Control": "max-age=5, stale-while-revalidate=100000, stale-if-error=100000", "ETag": "\"v\"",
    ]

    private func bench(_ role: CacheRole, extending: Bool = false, seconds: Int = 600) -> Bench {
        Bench(role) {
            $0.lifetime = { _, _ in .seconds(seconds) }
            $0.lifetimeExtendsFreshness = extending
        }
    }

    /// The 600 seconds of the article on `NSURLCache`.
    @Test(arguments: Roles.all, [long, brief])
    func `a response expires after its time to live of 600 seconds under every policy`(
        role: CacheRole, fields: HTTPFields
    ) async throws {
        let (server, clock) = (ScriptedTransport(), ManualClock())
        var rules = ResponseCacheRules(role: role)
        rules.lifetime = { _, _ in .seconds(600) }
        let cache = URLResponseCache(rules: rules, clock: clock)
        let transport = CachingTransport(wrapping: server, cache: cache)
        let plain = HTTPRequest(url: Bench.url)
        server.respond(200, fields, body: "first")
        _ = try await CollectedResponse(transport.send(plain))
        clock.advance(by: .seconds(599))
        #expect(await cache.response(for: plain)?.body == "first".data)
        #expect(
            try await CollectedResponse(
                transport.send(HTTPRequest(url: Bench.url, fields: ["Cache-Control": "max-stale"]))
            ).isHit)

        clock.advance(by: .seconds(1))

        #expect(await cache.response(for: plain) == nil)
        #expect(await !cache.hasResponse(for: plain, ignoringMemory: false))
        #expect(cache.memoryUsage == 0)
        // The server is unreachable, and no stale response is used.
        for fields in [[:], ["Cache-Control": "max-stale"], ["Cache-Control": "stale-if-error=100000"]] as [HTTPFields]
        {
            await #expect(throws: HTTPTransportError.self) {
                try await transport.send(HTTPRequest(url: Bench.url, fields: fields))
            }
        }
        #expect(server.requests.count == 4)
        #expect(server.requests.allSatisfy { $0.fields["If-None-Match"] == nil })
    }

    @Test(arguments: Roles.all, HTTPCachePolicy.allCases)
    func `after its time to live a response is a miss for every policy`(
        role: CacheRole, policy: HTTPCachePolicy
    ) async throws {
        for fields in [Self.long, Self.brief] {
            let bench = bench(role)
            try await bench.load(fields, body: "first")
            bench.advance(600)
            guard policy != .returnCacheDataDontLoad else {
                #expect(try await bench.find()?.body == nil)
                continue
            }
            bench.server.respond(200, fields, body: "second")

            let received = try await bench.send(policy: policy)

            #expect(received.body == "second")
            #expect(received.source == .new)
            #expect(bench.server.requests.last?.fields["If-None-Match"] == nil)
        }
    }

    @Test(arguments: Roles.all) func `a response past its time to live does not replace a server error`(
        role: CacheRole
    ) async throws {
        let bench = bench(role)
        try await bench.load(Self.brief, body: "first")
        // The response is present when the request begins, and has expired when the server fails.
        bench.advance(599)
        bench.server.respond { [clock = bench.clock] request in
            clock.advance(by: .seconds(1))
            return HTTPResponse(head: .init(url: request.url, status: 503), body: .init("trouble".data))
        }

        #expect(try await bench.send(["Cache-Control": "max-age=1, stale-if-error=100000"]).body == "trouble")
    }

    /// Each row: the response's fields, whether the rule extends freshness, and the freshness lifetime.
    @Test(
        arguments: Roles.all,
        [
            (["Cache-Control": "max-age=5"], false, 5), (["Cache-Control": "max-age=100000"], false, 600),
            (["Expires": "0"], false, 0), ([:], false, 0), (["Last-Modified": date(-1_000)], false, 100),
            (["Last-Modified": date(-100_000)], false, 600),
            (["Cache-Control": "max-age=700", "Age": "650"], false, 50),
            (["Cache-Control": "max-age=100000", "Age": "5000"], false, 600),
            (["Cache-Control": "max-age=5"], true, 600),
            (["Expires": "0"], true, 600), ([:], true, 600), (["Cache-Control": "max-age=1", "Age": "900"], true, 600),
            (["Cache-Control": "no-cache"], true, 0),
        ] as [(HTTPFields, Bool, Int)])
    func `the time to live caps freshness and extends it only when the rules allow it`(
        role: CacheRole, row: (fields: HTTPFields, extends: Bool, seconds: Int)
    ) async throws {
        for (age, isFresh) in [(row.seconds - 1, true), (row.seconds, false)] where age >= 0 {
            let bench = bench(role, extending: row.extends)
            try await bench.load(row.fields)
            bench.advance(age)
            bench.server.respond(200, row.fields)
            #expect(try await bench.send().isHit == isFresh, "after \(age) seconds")
        }
    }

    @Test(arguments: Roles.all) func `a hit reports its remaining freshness under the cap`(role: CacheRole) async throws
    {
        let bench = bench(role)
        try await bench.load(["Cache-Control": "max-age=100000"])
        bench.advance(200)

        #expect(try await bench.send().cacheStatus == "alcedo; hit; ttl=400")
    }

    @Test(arguments: Roles.all) func `the rule receives request and head, and may defer to the headers`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role) {
            $0.lifetime = { head, request in
                request.url == Bench.url && head.fields["X-Brief"] != nil ? .seconds(60) : nil
            }
        }
        let other = Bench.url("http://example.test/b.png")
        try await bench.load(["Cache-Control": "max-age=1000", "X-Brief": "1"], body: "brief")
        try await bench.load(["Cache-Control": "max-age=1000", "X-Brief": "1"], body: "long", url: other)
        bench.advance(100)

        #expect(try await bench.find()?.body == nil)
        #expect(try await bench.send(url: other).isHit)
    }

    @Test(arguments: Roles.all, [("no-store", 600), ("max-age=60", 0), ("max-age=60", -5)] as [(String, Int)])
    func `a response that must not be stored or has no time to live is not stored`(
        role: CacheRole, row: (control: String, seconds: Int)
    ) async throws {
        let bench = bench(role, extending: true, seconds: row.seconds)
        try await bench.load(["Cache-Control": row.control])

        #expect(await bench.stored() == nil)
        #expect(try await !bench.load(["Cache-Control": row.control]).isHit)
    }

    @Test(arguments: Roles.all) func `the time to live restarts with each validation`(role: CacheRole) async throws {
        let bench = bench(role)
        try await bench.load(["ETag": "\"v\""])
        bench.advance(599)
        #expect(
            try await bench.load(["ETag": "\"v\"", "Cache-Control": "max-age=9999"], status: 304).source == .revalidated
        )
        bench.advance(599)
        #expect(try await bench.send().isHit)
        bench.advance(1)

        #expect(try await bench.find()?.body == nil)
    }

    @Test(arguments: Roles.all) func `a clock that is set back ends the time to live`(role: CacheRole) async throws {
        let bench = bench(role)
        try await bench.load(Self.long)
        bench.clock.setDate(start - 1)

        #expect(try await bench.find()?.body == nil)
    }

    @Test(arguments: Roles.all) func `variants and parts past their time to live are not offered for validation`(
        role: CacheRole
    ) async throws {
        let bench = bench(role)
        let varying = HTTPFields(Self.long.fields + [.init("Vary", "Accept")])
        let part = HTTPFields(Self.long.fields + [.init("Content-Range", "bytes 0-3/8")])
        let other = Bench.url("http://example.test/b.png")
        try await bench.load(varying, body: "first", for: ["Accept": "a"])
        try await bench.load(part, status: 206, body: "0123", for: ["Range": "bytes=0-3"], url: other)
        bench.advance(600)

        // The server confirms the tag of a variant that has been removed, and then receives a full request.
        bench.server.respond(304, ["ETag": "\"v\""], body: "")
        #expect(try await bench.load(varying, body: "second", for: ["Accept": "b"]).body == "second")
        // The later part is not extended by the bytes of the earlier one.
        let rest = HTTPFields(Self.long.fields + [.init("Content-Range", "bytes 4-7/8")])
        try await bench.load(rest, status: 206, body: "4567", for: ["Range": "bytes=4-7"], url: other)
        bench.server.respond(200, Self.long, body: "whole")
        #expect(try await bench.send(url: other).body == "whole")
        #expect(bench.server.requests.last?.fields["Range"] == nil)
    }

    @Test func `the time to live is stored on disk`() async throws {
        let directory = try TemporaryDirectory()
        let (server, clock) = (ScriptedTransport(), ManualClock())
        func cache() -> URLResponseCache {
            var rules = ResponseCacheRules()
            rules.lifetime = { _, _ in .seconds(600) }
            let disk = FileDiskCache(directory: directory.url, lockTimeout: .seconds(300), clock: clock)
            return URLResponseCache(memoryLimit: 0, disk: disk, rules: rules, clock: clock)
        }
        server.respond(200, Self.long)
        _ = try await CollectedResponse(
            CachingTransport(wrapping: server, cache: cache()).send(HTTPRequest(url: Bench.url)))
        clock.advance(by: .seconds(599))
        #expect(await cache().response(for: HTTPRequest(url: Bench.url)) != nil)
        clock.advance(by: .seconds(1))

        let later = cache()
        #expect(await later.response(for: HTTPRequest(url: Bench.url)) == nil)
        #expect(await later.diskUsage == 0)
    }
}
