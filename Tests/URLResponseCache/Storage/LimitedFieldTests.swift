import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import Testing

/// RFC 9111 sections 5.2.2.4 and 5.2.2.7, RFC 9110 section 7.6.1: fields that a directive excludes.
@Suite(.timeLimit(.minutes(10)))
struct LimitedFieldTests {
    @Test(
        arguments: Roles.all,
        [
            ["Cache-Control": "max-age=60, public, no-cache=\"Vary\""],
            ["Cache-Control": "max-age=60, public, private=\"X, vary\""],
            ["Cache-Control": "max-age=60, public", "Connection": "Vary"],
        ] as [HTTPFields])
    func `a response that varies still varies after its fields are limited`(role: CacheRole, fields: HTTPFields)
        async throws
    {
        let bench = Bench(role)
        for language in ["en", "de", "en"] {
            let response = HTTPFields(fields.fields + [.init("Vary", "Accept-Language")])
            bench.server.respond(200, response, body: language)
            #expect(try await bench.send(["Accept-Language": language]).body == language)
        }
    }

    @Test(
        arguments: Roles.all,
        [
            "Vary", "content-encoding", "Content-Type", "Content-Language", "Content-Location", "Location", "ETag",
            "Last-Modified", "Expires", "Date", "Cache-Control", "X, Content-Type",
        ])
    func `a response that would change its meaning without a field is revalidated`(
        role: CacheRole, names: String
    ) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60, no-cache=\"\(names)\"", "X": "1"])

        #expect(try await bench.load([:], body: "new").body == "new")

        // For a single user the directive has no effect.
        try await bench.load(["Cache-Control": "max-age=60, private=\"\(names)\""], for: ["Cache-Control": "no-cache"])
        #expect((await bench.stored() == nil) == role.isForMany)
    }

    @Test(arguments: Roles.all) func `excess fields are omitted, and the others are stored`(role: CacheRole)
        async throws
    {
        let bench = Bench(role)
        try await bench.load([
            "Cache-Control": "max-age=60, no-cache=\"X-A, Set-Cookie\", private=\"X-B\"", "X-A": "1", "X-B": "2",
        ])

        let response = try await bench.send()

        #expect(response.isHit)
        #expect(response.fields["X-A"] == nil)
        #expect((response.fields["X-B"] == nil) == role.isForMany)
    }

    @Test func `an end-to-end field is kept, whatever Connection names`() async throws {
        let bench = Bench()
        try await bench.load([
            "Cache-Control": "max-age=60", "Connection": "Content-Encoding, X-Hop", "Content-Encoding": "gzip",
            "X-Hop": "1",
        ])

        let response = try await bench.send()

        #expect(response.isHit)
        #expect(response.fields["Content-Encoding"] == "gzip")
        #expect(response.fields["X-Hop"] == nil)
    }
}

extension CacheRole {
    fileprivate var isForMany: Bool { self != .private }
}
