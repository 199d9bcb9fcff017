import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import Testing

/// RFC 9111 sections 5.2.2 and 5.4: directives that decide on reuse.
@Suite(.timeLimit(.minutes(10)))
struct ResponseDirectiveTests {
    @Test(
        arguments: Roles.all,
        [
            FreshnessRow(["Cache-Control": "no-cache, max-age=60"], after: 1, .neither),
            FreshnessRow(["Cache-Control": "No-Cache", "cache-control": "max-age=60"], after: 1, .neither),
            FreshnessRow(["Cache-Control": "no-cache=\"\", max-age=60"], after: 1, .neither),
            FreshnessRow(["Cache-Control": "no-cache=\"a b\", max-age=60"], after: 1, .neither),
            FreshnessRow(["Cache-Control": "no-cache=\"Set-Cookie\", max-age=60"], after: 59, .both),
            FreshnessRow(["Cache-Control": "no-cache=\"x\", no-cache, max-age=60"], after: 1, .neither),
            FreshnessRow(["Cache-Control": "x=\"no-cache\", max-age=60"], after: 59, .both),
            FreshnessRow(["Cache-Control": "must-revalidate, max-age=60"], after: 59, .both),
            FreshnessRow(["Cache-Control": "must-revalidate, max-age=60"], after: 61, .neither),
            FreshnessRow(["Cache-Control": "proxy-revalidate, max-age=60"], after: 59, .both),
            FreshnessRow(["Cache-Control": "private, max-age=60"], after: 59, .privateOnly),
            FreshnessRow(["Cache-Control": "private=\"x\", max-age=60"], after: 59, .both),
            FreshnessRow(["Cache-Control": "public, max-age=60"], after: 59, .both),
            FreshnessRow(["Cache-Control": "public, private, max-age=60"], after: 59, .privateOnly),
            FreshnessRow(["Cache-Control": "no-transform, max-age=60"], after: 59, .both),
            FreshnessRow(["Cache-Control": "immutable, max-age=60"], after: 60, .neither),
            FreshnessRow(["Cache-Control": "only-if-cached, min-fresh=1, max-age=60"], after: 59, .both),
            FreshnessRow(["Pragma": "no-cache", "Expires": date(60)], after: 1, .neither),
            FreshnessRow(["Pragma": "no-cache", "Cache-Control": "max-age=60"], after: 59, .both),
            FreshnessRow(["Pragma": "x", "Expires": date(60)], after: 59, .both),
        ])
    func `response directives decide whether a response may be served`(role: CacheRole, row: FreshnessRow) async throws
    {
        try await row.check(in: role)
    }

    struct Limit: Sendable {
        var control: String
        /// The field names of later responses, in a private and in a shared cache.
        var inPrivate: [String]
        var inShared: [String]
    }

    @Test(
        arguments: Roles.all,
        [
            Limit(control: "no-cache=\"X-One, x-two\"", inPrivate: ["X-Three"], inShared: ["X-Three"]),
            Limit(
                control: "private=\"X-One, x-two\"", inPrivate: ["X-One", "X-Two", "X-Three"], inShared: ["X-Three"]),
            Limit(
                control: "private=\"X-One\", no-cache=\"x-two\"", inPrivate: ["X-One", "X-Three"], inShared: ["X-Three"]
            ),
            Limit(control: "no-cache=X-One", inPrivate: ["X-Two", "X-Three"], inShared: ["X-Two", "X-Three"]),
            Limit(
                control: "x=\"X-One\"", inPrivate: ["X-One", "X-Two", "X-Three"],
                inShared: ["X-One", "X-Two", "X-Three"]),
        ])
    func `fields named by a directive are omitted from later responses`(role: CacheRole, row: Limit) async throws {
        let bench = Bench(role)
        let fields: HTTPFields = [
            "Cache-Control": row.control + ", max-age=60", "X-One": "1", "X-Two": "2", "X-Three": "3",
        ]
        let first = try await bench.load(fields)
        #expect(first.fields.map(\.name).filter { $0.hasPrefix("X-") } == ["X-One", "X-Two", "X-Three"])

        let second = try await bench.send()

        #expect(second.isHit)
        #expect(
            second.fields.map(\.name).filter { $0.hasPrefix("X-") }
                == (role == .private ? row.inPrivate : row.inShared))
    }

    @Test(arguments: Roles.all) func `a response with no-cache is served after validation`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "no-cache", "ETag": "\"v\""], body: "first")
        for _ in 0..<2 {
            let response = try await bench.load(["ETag": "\"v\""], status: 304, body: "")
            #expect(response.source == .revalidated)
            #expect(response.body == "first")
        }
    }
}
