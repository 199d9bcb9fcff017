import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import Testing

/// RFC 9211.
@Suite(.timeLimit(.minutes(10)))
struct CacheStatusTests {
    private static let life: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"v\""]

    @Test(arguments: Roles.all) func `each response reports what the cache did`(role: CacheRole) async throws {
        let bench = Bench(role)
        #expect(try await bench.load(Self.life).cacheStatus == "alcedo; fwd=uri-miss; fwd-status=200; stored")
        #expect(try await bench.send().cacheStatus == "alcedo; hit; ttl=60")
        bench.advance(20)
        #expect(try await bench.send().cacheStatus == "alcedo; hit; ttl=40")
        let confirmed = try await bench.load(Self.life, status: 304, body: "", for: ["Cache-Control": "no-cache"])
        #expect(confirmed.cacheStatus == "alcedo; fwd=request; fwd-status=304; stored")
        bench.advance(61)
        #expect(try await bench.send(["Cache-Control": "max-stale"]).cacheStatus == "alcedo; hit; ttl=-1")
        #expect(try await bench.load(Self.life, status: 304).cacheStatus == "alcedo; fwd=stale; fwd-status=304; stored")
        let ignored = try await bench.load(["Cache-Control": "no-store"], for: ["Cache-Control": "no-store"])
        #expect(ignored.cacheStatus == "alcedo; fwd=bypass; fwd-status=200")
        bench.server.respond(204, body: "")
        #expect(try await bench.send(method: .post).cacheStatus == "alcedo; fwd=method; fwd-status=204")
        bench.server.respond(200, ["Cache-Control": "no-store"])
        let reload = try await bench.send(policy: .reloadIgnoringLocalCacheData)
        #expect(reload.cacheStatus == "alcedo; fwd=request; fwd-status=200")
        #expect(
            try await bench.send(["Cache-Control": "only-if-cached"]).cacheStatus == "alcedo; detail=only-if-cached")
    }

    /// Section 2.1: a hit was not forwarded.
    @Test(arguments: Roles.all) func `a stale response in place of a failure is not a hit`(role: CacheRole) async throws
    {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60, stale-if-error=100"])
        bench.advance(61)
        bench.server.respond(503)

        let refused = try await bench.send()
        #expect(refused.source == .stale)
        #expect(refused.cacheStatus == "alcedo; fwd=stale; fwd-status=503")
        let unreachable = try await bench.send()
        #expect(unreachable.source == .stale)
        #expect(unreachable.cacheStatus == "alcedo; fwd=stale")
    }

    @Test func `the Cache-Status of intermediate caches is kept, and each request adds its own`() async throws {
        let bench = Bench()
        let fields = HTTPFields(Self.life.fields + [.init("Cache-Status", "far; hit")])

        #expect(
            try await bench.load(fields).fields["Cache-Status"]
                == "far; hit, alcedo; fwd=uri-miss; fwd-status=200; stored")
        #expect(try await bench.send().fields["Cache-Status"] == "far; hit, alcedo; hit; ttl=60")
    }

    @Test func `a response that was not stored is not reported as stored`() async throws {
        let bench = Bench(limit: 10)
        let long = HTTPFields(Self.life.fields + [.init("Content-Length", "11")])

        #expect(try await !bench.load(long, body: "01234567890").isStored)
        for length in ["3, 5", "3x", "99999999999999999999"] {
            let unreadable = HTTPFields(Self.life.fields + [.init("Content-Length", length)])
            #expect(try await !bench.load(unreadable, body: "012").isStored)
        }
        #expect(try await bench.load(Self.life, body: "0123456789").isStored)
        // The result of a hook is unknown before it is called.
        #expect(try await !Bench(willStore: { stored, _ in stored }).load(Self.life).isStored)
    }
}
