import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import Testing

/// RFC 9111 sections 5.2.1 and 5.4, RFC 8246.
@Suite(.timeLimit(.minutes(10)))
struct RequestDirectiveTests {
    struct Row: Sendable {
        var response = "max-age=60"
        var request: HTTPFields
        var after: Int
        var source: ResponseCaching.Source?

        init(_ request: HTTPFields, _ response: String = "max-age=60", after: Int, _ source: ResponseCaching.Source?) {
            self.response = response
            self.request = request
            self.after = after
            self.source = source
        }

        init(_ control: String, _ response: String = "max-age=60", after: Int, _ source: ResponseCaching.Source?) {
            self.init(["Cache-Control": control], response, after: after, source)
        }
    }

    /// `.new` means that a request was sent, nil that the response is 504.
    @Test(
        arguments: Roles.all,
        [
            // The maximum acceptable age.
            Row("max-age=10", after: 9, .fresh), Row("max-age=10", after: 10, .fresh),
            Row("max-age=10", after: 11, .new), Row("max-age=0", after: 1, .new), Row("max-age=x", after: 1, .new),
            Row("max-age=100", after: 60, .new), Row("max-age=99999999999999999999", after: 59, .fresh),
            Row("max-age=100, max-age=1", after: 9, .new),
            // The minimum remaining freshness.
            Row("min-fresh=30", after: 30, .fresh), Row("min-fresh=30", after: 31, .new),
            Row("min-fresh=0", after: 59, .fresh), Row("min-fresh=x", after: 0, .new),
            Row("min-fresh=99999999999999999999", after: 0, .new), Row("min-fresh", after: 0, .new),
            // The maximum acceptable staleness.
            Row("max-stale", after: 60, .stale), Row("max-stale", after: 100_000_000, .stale),
            Row("max-stale=10", after: 70, .stale), Row("max-stale=10", after: 71, .new),
            Row("max-stale=x", after: 61, .new), Row("max-stale=0", after: 60, .stale),
            Row("max-stale=5", after: 59, .fresh),
            Row("max-stale=99999999999999999999", after: 100_000, .stale),
            Row("max-age=80, max-stale=10", after: 70, .stale), Row("max-age=65, max-stale=10", after: 70, .new),
            Row("max-stale, no-cache", after: 70, .new), Row("min-fresh=1, max-stale", after: 70, .new),
            Row("max-stale", "max-age=60, must-revalidate", after: 61, .new),
            Row("max-stale", "max-age=60, no-cache", after: 61, .new),
            // Only after validation.
            Row("no-cache", after: 0, .new), Row("No-Cache", after: 0, .new), Row("no-cache=\"x\"", after: 0, .new),
            Row("x-unknown, y=\"no-cache\"", after: 59, .fresh), Row("no-transform", after: 59, .fresh),
            Row(["Cache-Control": "x", "cache-control": "no-cache"], after: 0, .new),
            Row(["Pragma": "no-cache"], after: 0, .new), Row(["Pragma": "x, No-Cache"], after: 0, .new),
            Row(["Pragma": "x"], after: 0, .fresh),
            Row(["Pragma": "no-cache", "Cache-Control": "max-age=60"], after: 59, .fresh),
            Row(["Pragma": "no-cache", "Cache-Control": ""], after: 59, .fresh),
            // Only from the store.
            Row("only-if-cached", after: 59, .fresh), Row("only-if-cached", after: 60, nil),
            Row("only-if-cached, max-stale", after: 60, .stale), Row("only-if-cached, no-cache", after: 0, nil),
            Row("only-if-cached, max-age=5", after: 6, nil), Row("only-if-cached, no-store", after: 5, .fresh),
            // Not from the store.
            Row("no-store", after: 0, .new), Row("NO-STORE", after: 0, .new), Row("x=\"y", after: 0, .new),
            // For immutable responses the directives of the request still apply (RFC 8246 section 2.1).
            Row("max-age=0", "max-age=60, immutable", after: 59, .new),
            Row([:], "max-age=60, immutable", after: 59, .fresh),
            Row("max-age=0", "max-age=60, Immutable", after: 60, .new),
            Row("max-age=30", "max-age=60, immutable", after: 30, .fresh),
            Row("max-age=30", "max-age=60, immutable", after: 31, .new),
            Row("no-cache", "max-age=60, immutable", after: 0, .new),
            Row("min-fresh=30", "max-age=60, immutable", after: 31, .new),
            Row("max-age=0", "immutable", after: 0, .new),
            Row("max-age=0", "max-age=60, x=\"immutable\"", after: 1, .new),
        ])
    func `request directives limit the acceptable responses`(role: CacheRole, row: Row) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": row.response, "ETag": "\"v\""], body: "first")
        bench.advance(row.after)
        bench.server.respond(200, body: "second")

        let received = try await bench.send(row.request)

        #expect(received.source == row.source)
        #expect(received.body == (row.source == .new ? "second" : row.source == nil ? "" : "first"))
        #expect(bench.server.requests.count == (row.source == .new ? 2 : 1))
        if row.source == nil {
            #expect(received.status == 504)
            #expect(received.cacheStatus == "alcedo; detail=only-if-cached")
        }
    }

    @Test(arguments: Roles.all) func `a request with no-store stores nothing and keeps the stored response`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        let received = try await bench.load(["Cache-Control": "max-age=60"], for: ["Cache-Control": "no-store"])
        #expect(received.policy == .notAllowed)
        #expect(await bench.stored() == nil)

        try await bench.load(["Cache-Control": "max-age=60"], body: "kept")
        try await bench.load(["Cache-Control": "max-age=60"], body: "other", for: ["Cache-Control": "no-store"])
        #expect(try await bench.send().body == "kept")
    }

    @Test(arguments: Roles.all) func `only-if-cached sends nothing when nothing is stored`(role: CacheRole) async throws
    {
        let bench = Bench(role)
        for fields in [["Cache-Control": "only-if-cached"], ["Cache-Control": "only-if-cached", "Range": "bytes=0-1"]]
            as [HTTPFields]
        {
            let received = try await bench.send(fields)
            #expect(received.status == 504)
            #expect(received.body.isEmpty)
        }
        #expect(try await bench.send(["Cache-Control": "only-if-cached"], method: .post).status == 504)
        #expect(bench.server.requests.isEmpty)
    }

    @Test func `only-if-cached sends nothing in the background of a response either`() async throws {
        let bench = Bench()
        try await bench.load(["Cache-Control": "max-age=60, stale-while-revalidate=30"])
        bench.advance(61)

        let received = try await bench.send(["Cache-Control": "only-if-cached"])
        await bench.cache.finish()

        #expect(received.source == .stale)
        #expect(bench.server.requests.count == 1)
    }
}
