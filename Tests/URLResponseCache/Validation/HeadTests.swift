import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import Testing

/// RFC 9111 section 4.3.5.
@Suite(.timeLimit(.minutes(10)))
struct HeadTests {
    private static let then = date(-1_000)

    @Test(arguments: Roles.all) func `a stored response to GET serves HEAD`(role: CacheRole) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60", "Content-Length": "4", "X": "1"])

        let response = try await bench.send(method: .head)

        #expect(response.isHit)
        #expect(response.status == 200)
        #expect(response.body.isEmpty)
        #expect(response.fields["Content-Length"] == "4")
        #expect(response.fields["X"] == "1")
    }

    @Test(arguments: Roles.all) func `a response to HEAD is not stored`(role: CacheRole) async throws {
        let bench = Bench(role)
        for _ in 0..<2 {
            bench.server.respond(200, ["Cache-Control": "max-age=60"], body: "")
            #expect(try await !bench.send(method: .head).isHit)
        }
        #expect(try await bench.load([:], body: "got").body == "got")
    }

    struct Row: Sendable {
        var status: Int
        var fields: HTTPFields
        /// Whether it makes the stored response fresh; otherwise the stored response becomes stale.
        var isUpdate: Bool

        init(_ status: Int, _ fields: HTTPFields, _ isUpdate: Bool) {
            self.status = status
            self.fields = fields
            self.isUpdate = isUpdate
        }
    }

    @Test(
        arguments: Roles.all,
        [
            Row(200, [:], true), Row(200, ["ETag": "\"v\""], true), Row(200, ["ETag": "\"w\""], false),
            Row(200, ["Last-Modified": then], true), Row(200, ["Last-Modified": date(-5)], false),
            Row(200, ["Content-Length": "4"], true), Row(200, ["Content-Length": "5"], false),
            Row(200, ["ETag": "\"v\"", "Content-Length": "5"], false),
            Row(304, ["ETag": "\"v\""], true), Row(304, [:], true),
            Row(404, [:], false), Row(301, [:], false),
        ])
    func `a response to HEAD updates the stored response or makes it stale`(role: CacheRole, row: Row) async throws {
        let bench = Bench(role)
        try await bench.load(
            ["Cache-Control": "max-age=60", "ETag": "\"v\"", "Last-Modified": Self.then, "X": "1"], body: "body")
        bench.advance(50)
        let fields = HTTPFields(
            row.fields.fields + [.init("Cache-Control", "max-age=100"), .init("X", "2")])
        bench.server.respond(row.status, fields, body: "")
        try await bench.send(["Cache-Control": "no-cache"], method: .head)
        bench.advance(99)
        bench.server.respond(304, ["ETag": "\"v\""], body: "")

        let response = try await bench.send()

        #expect(response.body == "body")
        #expect(response.source == (row.isUpdate ? .fresh : .revalidated))
        #expect(response.fields["X"] == (row.isUpdate ? "2" : "1"))
    }

    @Test(arguments: Roles.all) func `a 304 to HEAD about different content is ignored`(role: CacheRole) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=10", "ETag": "\"v\""])
        bench.advance(11)
        bench.server.respond(304, ["ETag": "\"w\""], body: "")
        bench.server.respond(200, ["ETag": "\"w\""], body: "")

        let response = try await bench.send(method: .head)

        #expect(response.status == 200)
        #expect(response.fields["ETag"] == "\"w\"")
        #expect(response.source == .new)
        #expect(bench.server.requests.last?.fields == HTTPFields())
        #expect(try await bench.send(["Cache-Control": "only-if-cached"]).status == 504)
    }

    @Test(arguments: Roles.all, [500, 503, 429]) func `a server error to HEAD changes nothing`(
        role: CacheRole, status: Int
    ) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60", "ETag": "\"v\""])
        bench.server.respond(status, ["ETag": "\"w\""], body: "")
        try await bench.send(["Cache-Control": "no-cache"], method: .head)

        #expect(try await bench.send().isHit)
    }

    @Test(arguments: Roles.all) func `a response to HEAD that forbids storing removes the stored one`(role: CacheRole)
        async throws
    {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60", "ETag": "\"v\""])
        bench.server.respond(200, ["Cache-Control": "no-store", "ETag": "\"v\""], body: "")
        try await bench.send(["Cache-Control": "no-cache"], method: .head)

        #expect(await bench.stored() == nil)
    }

    @Test(arguments: Roles.all, [(length: "10", isUpdate: true), (length: "5", isUpdate: false)])
    func `the length from HEAD is compared with the whole length of a stored part`(
        role: CacheRole, row: (length: String, isUpdate: Bool)
    ) async throws {
        let bench = Bench(role)
        let range: HTTPFields = ["Range": "bytes=0-4"]
        let fields: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"v\""]
        try await bench.load(
            HTTPFields(fields.fields + [.init("Content-Range", "bytes 0-4/10")]), status: 206, body: "01234", for: range
        )
        bench.server.respond(200, HTTPFields(fields.fields + [.init("Content-Length", row.length)]), body: "")
        try await bench.send(method: .head)
        bench.server.respond(304, ["ETag": "\"v\""], body: "")

        let response = try await bench.send(range)

        #expect(response.status == 206)
        #expect(response.body == "01234")
        #expect(response.source == (row.isUpdate ? .fresh : .revalidated))
    }
}
