import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import FoundationEssentials
import Testing

/// RFC 9111 section 3.3: completing incomplete stored responses.
@Suite(.timeLimit(.minutes(10)))
struct CompletionTests {
    private static let head: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"v\"", "Content-Length": "10"]

    /// Loads a response that is truncated in the middle.
    private func loadCut(_ fields: HTTPFields = head, _ body: String = "0123", in bench: Bench) async throws {
        bench.server.respond {
            HTTPResponse(
                head: .init(url: $0.url, status: 200, fields: fields),
                body: .init(PiecewiseBody([body], error: HTTPTransportError(.connectionLost, "cut"))))
        }
        await #expect(throws: HTTPTransportError.self) { try await bench.send() }
    }

    @Test(arguments: Roles.all) func `the missing rest is requested and appended`(role: CacheRole) async throws {
        let bench = Bench(role)
        try await loadCut(in: bench)

        let response = try await bench.load(
            ["ETag": "\"v\"", "Content-Range": "bytes 4-9/10", "Content-Length": "6", "X": "2"], status: 206,
            body: "456789")

        #expect(bench.server.requests.last?.fields == ["Range": "bytes=4-", "If-Range": "\"v\""])
        #expect(response.status == 200)
        #expect(response.body == "0123456789")
        #expect(response.fields["Content-Length"] == "10")
        #expect(response.fields["Content-Range"] == nil)
        #expect(response.fields["X"] == "2")
        #expect(response.cacheStatus == "alcedo; fwd=partial; fwd-status=206; stored")
        let again = try await bench.send()
        #expect(again.isHit)
        #expect(again.body == "0123456789")
        #expect(again.fields["Content-Length"] == "10")
    }

    /// RFC 9111 section 5.1: the whole has the age that an intermediate cache reports for the rest.
    @Test(arguments: Roles.all, ["7", nil]) func `the age of the rest becomes the age of the whole`(
        role: CacheRole, age: String?
    ) async throws {
        let bench = Bench(role)
        try await loadCut(in: bench)
        var rest: HTTPFields = ["ETag": "\"v\"", "Content-Range": "bytes 4-9/10"]
        rest["Age"] = age

        let response = try await bench.load(rest, status: 206, body: "456789")

        #expect(response.fields["Age"] == age)
        #expect(try await bench.send().fields["Age"] == age ?? "0")
    }

    @Test(arguments: Roles.all) func `different content replaces the incomplete response`(role: CacheRole) async throws
    {
        let bench = Bench(role)
        try await loadCut(in: bench)

        #expect(try await bench.load(["Cache-Control": "max-age=60", "ETag": "\"w\""], body: "new").body == "new")
        #expect(try await bench.send().body == "new")
    }

    @Test(
        arguments: Roles.all,
        [
            (206, ["ETag": "\"w\"", "Content-Range": "bytes 4-9/10"]), (206, ["Content-Range": "bytes 4-9/10"]),
            (206, ["ETag": "\"v\"", "Content-Range": "bytes 5-9/10"]), (206, ["ETag": "\"v\""]),
            (206, ["ETag": "\"v\"", "Content-Range": "bytes 4-8/10"]),
            (206, ["ETag": "\"v\"", "Content-Range": "bytes 4-9/*"]),
            (206, ["ETag": "\"v\"", "Content-Range": "bytes 4-9/10", "Content-Encoding": "gzip"]),
            (416, ["Content-Range": "bytes */4"]),
        ] as [(Int, HTTPFields)])
    func `a message that is not the rest is not appended`(
        role: CacheRole, row: (status: Int, fields: HTTPFields)
    ) async throws {
        let bench = Bench(role)
        try await loadCut(in: bench)
        bench.server.respond(row.status, row.fields, body: "456789")
        bench.server.respond(200, ["Cache-Control": "max-age=60"], body: "whole")

        let response = try await bench.send()

        #expect(response.status == 200)
        #expect(response.body == "whole")
        #expect(bench.server.requests.last?.fields == HTTPFields())
        #expect(try await bench.send().body == "whole")
    }

    @Test(
        arguments: Roles.all,
        [
            ["Cache-Control": "max-age=60", "Content-Length": "10"],
            ["Cache-Control": "max-age=60", "ETag": "W/\"v\"", "Content-Length": "10"],
            ["Cache-Control": "max-age=60", "ETag": "\"v\"", "Content-Length": "10", "Content-Encoding": "gzip"],
            // A date that is too recent to be strong, and one beside a weak tag.
            ["Cache-Control": "max-age=60", "Last-Modified": date(-59), "Date": date(0), "Content-Length": "10"],
            [
                "Cache-Control": "max-age=60", "ETag": "W/\"v\"", "Last-Modified": date(-60), "Date": date(0),
                "Content-Length": "10",
            ],
            ["Cache-Control": "no-store", "ETag": "\"v\"", "Content-Length": "10"],
        ] as [HTTPFields])
    func `an incomplete response that cannot be completed is not stored`(role: CacheRole, fields: HTTPFields)
        async throws
    {
        let bench = Bench(role)
        try await loadCut(fields, in: bench)

        #expect(await bench.stored() == nil)
        #expect(try await bench.load([:], body: "whole").body == "whole")
    }

    /// RFC 9110 sections 8.8.2.2 and 13.1.5.
    private static let dated: HTTPFields = ["Last-Modified": date(-60), "Date": date(0)]

    @Test(arguments: Roles.all) func `a strong Last-Modified identifies content without a tag`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        let life: HTTPFields = ["Cache-Control": "max-age=60", "Content-Length": "10"]
        try await loadCut(HTTPFields(life.fields + Self.dated.fields), in: bench)

        let response = try await bench.load(
            HTTPFields(Self.dated.fields + [.init("Content-Range", "bytes 4-9/10")]), status: 206, body: "456789")

        #expect(bench.server.requests.last?.fields == ["Range": "bytes=4-", "If-Range": date(-60)])
        #expect(response.status == 200)
        #expect(response.body == "0123456789")
        let again = try await bench.send()
        #expect(again.isHit)
        #expect(again.body == "0123456789")
    }

    @Test(
        arguments: Roles.all,
        [
            ["Last-Modified": date(-59), "Date": date(1)], ["Last-Modified": date(-60)], ["Date": date(0)],
            // Sent within a minute of the modification.
            ["Last-Modified": date(-60), "Date": date(-1)],
            ["Last-Modified": date(-60), "Date": date(0), "ETag": "\"v\""],
        ] as [HTTPFields])
    func `a rest whose Last-Modified is missing, different or weak is not appended`(
        role: CacheRole, fields: HTTPFields
    ) async throws {
        let bench = Bench(role)
        let life: HTTPFields = ["Cache-Control": "max-age=60", "Content-Length": "10"]
        try await loadCut(HTTPFields(life.fields + Self.dated.fields), in: bench)
        bench.server.respond(206, HTTPFields(fields.fields + [.init("Content-Range", "bytes 4-9/10")]), body: "456789")
        bench.server.respond(200, ["Cache-Control": "max-age=60"], body: "whole")

        #expect(try await bench.send().body == "whole")
        #expect(bench.server.requests.last?.fields == HTTPFields())
    }

    @Test(arguments: Roles.all) func `an incomplete response of unknown length is completed`(role: CacheRole)
        async throws
    {
        let bench = Bench(role)
        try await loadCut(["Cache-Control": "max-age=60", "ETag": "\"v\""], in: bench)

        let response = try await bench.load(
            ["ETag": "\"v\"", "Content-Range": "bytes 4-9/10"], status: 206, body: "456789")

        #expect(bench.server.requests.last?.fields == ["Range": "bytes=4-", "If-Range": "\"v\""])
        #expect(response.status == 200)
        #expect(response.body == "0123456789")
        #expect(try await bench.send().isHit)
    }

    @Test(arguments: Roles.all) func `a part that the server sent for a range is completed`(role: CacheRole)
        async throws
    {
        let bench = Bench(role)
        try await bench.load(
            ["Cache-Control": "max-age=60", "ETag": "\"v\"", "Content-Range": "bytes 0-3/10", "X": "1"], status: 206,
            body: "0123", for: ["Range": "bytes=0-3"])

        let response = try await bench.load(
            ["ETag": "\"v\"", "Content-Range": "bytes 4-9/10"], status: 206, body: "456789")

        #expect(bench.server.requests.last?.fields == ["Range": "bytes=4-", "If-Range": "\"v\""])
        #expect(response.status == 200)
        #expect(response.body == "0123456789")
        #expect(response.fields["X"] == "1")
        #expect(try await bench.send().isHit)
    }

    @Test(arguments: Roles.all) func `an incomplete response is never served as the whole`(role: CacheRole) async throws
    {
        let bench = Bench(role)
        try await loadCut(in: bench)

        #expect(try await bench.find()?.body == nil)
        #expect(try await bench.send(["Cache-Control": "only-if-cached"]).status == 504)
        // The same when the server is unreachable.
        await #expect(throws: HTTPTransportError.self) { try await bench.send() }
        #expect(try await bench.send(["Range": "bytes=0-3"]).body == "0123")
        await #expect(throws: HTTPTransportError.self) { try await bench.send(["Range": "bytes=0-4"]) }
    }

    @Test(arguments: Roles.all) func `a truncated rest extends the incomplete response`(role: CacheRole) async throws {
        let bench = Bench(role)
        try await loadCut(in: bench)
        bench.server.respond {
            HTTPResponse(
                head: .init(
                    url: $0.url, status: 206, fields: ["ETag": "\"v\"", "Content-Range": "bytes 4-9/10"]),
                body: .init(PiecewiseBody(["45"], error: HTTPTransportError(.connectionLost, "cut"))))
        }
        await #expect(throws: HTTPTransportError.self) { try await bench.send() }

        let response = try await bench.load(
            ["ETag": "\"v\"", "Content-Range": "bytes 6-9/10"], status: 206, body: "6789")

        #expect(bench.server.requests.last?.fields["Range"] == "bytes=6-")
        #expect(response.body == "0123456789")
    }

    @Test(arguments: Roles.all) func `a body that ends early without an error is incomplete`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        try await bench.load(Self.head, body: "0123")

        #expect(try await bench.send(["Cache-Control": "only-if-cached"]).status == 504)
        let response = try await bench.load(
            ["ETag": "\"v\"", "Content-Range": "bytes 4-9/10"], status: 206, body: "456789")
        #expect(response.body == "0123456789")
    }

    /// RFC 9110 section 15.4.5: without a condition there is no copy to which a 304 could refer.
    @Test(arguments: Roles.all, [304, 416]) func `an empty rest causes a new request for the whole`(
        role: CacheRole, status: Int
    ) async throws {
        let bench = Bench(role)
        try await loadCut(in: bench)
        bench.server.respond(status, ["ETag": "\"v\""], body: "")
        bench.server.respond(200, Self.head, body: "0123456789")

        let response = try await bench.send()

        #expect(response.status == 200)
        #expect(response.body == "0123456789")
        #expect(bench.server.requests.last?.fields == [:])
    }
}
