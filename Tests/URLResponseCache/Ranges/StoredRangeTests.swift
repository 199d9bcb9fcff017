import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import Testing

/// RFC 9110 sections 13.1.5, 14.2, 15.3.7 and 15.5.17: ranges of stored whole responses.
@Suite(.timeLimit(.minutes(10)))
struct StoredRangeTests {
    struct Row: Sendable {
        var range: String
        var status: Int
        var body: String
        var place: String?

        init(_ range: String, _ status: Int, _ body: String, _ place: String? = nil) {
            self.range = range
            self.status = status
            self.body = body
            self.place = place
        }
    }

    @Test(
        arguments: Roles.all,
        [
            Row("bytes=0-3", 206, "0123", "bytes 0-3/10"), Row("bytes=4-", 206, "456789", "bytes 4-9/10"),
            Row("bytes=-3", 206, "789", "bytes 7-9/10"), Row("bytes=-30", 206, "0123456789", "bytes 0-9/10"),
            Row("bytes=5-99", 206, "56789", "bytes 5-9/10"), Row("BYTES=9-9", 206, "9", "bytes 9-9/10"),
            Row("bytes=5-99999999999999999999", 206, "56789", "bytes 5-9/10"),
            Row("bytes=10-", 416, "", "bytes */10"), Row("bytes=-0", 416, "", "bytes */10"),
            Row("bytes=99999999999999999999-", 416, "", "bytes */10"),
        ])
    func `a range is served from the whole response`(role: CacheRole, row: Row) async throws {
        let bench = Bench(role)
        try await bench.load(
            ["Cache-Control": "max-age=60", "ETag": "\"v\"", "Content-Type": "a/b", "Content-Length": "10"],
            body: "0123456789")
        bench.advance(5)

        let response = try await bench.send(["Range": row.range])

        #expect(response.isHit)
        #expect(response.source == .fresh)
        #expect(response.status == row.status)
        #expect(response.body == row.body)
        #expect(response.fields["Content-Range"] == row.place)
        #expect(response.fields["Content-Length"] == "\(row.body.utf8.count)")
        #expect(response.fields["ETag"] == "\"v\"")
        #expect(response.fields["Age"] == "5")
        #expect(response.fields["Date"] == date(0))
        #expect(response.fields["Content-Type"] == (row.status == 206 ? "a/b" : nil))
    }

    @Test(
        arguments: Roles.all,
        [
            (["ETag": "\"v\""], "\"v\"", 206), (["ETag": "\"v\""], "\"w\"", 200), (["ETag": "\"v\""], "W/\"v\"", 200),
            (["ETag": "W/\"v\""], "W/\"v\"", 200), ([:], "\"v\"", 200),
            (["Last-Modified": date(-60), "Date": date(0)], date(-60), 206),
            // Too recent to be strong (RFC 9110 section 8.8.2.2).
            (["Last-Modified": date(-59), "Date": date(0)], date(-59), 200),
            (["Last-Modified": date(-60), "Date": date(0)], date(-61), 200),
            (["Last-Modified": date(-60), "Date": date(0)], date(-10), 200), (["ETag": "\"v\""], "nonsense here", 200),
        ] as [(HTTPFields, String, Int)])
    func `a conditional range is served while its condition holds, and the whole otherwise`(
        role: CacheRole, row: (stored: HTTPFields, condition: String, status: Int)
    ) async throws {
        let bench = Bench(role)
        try await bench.load(
            HTTPFields(row.stored.fields + [.init("Cache-Control", "max-age=60")]), body: "0123456789")

        let response = try await bench.send(["Range": "bytes=0-3", "If-Range": row.condition])

        #expect(response.isHit)
        #expect(response.status == row.status)
        #expect(response.body == (row.status == 206 ? "0123" : "0123456789"))
    }

    @Test(arguments: Roles.all) func `an unsatisfiable range is ignored when its condition fails`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60", "ETag": "\"v\""])

        #expect(try await bench.send(["Range": "bytes=10-", "If-Range": "\"w\""]).status == 200)
        #expect(try await bench.send(["Range": "bytes=10-", "If-Range": "\"v\""]).status == 416)
        // The caller's condition takes precedence over its range (RFC 9110 section 13.2.2).
        #expect(try await bench.send(["Range": "bytes=0-1", "If-None-Match": "\"v\""]).status == 304)
    }

    @Test(arguments: Roles.all, ["bytes=0-1,3-4", "lines=0-1", "bytes=5-2", "bytes=x", ""])
    func `a request for several or other ranges is sent to the server`(role: CacheRole, range: String) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60"])

        let response = try await bench.load(["Cache-Control": "max-age=60"], body: "passed", for: ["Range": range])

        #expect(response.body == "passed")
        #expect(try await bench.send().body == "body")
    }

    @Test(arguments: Roles.all) func `a range is ignored for HEAD and for responses other than 200`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60"])
        #expect(try await bench.send(["Range": "bytes=0-1"], method: .head).status == 200)

        try await bench.load(["Cache-Control": "max-age=60"], status: 404, for: ["Cache-Control": "no-cache"])
        let response = try await bench.send(["Range": "bytes=0-1"])
        #expect(response.status == 404)
        #expect(response.body == "body")
    }

    @Test(arguments: Roles.all) func `ranges of an encoded response are not served from the store`(role: CacheRole)
        async throws
    {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60", "Content-Encoding": "gzip"], body: "whole")

        let response = try await bench.load(
            ["Content-Range": "bytes 0-1/9", "Content-Encoding": "gzip"], status: 206, body: "xx",
            for: ["Range": "bytes=0-1"])

        #expect(response.status == 206)
        #expect(response.body == "xx")
        #expect(response.cacheStatus == "alcedo; fwd=partial; fwd-status=206")
        #expect(try await bench.send().body == "whole")
    }

    @Test(arguments: Roles.all) func `a range of a stale response is served after validation`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=10", "ETag": "\"v\""], body: "0123456789")
        bench.advance(11)

        let response = try await bench.load(["ETag": "\"v\""], status: 304, body: "", for: ["Range": "bytes=0-1"])

        #expect(response.status == 206)
        #expect(response.body == "01")
        #expect(response.source == .revalidated)
        bench.advance(11)
        bench.server.respond(
            206, ["Content-Range": "bytes 0-1/5", "ETag": "\"w\"", "Cache-Control": "max-age=60"], body: "ab")
        let new = try await bench.send(["Range": "bytes=0-1"])
        #expect(new.status == 206)
        #expect(new.body == "ab")
        #expect(new.source == .new)
        #expect(try await bench.send(["Range": "bytes=0-0"]).body == "a")
    }
}
