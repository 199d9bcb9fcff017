import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import Testing

/// RFC 9111 sections 3.2 and 4.3.4.
@Suite(.timeLimit(.minutes(10)))
struct NotModifiedTests {
    private static let then = date(-1_000)

    @Test(arguments: Roles.all) func `a 304 updates fields and freshness`(role: CacheRole) async throws {
        let bench = Bench(role)
        try await bench.load([
            "Cache-Control": "max-age=10", "ETag": "\"v\"", "Age": "5", "Date": date(0), "Content-Length": "4",
            "Content-Type": "image/png", "X-Old": "1", "X-Both": "1", "x-both": "2", "Expires": date(10),
        ])
        bench.advance(100)
        try await bench.load(
            [
                "Cache-Control": "max-age=60", "ETag": "\"v\"", "Content-Length": "0", "Content-Encoding": "gzip",
                "Content-Range": "bytes 0-1/2", "X-Both": "3", "Connection": "X-Hop", "X-Hop": "1", "X-New": "1",
                "Set-Cookie": "a=b", "Transfer-Encoding": "chunked", "Expires": date(500),
            ], status: 304, body: "")
        bench.advance(59)

        let response = try await bench.send()

        #expect(response.isHit)
        #expect(response.status == 200)
        #expect(response.body == "body")
        #expect(response.fields["Cache-Control"] == "max-age=60")
        #expect(response.fields["Expires"] == date(500))
        #expect(response.fields["Age"] == "59")
        #expect(response.fields["Date"] == date(100))
        #expect(response.fields["Content-Length"] == "4")
        #expect(response.fields["Content-Type"] == "image/png")
        #expect(response.fields["X-Old"] == "1")
        #expect(response.fields["X-New"] == "1")
        #expect(response.fields.values(of: "X-Both") == ["3"])
        #expect(response.fields["Set-Cookie"] == (role == .private ? "a=b" : nil))
        for name in ["Content-Encoding", "Content-Range", "X-Hop", "Transfer-Encoding", "Connection"] {
            #expect(response.fields[name] == nil)
        }
    }

    /// Section 5.1: an Age field would indicate that the server has not validated it.
    @Test(arguments: Roles.all) func `a response that was just validated has no age`(role: CacheRole) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60", "ETag": "\"v\"", "Age": "5"])
        bench.advance(100)

        let confirmed = try await bench.load(["ETag": "\"v\""], status: 304, body: "")

        #expect(confirmed.source == .revalidated)
        #expect(confirmed.fields["Age"] == nil)
        #expect(try await bench.send().fields["Age"] == "0")
    }

    @Test(arguments: Roles.all) func `a 304 replaces the stored age and date`(role: CacheRole) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60", "ETag": "\"v\""])
        bench.advance(100)
        let confirmed = try await bench.load(["ETag": "\"v\"", "Age": "20", "Date": date(90)], status: 304, body: "")
        #expect(confirmed.fields.values(of: "Age") == ["20"])
        #expect(confirmed.fields["Date"] == date(90))

        bench.advance(39)
        #expect(try await bench.send().fields["Age"] == "59")
        bench.advance(1)
        #expect(try await !bench.load([:]).isHit)
    }

    @Test(
        arguments: Roles.all,
        [
            (["ETag": "\"v\""], ["ETag": "\"v\""], true), (["ETag": "\"v\""], ["ETag": "\"w\""], false),
            (["ETag": "\"v\""], ["ETag": "W/\"v\""], true), (["ETag": "W/\"v\""], ["ETag": "W/\"v\""], true),
            // A strong tag does not match that of a weakly tagged response.
            (["ETag": "W/\"v\""], ["ETag": "\"v\""], false), (["ETag": "\"v\""], ["ETag": "x y"], false),
            (["ETag": "\"v\""], ["ETag": "\"v\"", "etag": "\"v\""], false), (["ETag": "\"v\""], [:], true),
            (["ETag": "\"v\"", "Last-Modified": then], ["ETag": "\"v\"", "Last-Modified": date(-5)], true),
            (["ETag": "\"v\"", "Last-Modified": then], ["Last-Modified": date(-5)], false),
            (["Last-Modified": then], ["Last-Modified": then], true),
            (["Last-Modified": then], ["Last-Modified": date(-5)], false),
            (["Last-Modified": then], ["ETag": "\"v\""], false), (["Last-Modified": then], [:], true),
        ] as [(HTTPFields, HTTPFields, Bool)])
    func `a 304 about different content is ignored`(
        role: CacheRole, row: (stored: HTTPFields, fields: HTTPFields, isBelieved: Bool)
    ) async throws {
        let bench = Bench(role)
        try await bench.load(HTTPFields(row.stored.fields + [.init("Cache-Control", "max-age=0")]), body: "first")
        bench.server.respond(304, row.fields, body: "")
        bench.server.respond(200, body: "second")

        let response = try await bench.send()

        #expect(response.body == (row.isBelieved ? "first" : "second"))
        #expect(bench.server.requests.count == (row.isBelieved ? 2 : 3))
        // The second request has no condition.
        if !row.isBelieved { #expect(bench.server.requests.last?.fields == HTTPFields()) }
    }

    @Test(
        arguments: Roles.all,
        [
            (.both, ["Cache-Control": "no-store"]), (.both, ["Vary": "*"]),
            (.sharedOnly, ["Cache-Control": "private"]), (.neither, ["Cache-Control": "max-age=60"]),
        ] as [(Roles, HTTPFields)])
    func `a 304 that forbids storing is served and removes the stored response`(
        role: CacheRole, row: (ends: Roles, fields: HTTPFields)
    ) async throws {
        let bench = Bench(role)
        try await bench.load(["ETag": "\"v\""])

        let response = try await bench.load(row.fields, status: 304, body: "")

        #expect(response.body == "body")
        #expect(response.source == .revalidated)
        #expect(response.isStored == !row.ends.contains(role))
        #expect(await (bench.stored() == nil) == row.ends.contains(role))
    }

    @Test func `a 304 can change the fields that a response varies by`() async throws {
        let bench = Bench()
        try await bench.load(["Cache-Control": "max-age=1", "ETag": "\"v\""], for: ["Accept": "a"])
        bench.advance(2)
        try await bench.load(
            ["Cache-Control": "max-age=60", "ETag": "\"v\"", "Vary": "Accept"], status: 304, body: "",
            for: ["Accept": "a"])

        #expect(try await bench.send(["Accept": "a"]).isHit)
        #expect(try await bench.load([:], body: "other", for: ["Accept": "b"]).body == "other")
    }

    /// Section 3.2: a field of the 304 replaces the stored one, and a missing field is kept.
    @Test(arguments: Roles.all, [["b=2", "c=3"], []])
    func `cookies of a 304 replace the stored ones in a private cache and are left out in a shared cache`(
        role: CacheRole, cookies: [String]
    ) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=1", "ETag": "\"v\"", "Set-Cookie": "a=1"])
        bench.advance(2)
        var fields: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"v\""]
        for cookie in cookies { fields.append("Set-Cookie", cookie) }

        let confirmed = try await bench.load(fields, status: 304, body: "")
        let found = try await bench.send()

        let expected = role == .private ? (cookies.isEmpty ? ["a=1"] : cookies) : []
        #expect(confirmed.source == .revalidated)
        #expect(confirmed.fields.values(of: "Set-Cookie") == expected)
        #expect(found.isHit)
        #expect(found.fields.values(of: "Set-Cookie") == expected)
    }

    /// Section 5.2.2.4: `no-cache="Set-Cookie"` removes the field from responses that the server has not validated.
    @Test func `cookies that must not be reused reach only the caller whose request the server received`() async throws
    {
        let bench = Bench()
        let control = "max-age=60, no-cache=\"Set-Cookie\""
        try await bench.load(["Cache-Control": control, "ETag": "\"v\"", "Set-Cookie": "a=1"])
        bench.advance(61)

        let confirmed = try await bench.load(
            ["Cache-Control": control, "ETag": "\"v\"", "Set-Cookie": "b=2"], status: 304, body: "")
        let found = try await bench.send()

        #expect(confirmed.fields.values(of: "Set-Cookie") == ["b=2"])
        #expect(found.isHit)
        #expect(found.fields["Set-Cookie"] == nil)
    }

    @Test func `a 304 without a stored response is passed on`() async throws {
        let bench = Bench()

        let response = try await bench.load(["ETag": "\"v\""], status: 304, body: "")

        #expect(response.status == 304)
        #expect(await bench.stored() == nil)
    }

    @Test(arguments: Roles.all) func `a request that must not be stored keeps the stored response`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=10", "ETag": "\"v\""], body: "first")
        bench.advance(11)
        bench.server.respond(304, ["ETag": "\"v\"", "X-New": "1"], body: "")
        let before = await bench.stored()

        let response = try await bench.send(allowsStoring: false)

        #expect(response.body == "first")
        #expect(response.source == .revalidated)
        #expect(response.fields["X-New"] == "1")
        #expect(!response.isStored)
        #expect(bench.server.requests.count == 2)
        #expect(await bench.stored() == before)
        // A variant that the server names is used and not stored either.
        let varied: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Vary": "Accept"]
        try await bench.load(varied, body: "a", for: ["Accept": "a"])
        bench.server.respond(304, ["ETag": "\"a\""], body: "")
        #expect(try await bench.send(["Accept": "b"], allowsStoring: false).body == "a")
        bench.server.respond(200, body: "asked")
        #expect(try await bench.send(["Accept": "b"]).body == "asked")
    }
}
