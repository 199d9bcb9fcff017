import AlcedoCore
import AlcedoURLResponseCache
import FoundationEssentials
import Testing

/// RFC 9111 section 4.2, seen from outside: is an answer with these fields served again after so many seconds?
@Suite(.timeLimit(.minutes(3)))
struct FreshnessTests {
    private static let start = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let later = "Sun, 06 Nov 1994 08:50:37 GMT"

    struct Row: Sendable {
        var fields: HTTPFields
        var after: TimeInterval
        var isServed: Bool
    }

    @Test(arguments: [
        Row(fields: ["Cache-Control": "max-age=60"], after: 59, isServed: true),
        Row(fields: ["Cache-Control": "max-age=60"], after: 60, isServed: false),
        Row(fields: ["Cache-Control": "private, max-age=60"], after: 59, isServed: true),
        Row(fields: ["Cache-Control": "max-age=60, unknown=\"x, y\""], after: 59, isServed: true),
        Row(fields: ["Cache-Control": "max-age=99999999999999999999"], after: 1_000_000_000, isServed: true),
        // A private cache has no use for s-maxage.
        Row(fields: ["Cache-Control": "s-maxage=60"], after: 1, isServed: false),
        Row(fields: ["Cache-Control": "s-maxage=1, max-age=60"], after: 59, isServed: true),
        Row(fields: ["Cache-Control": "max-age=0"], after: 0, isServed: false),
        Row(fields: ["Cache-Control": "max-age=60, max-age=10"], after: 1, isServed: false),
        Row(fields: ["Cache-Control": "no-cache, max-age=60"], after: 1, isServed: false),
        Row(fields: ["Cache-Control": "no-cache=\"x\", max-age=60"], after: 1, isServed: false),
        Row(fields: ["Cache-Control": "must-revalidate, max-age=60"], after: 59, isServed: true),
        Row(fields: ["Cache-Control": "must-revalidate, max-age=60"], after: 61, isServed: false),
        // Section 5.3.
        Row(fields: ["Expires": later, "Date": start], after: 59, isServed: true),
        Row(fields: ["Expires": later, "Date": start], after: 60, isServed: false),
        Row(fields: ["Expires": later], after: 59, isServed: true),
        Row(fields: ["Expires": "0", "Date": start], after: 0, isServed: false),
        Row(fields: ["Expires": start, "Date": start], after: 0, isServed: false),
        Row(fields: ["Expires": later, "expires": later, "Date": start], after: 1, isServed: false),
        Row(fields: ["Expires": later, "Date": start, "Cache-Control": "max-age=10"], after: 11, isServed: false),
        Row(fields: ["Expires": "0", "Cache-Control": "max-age=60"], after: 59, isServed: true),
        Row(fields: ["Expires": later, "Date": start, "Cache-Control": "max-age=x"], after: 1, isServed: false),
        Row(fields: ["Expires": later, "Date": start, "Pragma": "no-cache"], after: 1, isServed: false),
        // Section 4.2.3.
        Row(fields: ["Cache-Control": "max-age=60", "Age": "30"], after: 29, isServed: true),
        Row(fields: ["Cache-Control": "max-age=60", "Age": "30"], after: 30, isServed: false),
        Row(fields: ["Cache-Control": "max-age=60", "Age": "30, 0"], after: 30, isServed: false),
        Row(fields: ["Cache-Control": "max-age=60", "Age": "x"], after: 59, isServed: true),
        Row(fields: ["Cache-Control": "max-age=60", "Age": "99999999999999999999"], after: 0, isServed: false),
        Row(
            fields: ["Cache-Control": "max-age=90", "Date": "Sun, 06 Nov 1994 08:49:07 GMT"], after: 59, isServed: true),
        Row(
            fields: ["Cache-Control": "max-age=90", "Date": "Sun, 06 Nov 1994 08:49:07 GMT"], after: 60, isServed: false
        ),
        Row(fields: ["Cache-Control": "max-age=60", "Date": later], after: 59, isServed: true),
        Row(fields: ["Cache-Control": "max-age=60", "Date": later], after: 60, isServed: false),
        Row(fields: ["Cache-Control": "max-age=60", "Date": "nonsense"], after: 59, isServed: true),
        // A clock that was set back: nobody knows the age.
        Row(fields: ["Cache-Control": "max-age=60"], after: -10, isServed: false),
        // Nothing explicit, so nothing is guessed.
        Row(fields: ["Last-Modified": "Sun, 06 Nov 1983 08:49:37 GMT"], after: 1, isServed: false),
    ])
    func `an answer is served while it is fresh`(row: Row) async throws {
        let bench = Bench()
        var fields = row.fields
        fields["ETag"] = "\"v\""
        bench.server.answer(200, fields, body: "first")
        try await bench.send()
        bench.clock.advance(row.after)
        bench.server.answer(200, [:], body: "second")

        let answer = try await bench.send()

        #expect(answer.isHit == row.isServed)
        #expect(answer.body == (row.isServed ? "first" : "second"))
    }

    @Test func `the time an answer took counts as its age`() async throws {
        let bench = Bench()
        bench.server.answer { request in
            bench.clock.advance(40)
            return HTTPResponse(
                head: HTTPResponseHead(
                    url: request.url, status: 200, fields: ["Cache-Control": "max-age=60", "Age": "5"]),
                body: HTTPBody(Data()))
        }
        try await bench.send()
        bench.clock.advance(14)

        #expect(try await bench.send().fields["Age"] == "59")
        bench.clock.advance(1)
        await #expect(throws: HTTPTransportError.self) { try await bench.send() }
    }

    @Test(arguments: [
        ("max-age=10", 9.0, true), ("max-age=10", 11.0, false), ("max-age=0", 0.0, false), ("max-age=x", 0.0, false),
        ("min-fresh=30", 29.0, true), ("min-fresh=30", 31.0, false), ("min-fresh=x", 0.0, false),
        ("max-stale", 61.0, false), ("max-stale=100", 61.0, false), ("no-cache", 1.0, false), ("x-unknown", 59.0, true),
    ])
    func `a request may ask for more freshness, not for less`(
        directive: String, after: TimeInterval, isServed: Bool
    ) async throws {
        let bench = Bench()
        bench.server.answer(200, ["Cache-Control": "max-age=60"])
        try await bench.send()
        bench.clock.advance(after)
        bench.server.answer(200, [:])

        let answer = try await bench.send(["Cache-Control": directive])

        #expect(answer.isHit == isServed)
    }

    @Test(
        arguments: [
            (["Pragma": "no-cache"], false), (["Pragma": "x"], true),
            (["Pragma": "no-cache", "Cache-Control": "max-age=60"], true),
        ] as [(HTTPFields, Bool)])
    func `Pragma counts when there is no Cache-Control`(fields: HTTPFields, isServed: Bool) async throws {
        let bench = Bench()
        bench.server.answer(200, ["Cache-Control": "max-age=60"])
        try await bench.send()
        bench.server.answer(200, [:])

        #expect(try await bench.send(fields).isHit == isServed)
    }

    @Test func `what is immutable is not asked for again by a reload, but by no-cache`() async throws {
        let bench = Bench()
        bench.server.answer(200, ["Cache-Control": "max-age=60, immutable"])
        try await bench.send()
        bench.clock.advance(5)

        #expect(try await bench.send(["Cache-Control": "max-age=0"]).isHit)

        bench.server.answer(200, [:])
        #expect(try await !bench.send(["Cache-Control": "no-cache"]).isHit)
    }

    @Test func `only-if-cached is answered by the store or by 504`() async throws {
        let bench = Bench()
        let only: HTTPFields = ["Cache-Control": "only-if-cached"]
        #expect(try await bench.send(only).status == 504)
        bench.server.answer(200, ["Cache-Control": "max-age=60", "ETag": "\"v\""])
        try await bench.send()

        #expect(try await bench.send(only).isHit)
        #expect(try await bench.send(["Cache-Control": "only-if-cached, no-cache"]).status == 504)
        #expect(try await bench.send(["Cache-Control": "only-if-cached", "Range": "bytes=0-1"]).status == 504)
        bench.clock.advance(60)
        let late = try await bench.send(only)

        #expect(late.status == 504)
        #expect(late.body.isEmpty)
        #expect(late.cacheStatus == "alcedo; detail=only-if-cached")
        #expect(bench.server.requests.count == 1)
    }
}
