import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import Testing

/// RFC 9111 section 4.2.2, RFC 9110 section 15.1.
@Suite(.timeLimit(.minutes(10)))
struct HeuristicTests {
    private static let old: HTTPFields = ["Last-Modified": date(-1_000), "Date": date(0)]

    @Test(
        arguments: Roles.all,
        [
            FreshnessRow(old, after: 99, .both),
            FreshnessRow(old, after: 100, .neither),
            FreshnessRow(["Last-Modified": date(-1_000)], after: 99, .both),
            // By the server's own clock.
            FreshnessRow(["Last-Modified": date(-900), "Date": date(100)], after: 99, .both),
            FreshnessRow(["Last-Modified": "long ago"], after: 0, .neither),
            FreshnessRow(["Last-Modified": date(0), "Date": date(0)], after: 0, .neither),
            FreshnessRow(["Last-Modified": date(60), "Date": date(0)], after: 0, .neither),
            FreshnessRow(["Last-Modified": date(-1_000), "last-modified": date(-1_000)], after: 0, .neither),
            FreshnessRow(["Last-Modified": date(-100_000_000)], after: 7 * 86_400 - 1, .both),
            FreshnessRow(["Last-Modified": date(-100_000_000)], after: 7 * 86_400, .neither),
            // An explicit lifetime precludes heuristics.
            FreshnessRow(["Last-Modified": date(-1_000), "Cache-Control": "max-age=0"], after: 0, .neither),
            FreshnessRow(["Last-Modified": date(-1_000), "Cache-Control": "max-age=x"], after: 0, .neither),
            FreshnessRow(["Last-Modified": date(-1_000), "Expires": date(10)], after: 11, .neither),
            FreshnessRow(["Last-Modified": date(-1_000), "Cache-Control": "s-maxage=1"], after: 50, .privateOnly),
            FreshnessRow(["Last-Modified": date(-1_000), "Cache-Control": "no-cache"], after: 0, .neither),
            FreshnessRow(["Last-Modified": date(-1_000), "Pragma": "no-cache"], after: 0, .neither),
            FreshnessRow(["Last-Modified": date(-1_000), "Cache-Control": "must-revalidate"], after: 99, .both),
        ])
    func `heuristic freshness is a tenth of the time since the last modification`(role: CacheRole, row: FreshnessRow)
        async throws
    {
        try await row.check(in: role)
    }

    @Test(
        arguments: Roles.all,
        [
            200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501,
            201, 202, 302, 303, 307, 400, 401, 403, 406, 418, 500, 502, 503, 504, 599,
        ])
    func `heuristics apply to cacheable statuses, and to others that are public`(role: CacheRole, status: Int)
        async throws
    {
        let isCacheable = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
        var fields = Self.old
        if status == 206 { fields["Content-Range"] = "bytes 0-4/5" }

        try await FreshnessRow(fields, status: status, after: 99, isCacheable ? .both : .neither).check(in: role)
        fields["Cache-Control"] = "public"
        try await FreshnessRow(fields, status: status, after: 99, .both).check(in: role)
        try await FreshnessRow(fields, status: status, after: 100, .neither).check(in: role)
    }

    @Test(arguments: Roles.all) func `the fraction and the maximum of heuristic freshness are configurable`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role) {
            $0.heuristicFraction = 0.5
            $0.maximumHeuristicLifetime = .seconds(200)
        }
        try await bench.load(["Last-Modified": date(-1_000)])
        bench.advance(199)
        #expect(try await bench.send().isHit)
        bench.advance(1)
        #expect(try await !bench.load([:]).isHit)

        let none = Bench(role) { $0.heuristicFraction = 0 }
        try await none.load(["Last-Modified": date(-1_000)])
        #expect(try await !none.load([:]).isHit)
    }
}
