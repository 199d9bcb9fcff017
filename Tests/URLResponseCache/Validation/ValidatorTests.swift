import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import Testing

/// RFC 9111 section 4.3.1: the validators of a conditional request.
@Suite(.timeLimit(.minutes(10)))
struct ValidatorTests {
    private static let then = date(-1_000)

    struct Row: Sendable {
        var stored: HTTPFields
        var request: HTTPFields
        var sent: HTTPFields

        init(_ stored: HTTPFields, for request: HTTPFields = [:], sends sent: HTTPFields) {
            self.stored = stored
            self.request = request
            self.sent = sent
        }
    }

    @Test(
        arguments: Roles.all,
        [
            Row(["ETag": "\"v\""], sends: ["If-None-Match": "\"v\""]),
            Row(["ETag": "W/\"v\""], sends: ["If-None-Match": "W/\"v\""]),
            Row(["ETag": "v"], sends: ["If-None-Match": "v"]),
            Row(["Last-Modified": then], sends: ["If-Modified-Since": then]),
            Row(
                ["ETag": "\"v\"", "Last-Modified": then], sends: ["If-None-Match": "\"v\"", "If-Modified-Since": then]),
            Row(["ETag": "\"v\"", "Last-Modified": "x"], sends: ["If-None-Match": "\"v\""]),
            Row(["ETag": "\"v\"", "etag": "\"w\"", "Last-Modified": then], sends: ["If-Modified-Since": then]),
            Row(["ETag": "\"v"], sends: [:]), Row(["Last-Modified": "x"], sends: [:]), Row([:], sends: [:]),
            Row(["ETag": "\"v\""], for: ["X": "1"], sends: ["X": "1", "If-None-Match": "\"v\""]),
            // The caller's tags are sent as well. Its date is not sent if the stored response has a better condition.
            Row(
                ["ETag": "\"v\""], for: ["If-None-Match": "\"w\", W/\"x\""],
                sends: ["If-None-Match": "\"v\", \"w\", W/\"x\""]),
            Row(["ETag": "\"v\""], for: ["If-None-Match": "\"v\""], sends: ["If-None-Match": "\"v\""]),
            Row(["ETag": "\"v\""], for: ["If-None-Match": "*"], sends: ["If-None-Match": "\"v\""]),
            Row(["ETag": "\"v\""], for: ["If-Modified-Since": date(-5)], sends: ["If-None-Match": "\"v\""]),
            Row(["Last-Modified": then], for: ["If-None-Match": "\"w\""], sends: ["If-Modified-Since": then]),
            Row(["Last-Modified": then], for: ["If-Modified-Since": date(-5)], sends: ["If-Modified-Since": then]),
            // Without a stored validator the caller's condition is sent unchanged.
            Row([:], for: ["If-None-Match": "\"w\""], sends: ["If-None-Match": "\"w\""]),
            Row([:], for: ["If-Modified-Since": date(-5)], sends: ["If-Modified-Since": date(-5)]),
        ])
    func `a stale response is validated with its validators`(role: CacheRole, row: Row) async throws {
        let bench = Bench(role)
        let stored = HTTPFields(row.stored.fields + [.init("Cache-Control", "max-age=0")])
        try await bench.load(stored, body: "first")

        try await bench.load([:], body: "second", for: row.request)

        #expect(bench.server.requests.last?.fields == row.sent)
    }

    @Test(arguments: Roles.all) func `without a matching variant the tags of all variants are sent`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        for name in ["a", "b"] {
            try await bench.load(
                ["Cache-Control": "max-age=60", "Vary": "Accept", "ETag": "\"\(name)\""], body: name,
                for: ["Accept": name])
        }

        let response = try await bench.load(["ETag": "\"a\""], status: 304, body: "", for: ["Accept": "c"])

        #expect(bench.server.requests.last?.fields["If-None-Match"] == "\"b\", \"a\"")
        #expect(response.status == 200)
        #expect(response.body == "a")
        #expect(response.source == .revalidated)
        #expect(response.cacheStatus == "alcedo; fwd=vary-miss; fwd-status=304; stored")
        #expect(try await bench.send(["Accept": "c"]).body == "a")
        #expect(try await bench.send(["Accept": "c"]).isHit)
        #expect(try await bench.send(["Accept": "b"]).body == "b")
    }

    @Test(arguments: ["X-Auth-Token", "Cookie", "User-Agent", "Accept, X-Auth-Token"])
    func `the tags of variants for other users are not sent`(vary: String) async throws {
        let bench = Bench()
        let name = vary.split(separator: " ").last.map(String.init) ?? ""
        let fields: HTTPFields = ["Cache-Control": "max-age=60", "Vary": vary, "ETag": "\"same\""]
        try await bench.load(fields, body: "a", for: [name: "a", "Accept": "x"])

        #expect(try await bench.load(fields, body: "b", for: [name: "b", "Accept": "x"]).body == "b")

        #expect(bench.server.requests.last?.fields["If-None-Match"] == nil)
        #expect(try await bench.send([name: "a", "Accept": "x"]).body == "a")
        // The own variant is confirmed by its tag.
        bench.server.respond(304, ["ETag": "\"same\""], body: "")
        #expect(try await bench.send([name: "b", "Accept": "x", "Cache-Control": "no-cache"]).body == "b")
    }

    @Test func `only the current tag of a variant is sent`() async throws {
        let bench = Bench()
        for tag in ["\"1\"", "\"2\""] {
            try await bench.load(
                ["Cache-Control": "max-age=0", "Vary": "Accept", "ETag": tag], for: ["Accept": "a"])
        }
        try await bench.load(["Vary": "Accept"], for: ["Accept": "b"])

        #expect(bench.server.requests.last?.fields["If-None-Match"] == "\"2\"")
    }

    @Test(arguments: [["ETag": "\"z\""], [:]] as [HTTPFields])
    func `a 304 that names none of the variants is ignored`(fields: HTTPFields) async throws {
        let bench = Bench()
        try await bench.load(
            ["Cache-Control": "max-age=60", "Vary": "Accept", "ETag": "\"a\""], body: "a", for: ["Accept": "a"])
        bench.server.respond(304, fields, body: "")
        bench.server.respond(200, ["Vary": "Accept"], body: "new")

        let response = try await bench.send(["Accept": "c"])

        #expect(response.body == "new")
        #expect(bench.server.requests.last?.fields == ["Accept": "c"])
    }

    @Test(arguments: Roles.all) func `a new response replaces the stale one`(role: CacheRole) async throws {
        let bench = Bench(role)
        try await bench.load(["ETag": "\"v\""], body: "first")

        let response = try await bench.load(["Cache-Control": "max-age=60"], body: "second")

        #expect(response.cacheStatus == "alcedo; fwd=stale; fwd-status=200; stored")
        #expect(try await bench.send().body == "second")
    }
}
