import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import Testing

/// RFC 9111 section 3.1, RFC 9110 section 6.6.1.
@Suite(.timeLimit(.minutes(10)))
struct StoredFieldTests {
    @Test(arguments: Roles.all) func `connection fields are not stored, nor are cookies in a shared cache`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        let first = try await bench.load([
            "Cache-Control": "max-age=60", "Connection": "close, X-Hop", "connection": "x-other", "X-Hop": "1",
            "X-OTHER": "1", "Keep-Alive": "1", "Transfer-Encoding": "chunked", "Upgrade": "x", "TE": "x",
            "Trailer": "x", "Proxy-Authenticate": "x", "Proxy-Connection": "x", "Proxy-Authorization": "x",
            "Proxy-Authentication-Info": "x", "Set-Cookie": "a=b", "set-cookie": "c=d", "Set-Cookie2": "e",
            "Content-Type": "image/png", "X-End": "1",
        ])
        #expect(first.fields.values(of: "Set-Cookie") == ["a=b", "c=d"])
        #expect(first.fields["X-Hop"] == "1")

        let second = try await bench.send()

        let cookies = role == .private ? ["Set-Cookie", "set-cookie", "Set-Cookie2"] : []
        #expect(
            second.fields.map(\.name)
                == ["Cache-Control"] + cookies + ["Content-Type", "X-End", "Date", "Age", "Cache-Status"])
        #expect(second.fields.values(of: "Set-Cookie") == (role == .private ? ["a=b", "c=d"] : []))
    }

    /// RFC 9111 section 7.3: the field does not inhibit caching.
    @Test func `a private cache returns cookies with every form of the stored response`() async throws {
        let bench = Bench()
        try await bench.load(["Cache-Control": "max-age=60", "ETag": "\"v\"", "Set-Cookie": "a=b"])

        for (fields, status) in [([:], 200), (["Range": "bytes=0-1"], 206), (["If-None-Match": "\"v\""], 304)]
            as [(HTTPFields, Int)]
        {
            let response = try await bench.send(fields)
            #expect(response.isHit)
            #expect(response.status == status)
            #expect(response.fields.values(of: "Set-Cookie") == ["a=b"])
        }
        #expect(try await bench.send(method: .head).fields["Set-Cookie"] == "a=b")
    }

    struct Dated: Sendable {
        var fields: HTTPFields
        var expected: String
    }

    @Test(arguments: [
        Dated(fields: [:], expected: date(0)), Dated(fields: ["Date": date(-5)], expected: date(-5)),
        Dated(fields: ["Date": "nonsense"], expected: date(0)),
        Dated(fields: ["Date": date(-5), "date": date(-9)], expected: date(0)),
    ])
    func `a stored response has one Date field`(row: Dated) async throws {
        let bench = Bench()
        try await bench.load(HTTPFields(row.fields.fields + [.init("Cache-Control", "max-age=60")]))
        bench.advance(5)

        #expect(try await bench.send().fields.values(of: "Date") == [row.expected])
    }

    @Test func `unknown fields and repeated lines are kept unchanged`() async throws {
        let bench = Bench()
        try await bench.load(["Cache-Control": "max-age=60", "X-A": "1", "x-a": "2", "Link": "</a>, </b>"])

        let fields = try await bench.send().fields

        #expect(fields.values(of: "X-A") == ["1", "2"])
        #expect(fields["Link"] == "</a>, </b>")
    }

    @Test(arguments: Roles.all) func `informational responses are passed on and are not final`(role: CacheRole)
        async throws
    {
        let bench = Bench(role)
        let hints = HTTPResponseHead(
            url: Bench.url, status: 103, fields: ["Link": "</x.css>", "Cache-Control": "no-store"])
        bench.server.respond {
            HTTPResponse(
                head: .init(url: $0.url, status: 200, fields: ["Cache-Control": "max-age=60", "ETag": "\"v\""]),
                body: .init("x".data), interim: [hints])
        }
        #expect(try await bench.send().interim == [hints])

        #expect(try await bench.send().interim.isEmpty)
        bench.server.respond {
            HTTPResponse(head: .init(url: $0.url, status: 304), body: .init("".data), interim: [hints])
        }
        let confirmed = try await bench.send(["Cache-Control": "no-cache"])
        #expect(confirmed.interim == [hints])
        #expect(confirmed.source == .revalidated)
    }
}
