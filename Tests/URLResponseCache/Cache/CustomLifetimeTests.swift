import AlcedoCore
import AlcedoTesting
import AlcedoURLResponseCache
import Testing

/// A time to live of the app's own, in the place of what the headers say.
@Suite(.timeLimit(.minutes(10)))
struct CustomLifetimeTests {
    /// The 600 seconds of the article on `NSURLCache`, in five lines.
    @Test(
        arguments: Roles.all,
        [["Cache-Control": "max-age=5"], ["Cache-Control": "max-age=100000"], [:], ["Expires": "0"]] as [HTTPFields])
    func `six hundred seconds, whatever the headers say`(role: CacheRole, fields: HTTPFields) async throws {
        let (server, clock) = (FakeTransport(), ManualClock())
        var rules = ResponseCacheRules(role: role)
        rules.lifetime = { _, _ in .seconds(600) }
        let cache = URLResponseCache(rules: rules)
        let transport = CachingTransport(wrapping: server, cache: cache, time: clock)

        server.answer(200, fields, body: "first")
        _ = try await Answer(transport.send(HTTPRequest(url: Bench.url)))
        clock.advance(by: .seconds(599))
        #expect(try await Answer(transport.send(HTTPRequest(url: Bench.url))).source == .fresh)
        clock.advance(by: .seconds(1))
        server.answer(200, fields, body: "second")
        #expect(try await Answer(transport.send(HTTPRequest(url: Bench.url))).body == "second")
    }

    @Test(arguments: Roles.all) func `the rule sees head and request, and may leave the headers their say`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role) {
            $0.lifetime = { head, request in
                request.url == Bench.url && head.fields["X-Long"] != nil ? .seconds(600) : nil
            }
        }
        try await bench.load(["Cache-Control": "max-age=10", "X-Long": "1"], body: "long")
        try await bench.load(
            ["Cache-Control": "max-age=10"], body: "short", url: Bench.url("http://example.test/b.png"))
        bench.advance(100)

        #expect(try await bench.send().isHit)
        #expect(try await !bench.load([:], url: Bench.url("http://example.test/b.png")).isHit)
    }

    @Test(
        arguments: Roles.all,
        [("no-store", 600), ("no-cache", 600), ("max-age=60", 0), ("max-age=60", -5)] as [(String, Int)])
    func `what may not be stored or used without asking stays so`(
        role: CacheRole, row: (control: String, seconds: Int)
    ) async throws {
        let bench = Bench(role) { $0.lifetime = { _, _ in .seconds(row.seconds) } }
        try await bench.load(["Cache-Control": row.control])

        #expect(try await !bench.load(["Cache-Control": row.control]).isHit)
    }

    @Test(arguments: Roles.all) func `it counts from each confirmation anew`(role: CacheRole) async throws {
        let bench = Bench(role) { $0.lifetime = { _, _ in .seconds(600) } }
        try await bench.load(["ETag": "\"v\""])
        bench.advance(600)
        #expect(
            try await bench.load(["ETag": "\"v\"", "Cache-Control": "max-age=1"], status: 304).source == .revalidated)
        bench.advance(599)

        #expect(try await bench.send().isHit)
    }
}
