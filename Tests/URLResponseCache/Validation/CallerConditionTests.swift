import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import Testing

/// RFC 9111 section 4.3.2, RFC 9110 sections 13.1.2 and 13.1.3: the caller has its own copy.
@Suite(.timeLimit(.minutes(10)))
struct CallerConditionTests {
    private static let then = date(-1_000)

    @Test(
        arguments: Roles.all,
        [
            (["ETag": "\"v\""], ["If-None-Match": "\"v\""], 304),
            (["ETag": "\"v\""], ["If-None-Match": "W/\"v\""], 304),
            (["ETag": "W/\"v\""], ["If-None-Match": "\"v\""], 304),
            (["ETag": "\"v\""], ["If-None-Match": "\"w\""], 200),
            (["ETag": "\"v\""], ["If-None-Match": "\"w\", \"v\""], 304),
            (["ETag": "\"v\""], ["If-None-Match": "\"w\"", "if-none-match": "\"v\""], 304),
            (["ETag": "\"a,b\""], ["If-None-Match": "\"x\",\"a,b\""], 304),
            (["ETag": "\"v\""], ["If-None-Match": "*"], 304), ([:], ["If-None-Match": "*"], 304),
            ([:], ["If-None-Match": "\"v\""], 200), (["ETag": "\"v\""], ["If-None-Match": ""], 200),
            (["Last-Modified": then], ["If-Modified-Since": then], 304),
            (["Last-Modified": then], ["If-Modified-Since": date(-999)], 304),
            (["Last-Modified": then], ["If-Modified-Since": date(-1_001)], 200),
            (["Last-Modified": then], ["If-Modified-Since": "nonsense"], 200),
            (["Last-Modified": then], ["If-Modified-Since": then, "if-modified-since": then], 200),
            // Without Last-Modified the Date of the response counts.
            (["Date": date(-10)], ["If-Modified-Since": date(-10)], 304),
            (["Date": date(-10)], ["If-Modified-Since": date(-11)], 200),
            // The tag takes precedence over the date.
            (["ETag": "\"v\"", "Last-Modified": then], ["If-None-Match": "\"w\"", "If-Modified-Since": then], 200),
            (
                ["ETag": "\"v\"", "Last-Modified": then],
                ["If-None-Match": "\"v\"", "If-Modified-Since": date(-5_000)], 304
            ),
        ] as [(HTTPFields, HTTPFields, Int)])
    func `a fresh response evaluates the caller's condition`(
        role: CacheRole, row: (stored: HTTPFields, request: HTTPFields, status: Int)
    ) async throws {
        let bench = Bench(role)
        let stored = HTTPFields(
            row.stored.fields + [
                .init("Cache-Control", "max-age=60"), .init("Content-Type", "image/png"),
                .init("Content-Length", "4"), .init("Vary", "Foo"), .init("Content-Location", "/b.png"),
            ])
        try await bench.load(stored)

        let response = try await bench.send(row.request)

        #expect(response.isHit)
        #expect(response.source == .fresh)
        #expect(response.status == row.status)
        #expect(response.body == (row.status == 304 ? "" : "body"))
        #expect((response.fields["Content-Type"] == nil) == (row.status == 304))
        // The fields of a 304 (RFC 9110 section 15.4.5).
        #expect(response.fields["ETag"] == row.stored["ETag"])
        for name in ["Cache-Control", "Vary", "Date", "Content-Location"] { #expect(response.fields[name] != nil) }
    }

    @Test(arguments: Roles.all) func `a HEAD condition is evaluated the same way`(role: CacheRole) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60", "ETag": "\"v\"", "Content-Length": "4"])

        #expect(try await bench.send(["If-None-Match": "\"v\""], method: .head).status == 304)
        let whole = try await bench.send(["If-None-Match": "\"w\""], method: .head)
        #expect(whole.status == 200)
        #expect(whole.body.isEmpty)
        #expect(whole.fields["Content-Length"] == "4")
    }

    @Test(arguments: Roles.all) func `only a 200 is compared with the caller's copy`(role: CacheRole) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60", "ETag": "\"v\""], status: 404)

        #expect(try await bench.send(["If-None-Match": "\"v\""]).status == 404)
    }

    struct Row: Sendable {
        var name: String
        /// The caller's tag, the server's response, and its tag.
        var own: String
        var status: Int
        var tag: String?
        /// The caller's response, and the stored response to a later request without a condition, or nil.
        var response: (status: Int, body: String)
        var later: String?
    }

    /// The store has "v", which is stale.
    @Test(
        arguments: Roles.all,
        [
            Row(name: "same", own: "\"v\"", status: 304, tag: "\"v\"", response: (304, ""), later: "first"),
            Row(name: "same, told of none", own: "\"v\"", status: 304, tag: nil, response: (304, ""), later: "first"),
            Row(name: "store's", own: "\"w\"", status: 304, tag: "\"v\"", response: (200, "first"), later: "first"),
            // The caller's copy is newer than the stored one, which is removed.
            Row(name: "caller's", own: "\"w\"", status: 304, tag: "\"w\"", response: (304, ""), later: nil),
            Row(name: "new", own: "\"w\"", status: 200, tag: "\"x\"", response: (200, "second"), later: "second"),
        ])
    func `a stale response is validated together with the caller's condition`(role: CacheRole, row: Row) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=10", "ETag": "\"v\""], body: "first")
        bench.advance(11)
        var fields: HTTPFields = ["Cache-Control": "max-age=60"]
        fields["ETag"] = row.tag

        let response = try await bench.load(
            fields, status: row.status, body: row.status == 304 ? "" : "second", for: ["If-None-Match": row.own])

        #expect(response.status == row.response.status, "\(row.name)")
        #expect(response.body == row.response.body, "\(row.name)")
        let later = try await bench.send(["Cache-Control": "only-if-cached"])
        #expect((later.status == 504 ? nil : later.body) == row.later, "\(row.name)")
        #expect(bench.server.requests.count == 2)
    }

    @Test(arguments: Roles.all) func `the caller's condition is sent to the server when nothing is stored`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)

        let response = try await bench.load(["ETag": "\"v\""], status: 304, body: "", for: ["If-None-Match": "\"v\""])

        #expect(response.status == 304)
        #expect(response.source == .new)
        #expect(bench.server.requests.last?.fields == ["If-None-Match": "\"v\""])
        try await bench.load(
            ["Cache-Control": "max-age=60", "ETag": "\"w\""], body: "new", for: ["If-None-Match": "\"v\""])
        #expect(try await bench.send().body == "new")
    }

    @Test(
        arguments: Roles.all,
        [
            (["Last-Modified": then], ["If-Modified-Since": date(-5)], [:], false),
            (["Last-Modified": then], ["If-Modified-Since": then], [:], true),
            (["Last-Modified": then], ["If-Modified-Since": date(-5)], ["Last-Modified": then], true),
            (["ETag": "\"v\""], ["If-Modified-Since": date(-5)], [:], false),
            (["ETag": "\"v\""], ["If-None-Match": "\"w\""], [:], false),
            (["ETag": "\"v\""], ["If-None-Match": "\"v\""], [:], true),
            (["Last-Modified": then], ["If-None-Match": "\"w\""], [:], false),
            // A response without a validator is meant when the 304 names none (section 4.3.4).
            ([:], ["If-Modified-Since": date(-5)], [:], true),
        ] as [(HTTPFields, HTTPFields, HTTPFields, Bool)])
    func `a 304 to the caller's condition does not validate different stored content`(
        role: CacheRole, row: (stored: HTTPFields, request: HTTPFields, response: HTTPFields, isConfirmed: Bool)
    ) async throws {
        let bench = Bench(role)
        try await bench.load(HTTPFields(row.stored.fields + [.init("Cache-Control", "max-age=1")]), body: "old")
        bench.advance(100)
        bench.server.respond(
            304, HTTPFields(row.response.fields + [.init("Cache-Control", "max-age=60")]), body: "")
        #expect(try await bench.send(row.request, policy: .reloadIgnoringLocalCacheData).status == 304)
        bench.server.respond(200, body: "new")

        #expect(try await bench.send().body == (row.isConfirmed ? "old" : "new"))
    }

    /// RFC 9111 section 4.3.2: the request was about two copies, and the response does not state which.
    @Test(
        arguments: Roles.all,
        [
            ["If-None-Match": "\"old\""], ["If-None-Match": "W/\"old\", \"older\""],
            ["If-None-Match": "\"old\"", "If-Modified-Since": date(-5)],
        ] as [HTTPFields])
    func `a 304 that matches neither copy is not returned to the caller`(role: CacheRole, request: HTTPFields)
        async throws
    {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=0", "ETag": "\"current\""], body: "current")
        bench.server.respond(304, ["Cache-Control": "max-age=60"], body: "")
        bench.server.respond(200, ["Cache-Control": "max-age=60", "ETag": "\"current\""], body: "current")

        let response = try await bench.send(request)

        #expect(response.status == 200)
        #expect(response.body == "current")
        #expect(bench.server.requests.count == 3)
        #expect(bench.server.requests.last?.fields == request)
        #expect(try await bench.send().isHit)
    }

    @Test(arguments: Roles.all) func `a 304 that matches the caller's copy is returned to the caller`(role: CacheRole)
        async throws
    {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=0", "ETag": "\"mine\""], body: "mine")

        let response = try await bench.load(
            ["ETag": "W/\"yours\""], status: 304, body: "", for: ["If-None-Match": "\"yours\""])

        #expect(response.status == 304)
        #expect(bench.server.requests.count == 2)
    }
}
