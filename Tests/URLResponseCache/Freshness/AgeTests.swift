import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import AlcedoURLResponseCache
import FoundationEssentials
import Testing

/// RFC 9111 sections 4.2.3 and 5.1.
@Suite(.timeLimit(.minutes(10)))
struct AgeTests {
    @Test(
        arguments: Roles.all,
        [
            FreshnessRow(["Cache-Control": "max-age=60", "Age": "30"], after: 29, .both),
            FreshnessRow(["Cache-Control": "max-age=60", "Age": "30"], after: 30, .neither),
            FreshnessRow(["Cache-Control": "max-age=60", "Age": "60"], after: 0, .neither),
            FreshnessRow(["Cache-Control": "max-age=60", "Age": "007"], after: 52, .both),
            FreshnessRow(["Expires": date(60), "Date": date(0), "Age": "30"], after: 30, .neither),
            FreshnessRow(["Last-Modified": date(-1_000), "Age": "50"], after: 50, .neither),
            // The first of several values. An invalid value is not an age.
            FreshnessRow(["Cache-Control": "max-age=60", "Age": "30, 0"], after: 30, .neither),
            FreshnessRow(["Cache-Control": "max-age=60", "Age": "30", "age": "0"], after: 30, .neither),
            FreshnessRow(["Cache-Control": "max-age=60", "Age": "0, 60"], after: 59, .both),
            FreshnessRow(["Cache-Control": "max-age=60", "Age": "x"], after: 59, .both),
            FreshnessRow(["Cache-Control": "max-age=60", "Age": "-30"], after: 59, .both),
            FreshnessRow(["Cache-Control": "max-age=60", "Age": "30.5"], after: 59, .both),
            FreshnessRow(["Cache-Control": "max-age=60", "Age": ""], after: 59, .both),
            FreshnessRow(["Cache-Control": "max-age=60", "Age": "99999999999999999999"], after: 0, .neither),
            // The age by the server's date, if greater.
            FreshnessRow(["Cache-Control": "max-age=90", "Date": date(-30)], after: 59, .both),
            FreshnessRow(["Cache-Control": "max-age=90", "Date": date(-30)], after: 60, .neither),
            FreshnessRow(["Cache-Control": "max-age=90", "Date": date(-30), "Age": "10"], after: 60, .neither),
            FreshnessRow(["Cache-Control": "max-age=90", "Date": date(-30), "Age": "50"], after: 39, .both),
            FreshnessRow(["Cache-Control": "max-age=90", "Date": date(-30), "Age": "50"], after: 40, .neither),
            // A Date in the future counts as the current time.
            FreshnessRow(["Cache-Control": "max-age=60", "Date": date(30)], after: 59, .both),
            FreshnessRow(["Cache-Control": "max-age=60", "Date": date(30)], after: 60, .neither),
            FreshnessRow(["Cache-Control": "max-age=60", "Date": "nonsense"], after: 59, .both),
            FreshnessRow(["Cache-Control": "max-age=60", "Date": date(-90), "date": date(-90)], after: 59, .both),
        ])
    func `the age of a response on arrival reduces its freshness`(role: CacheRole, row: FreshnessRow) async throws {
        try await row.check(in: role)
    }

    @Test(arguments: Roles.all) func `the response delay counts as age`(role: CacheRole) async throws {
        let bench = Bench(role)
        bench.server.respond { request in
            bench.advance(40)
            return HTTPResponse(
                head: HTTPResponseHead(
                    url: request.url, status: 200, fields: ["Cache-Control": "max-age=60", "Age": "5"]),
                body: HTTPBody(Data()))
        }
        try await bench.send()
        bench.advance(14)

        #expect(try await bench.send().fields["Age"] == "59")
        bench.advance(1)
        #expect(try await !bench.load([:]).isHit)
    }

    @Test(arguments: Roles.all) func `a response from the store has one Age field`(role: CacheRole) async throws {
        let bench = Bench(role)
        #expect(try await bench.load(["Cache-Control": "max-age=60", "Age": "5", "age": "7"]).fields["Age"] == "5, 7")

        #expect(try await bench.send().fields.values(of: "Age") == ["5"])
        bench.clock.advance(by: .milliseconds(2_900))
        #expect(try await bench.send().fields.values(of: "Age") == ["7"])
    }

    @Test(arguments: Roles.all) func `a clock that was set back leaves the age unknown`(role: CacheRole) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60"])
        bench.clock.setDate(start - 10)

        #expect(try await !bench.load([:], body: "new").isHit)
    }

    @Test(arguments: Roles.all, [-1.0, 1.0])
    func `a response stored by a clock a year off is not fresh after the clock is corrected`(
        role: CacheRole, direction: Double
    ) async throws {
        let bench = Bench(role)
        bench.clock.setDate(start + direction * 365 * 24 * 60 * 60)
        let fields: HTTPFields = ["Cache-Control": "max-age=3600, stale-while-revalidate=3600"]
        try await bench.load(fields)
        #expect(try await bench.send().isHit)

        bench.clock.setDate(start)
        #expect(try await !bench.load(fields, body: "new").isHit)
        #expect(try await bench.send().isHit)
        bench.clock.setDate(start + direction * 365 * 24 * 60 * 60)
        #expect(try await !bench.load(fields, body: "newer").isHit)
    }

    @Test func `fractions of a second of the local clock do not count as the server's age`() async throws {
        let bench = Bench()
        bench.clock.advance(by: .milliseconds(900))
        try await bench.load(["Cache-Control": "max-age=1", "Date": date(0)])
        bench.clock.advance(by: .milliseconds(900))

        #expect(try await bench.send().isHit)
    }
}
