import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import FoundationEssentials
import Testing

/// RFC 9111 sections 3, 3.5, 5.2.1.5 and 5.2.2: which responses are stored and which must not be.
@Suite(.timeLimit(.minutes(10)))
struct StorageTests {
    struct Row: Sendable {
        var request: HTTPFields
        var status: Int
        var fields: HTTPFields
        var stored: Roles
        /// The roles for which the decision is that others must not store the response either.
        var forbidden: Roles

        init(
            _ fields: HTTPFields, status: Int = 200, for request: HTTPFields = [:], _ stored: Roles,
            forbidden: Roles = .neither
        ) {
            self.request = request
            self.status = status
            self.fields = fields
            self.stored = stored
            self.forbidden = forbidden
        }

        init(
            _ control: String, status: Int = 200, for request: HTTPFields = [:], _ stored: Roles,
            forbidden: Roles = .neither
        ) {
            self.init(["Cache-Control": control], status: status, for: request, stored, forbidden: forbidden)
        }
    }

    @Test(
        arguments: Roles.all,
        [
            // Storable because of an explicit lifetime, a cacheable status, or a directive.
            Row("max-age=60", .both), Row([:], .both), Row("max-age=60", status: 302, .both),
            Row([:], status: 302, .neither), Row([:], status: 500, .neither), Row([:], status: 404, .both),
            Row(["Expires": date(60)], status: 302, .both), Row(["Expires": "0"], status: 302, .both),
            Row("s-maxage=60", status: 302, .sharedOnly), Row("public", status: 302, .both),
            Row("private", status: 302, .privateOnly, forbidden: .sharedOnly),
            Row("private=\"x\"", status: 302, .privateOnly), Row("max-age=60", status: 599, .both),
            Row("max-age=60", status: 201, .both), Row("max-age=60", status: 418, .both),
            Row("max-age=60", status: 503, .both), Row("must-revalidate", status: 302, .neither),
            Row("no-cache", .both), Row("max-age=0", .both),
            // Storing is forbidden.
            Row("no-store", .neither, forbidden: .both), Row("no-store, max-age=60", .neither, forbidden: .both),
            Row("No-Store=1", .neither, forbidden: .both), Row("public, no-store", .neither, forbidden: .both),
            Row(["Cache-Control": "max-age=60", "cache-control": "no-store"], .neither, forbidden: .both),
            Row("x=\"no-store\", max-age=60", .both), Row("max-age=60, x=\"no", .neither, forbidden: .both),
            Row("private, max-age=60", .privateOnly, forbidden: .sharedOnly),
            Row("private=\"\", max-age=60", .privateOnly, forbidden: .sharedOnly),
            Row("private=\"x\", max-age=60", .both),
            Row("max-age=60", for: ["Cache-Control": "no-store"], .neither, forbidden: .both),
            // must-understand (section 5.2.2.3).
            Row("must-understand, no-store, max-age=60", .both), Row("no-store, must-understand", .both),
            Row("must-understand, max-age=60", .both),
            Row("must-understand, no-store, max-age=60", status: 404, .both),
            Row("must-understand, no-store, max-age=60", status: 599, .neither, forbidden: .both),
            Row("must-understand, max-age=60", status: 599, .neither, forbidden: .both),
            Row("must-understand, max-age=60", status: 418, .neither, forbidden: .both),
            Row("must-understand, private, no-store, max-age=60", .privateOnly, forbidden: .sharedOnly),
            // There is nothing to select it by later.
            Row(["Cache-Control": "max-age=60", "Vary": "*"], .neither),
            Row(["Cache-Control": "max-age=60", "Vary": "Accept, *"], .neither),
            Row(["Cache-Control": "max-age=60", "Vary": "Accept", "vary": "*"], .neither),
            Row(["Cache-Control": "max-age=60", "Vary": "Accept;q=1"], .neither),
            Row(["Cache-Control": "max-age=60", "Vary": ""], .both),
            // Invalid parts.
            Row(["Cache-Control": "max-age=60", "Content-Range": "bytes 0-3/9"], .neither),
            Row(["Cache-Control": "max-age=60", "Content-Range": "bytes 0-3/4"], .neither),
            Row(["Cache-Control": "max-age=60", "Content-Range": "bytes 0-3/9"], status: 404, .neither),
            Row(
                ["Cache-Control": "max-age=60", "Content-Range": "bytes 0-3/9", "content-range": "bytes 0-3/9"],
                .neither),
            Row(["Cache-Control": "max-age=60", "Content-Range": "x, bytes 0-3/9"], .neither),
            Row(["Cache-Control": "max-age=60", "Content-Range": "rows 0-3/9"], .both),
            Row(["Cache-Control": "max-age=60", "Content-Range": "x"], .both),
            Row("max-age=60", status: 206, .neither),
            Row(["Cache-Control": "max-age=60", "Content-Range": "x"], status: 206, .neither),
            Row(["Cache-Control": "max-age=60"], status: 416, .neither),
            Row(["Cache-Control": "max-age=60", "Content-Range": "bytes */9"], status: 416, .neither),
            // The form of the bytes is unknown (RFC 9112 sections 6.1 and 7).
            Row(["Cache-Control": "max-age=60", "Transfer-Encoding": "x-foo"], .neither, forbidden: .both),
            Row(["Cache-Control": "max-age=60", "Transfer-Encoding": "x-foo, chunked"], .neither, forbidden: .both),
            Row(["Cache-Control": "max-age=60", "Transfer-Encoding": "chunked, X-Foo"], .neither, forbidden: .both),
            Row(["Cache-Control": "max-age=60", "Transfer-Encoding": "chunked;a=b"], .neither, forbidden: .both),
            Row(["Cache-Control": "max-age=60", "Transfer-Encoding": "Chunked"], .both),
            Row(["Cache-Control": "max-age=60", "Transfer-Encoding": "gzip, chunked"], .both),
            Row(["Cache-Control": "max-age=60", "Transfer-Encoding": ", chunked,"], .both),
            // Credentials (section 3.5).
            Row("max-age=60", for: ["Authorization": "x"], .privateOnly, forbidden: .sharedOnly),
            Row("max-age=60, private", for: ["Authorization": "x"], .privateOnly, forbidden: .sharedOnly),
            Row("max-age=60, public", for: ["Authorization": "x"], .both),
            Row("max-age=60, must-revalidate", for: ["Authorization": "x"], .both),
            Row("max-age=60, s-maxage=1", for: ["authorization": "x"], .both),
            Row("max-age=60, proxy-revalidate", for: ["Authorization": "x"], .privateOnly, forbidden: .sharedOnly),
            Row("max-age=60", for: ["Cookie": "x"], .privateOnly, forbidden: .sharedOnly),
            Row("max-age=60, must-revalidate", for: ["Cookie": "x"], .privateOnly, forbidden: .sharedOnly),
            Row("max-age=60, public", for: ["Cookie": "x"], .both),
            Row("s-maxage=60", for: ["cookie": "x"], .both),
        ])
    func `storable responses are stored, and the reason for not storing is reported`(role: CacheRole, row: Row)
        async throws
    {
        let bench = Bench(role)

        let response = try await bench.load(row.fields, status: row.status, for: row.request)

        #expect(response.status == row.status)
        #expect(response.body == "body")
        #expect(response.isStored == row.stored.contains(role))
        #expect(response.policy == (row.forbidden.contains(role) ? .notAllowed : .allowed))
        var request = row.request
        request["Cache-Control"] = "only-if-cached, max-stale"
        let isThere = try await bench.send(request, policy: .returnCacheDataElseLoad).status == row.status
        #expect(isThere == row.stored.contains(role))
    }

    @Test(arguments: Roles.all) func `credentials in the URL count as credentials`(role: CacheRole) async throws {
        let bench = Bench(role)
        let url = Bench.url("http://user:word@example.test/a.png")

        #expect(try await bench.load(["Cache-Control": "max-age=60"], url: url).isStored == (role == .private))
        #expect(try await Bench(role).load(["Cache-Control": "max-age=60, public"], url: url).isStored)
    }

    @Test(arguments: Roles.all, ["HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "PATCH", "get", "QUERY"])
    func `responses to other methods are not stored`(role: CacheRole, method: String) async throws {
        let bench = Bench(role)
        bench.server.respond(200, ["Cache-Control": "max-age=60", "Content-Location": "/a.png"])

        #expect(try await !bench.send(method: HTTPMethod(rawValue: method)).isStored)

        #expect(await bench.stored() == nil)
    }

    @Test(
        arguments: Roles.all,
        [
            (["Cache-Control": "max-age=60", "Content-Location": "/a.png"], 200, true),
            (["Cache-Control": "max-age=60", "Content-Location": "http://example.test:80/a.png#x"], 200, true),
            (["Expires": date(60), "Content-Location": "/a.png"], 200, true),
            (["Cache-Control": "max-age=60", "Content-Location": "/b.png"], 200, false),
            (["Cache-Control": "max-age=60"], 200, false), (["Content-Location": "/a.png"], 200, false),
            (["Cache-Control": "max-age=60, no-store", "Content-Location": "/a.png"], 200, false),
            (["Cache-Control": "max-age=60", "Content-Location": "/a.png"], 404, false),
            (["Cache-Control": "max-age=60", "Content-Location": "/a.png"], 201, false),
        ] as [(HTTPFields, Int, Bool)])
    func `a response to POST may serve a later GET`(
        role: CacheRole, row: (fields: HTTPFields, status: Int, isStored: Bool)
    ) async throws {
        let bench = Bench(role)
        bench.server.respond(row.status, row.fields, body: "posted")
        let response = try await bench.send(method: .post, body: Data("x".utf8))
        #expect(response.isStored == row.isStored)
        bench.server.respond(200, body: "got")

        #expect(try await bench.send().body == (row.isStored ? "posted" : "got"))
        #expect(bench.server.requests.count == (row.isStored ? 1 : 2))
    }

    @Test(arguments: Roles.all) func `a request that only the server can evaluate is sent to it`(role: CacheRole)
        async throws
    {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60", "ETag": "\"v\""])
        for fields in [["If-Match": "\"v\""], ["If-Unmodified-Since": date(0)], ["Range": "lines=1-2"]] as [HTTPFields]
        {
            let response = try await bench.load(["Cache-Control": "max-age=60"], body: "passed", for: fields)
            #expect(response.body == "passed")
            #expect(response.cacheStatus == "alcedo; fwd=bypass; fwd-status=200")
        }
        bench.server.respond(200, body: "passed")
        #expect(try await bench.send(body: Data("x".utf8)).body == "passed")
        #expect(try await bench.send().body == "body")
    }
}
