import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import Testing

/// RFC 9213.
@Suite(.timeLimit(.minutes(10)))
struct TargetedTests {
    private static let role = CacheRole.shared(targets: ["Example-CDN-Cache-Control", "CDN-Cache-Control"])

    struct Row: Sendable {
        var fields: HTTPFields
        var after: Int
        var isServed: Bool

        init(_ fields: HTTPFields, after: Int, _ isServed: Bool) {
            self.fields = fields
            self.after = after
            self.isServed = isServed
        }
    }

    @Test(
        arguments: [
            Row(["CDN-Cache-Control": "max-age=60"], after: 59, true),
            Row(["CDN-Cache-Control": "max-age=60"], after: 60, false),
            Row(["cdn-cache-control": "max-age=60"], after: 59, true),
            Row(["CDN-Cache-Control": "max-age=60", "Cache-Control": "max-age=10"], after: 59, true),
            Row(["CDN-Cache-Control": "max-age=10", "Cache-Control": "max-age=60"], after: 11, false),
            Row(["CDN-Cache-Control": "max-age=60", "Cache-Control": "no-store"], after: 59, true),
            Row(["CDN-Cache-Control": "max-age=60", "Cache-Control": "private"], after: 59, true),
            Row(["CDN-Cache-Control": "no-store", "Cache-Control": "max-age=60"], after: 0, false),
            Row(["CDN-Cache-Control": "no-cache, max-age=60", "Cache-Control": "max-age=60"], after: 1, false),
            Row(["CDN-Cache-Control": "private, max-age=60"], after: 0, false),
            Row(["CDN-Cache-Control": "s-maxage=60, max-age=10"], after: 59, true),
            Row(["CDN-Cache-Control": "max-age=60", "Expires": "0"], after: 59, true),
            // Cache-Control and Expires have no effect beside one.
            Row(["CDN-Cache-Control": "public", "Expires": date(60)], after: 1, false),
            Row(["CDN-Cache-Control": "public", "Cache-Control": "max-age=60"], after: 1, false),
            // The first of the target list applies, whatever the order in the head.
            Row(["CDN-Cache-Control": "max-age=10", "Example-CDN-Cache-Control": "max-age=60"], after: 59, true),
            Row(["Example-CDN-Cache-Control": "max-age=10", "CDN-Cache-Control": "max-age=60"], after: 11, false),
            Row(["Other-CDN-Cache-Control": "max-age=60"], after: 1, false),
            // An empty or invalid dictionary is ignored.
            Row(["CDN-Cache-Control": "", "Cache-Control": "max-age=60"], after: 59, true),
            Row(["CDN-Cache-Control": "max-age=10,", "Cache-Control": "max-age=60"], after: 59, true),
            Row(["CDN-Cache-Control": "max-age = 10", "Cache-Control": "max-age=60"], after: 59, true),
            Row(["CDN-Cache-Control": "MAX-AGE=10", "Cache-Control": "max-age=60"], after: 59, true),
            Row(["CDN-Cache-Control": "no-store, x=\"", "Cache-Control": "max-age=60"], after: 59, true),
            Row(["Example-CDN-Cache-Control": "&", "CDN-Cache-Control": "max-age=60"], after: 59, true),
            // Lines are one dictionary, parameters and unknown members are ignored, and the last value of a key
            // applies.
            Row(["CDN-Cache-Control": "max-age=60", "cdn-cache-control": "must-revalidate"], after: 59, true),
            Row(["CDN-Cache-Control": "max-age=60;x=1, y=(a b), z=:AA==:"], after: 59, true),
            Row(["CDN-Cache-Control": "max-age=10, max-age=60"], after: 59, true),
            Row(["CDN-Cache-Control": "max-age=60, no-store=?0"], after: 59, true),
            Row(["CDN-Cache-Control": "max-age=60, no-store=?1"], after: 0, false),
            // Not a number of seconds.
            Row(["CDN-Cache-Control": "max-age=-5", "Cache-Control": "max-age=60"], after: 0, false),
            Row(["CDN-Cache-Control": "max-age=6.5", "Cache-Control": "max-age=60"], after: 0, false),
            Row(["CDN-Cache-Control": "max-age", "Cache-Control": "max-age=60"], after: 0, false),
        ])
    func `a targeted field replaces Cache-Control and Expires`(row: Row) async throws {
        let bench = Bench(Self.role)
        try await bench.load(row.fields, body: "first")
        bench.advance(row.after)

        #expect(try await bench.load([:], body: "second").body == (row.isServed ? "first" : "second"))
    }

    @Test func `Expires does not permit storing beside a targeted field`() async throws {
        let bench = Bench(Self.role)

        #expect(try await !bench.load(["CDN-Cache-Control": "x", "Expires": date(60)], status: 302).isStored)
        #expect(try await bench.load(["CDN-Cache-Control": "&", "Expires": date(60)], status: 302).isStored)
    }

    @Test func `a targeted field can make responses to credentials shared`() async throws {
        let bench = Bench(Self.role)
        let request: HTTPFields = ["Authorization": "x"]

        let own = ["CDN-Cache-Control": "max-age=60", "Cache-Control": "public"] as HTTPFields
        #expect(try await !bench.load(own, for: request).isStored)
        #expect(try await bench.load(["CDN-Cache-Control": "max-age=60, public"], for: request).isStored)
    }

    @Test(arguments: Roles.all) func `caches without targets ignore targeted fields`(role: CacheRole) async throws {
        let bench = Bench(role)
        try await bench.load(["CDN-Cache-Control": "no-store", "Cache-Control": "max-age=60"])

        #expect(try await bench.send().isHit)
    }
}
