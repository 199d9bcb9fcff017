import AlcedoCore
import AlcedoHTTP
import AlcedoMemoryCache
import FoundationEssentials
import Testing

@testable import AlcedoURLResponseCache

/// RFC 9111 section 3.5 and the safety of shared caches: a response for one user does not reach another.
@Suite(.timeLimit(.minutes(10)))
struct CredentialTests {
    private static let users: [HTTPFields] = [
        ["Authorization": "one"], ["Authorization": "two"], ["Cookie": "user=one"], ["Cookie": "user=two"], [:],
    ]

    /// Each user has a different response and sends three requests, with a stale response in between.
    @Test(
        arguments: Roles.all,
        [
            "max-age=60", "private, max-age=60", "max-age=60, stale-while-revalidate=900", "max-age=60, immutable",
            "private, max-age=60, must-revalidate", "private, public, max-age=60",
        ])
    func `no user receives a response to another user's credentials`(role: CacheRole, control: String) async throws {
        let bench = Bench(role)
        for _ in 0..<Self.users.count * 6 {
            bench.server.respond { request in
                let name = request.fields["Authorization"] ?? request.fields["Cookie"] ?? "nobody"
                return HTTPResponse(
                    head: .init(url: request.url, status: 200, fields: ["Cache-Control": control]),
                    body: .init(name.data))
            }
        }
        for _ in 0..<3 {
            for (index, user) in Self.users.enumerated() {
                let response = try await bench.send(user)
                await bench.cache.finish()
                // The response to a request without credentials serves everyone.
                #expect([["one", "two", "user=one", "user=two", "nobody"][index], "nobody"].contains(response.body))
                if role != .private, response.body != "nobody" {
                    #expect(response.source == .new)
                    #expect(!response.isStored)
                    #expect(response.policy == .notAllowed)
                }
            }
            bench.advance(61)
        }
    }

    @Test func `a shared response validated for one user keeps its shared lifetime`()
        async throws
    {
        let bench = Bench(.shared())
        try await bench.load(["Cache-Control": "max-age=10, public", "ETag": "\"v\""], body: "all")
        bench.advance(11)
        let own = try await bench.load(
            ["Cache-Control": "max-age=60", "ETag": "\"v\"", "X-User": "one"], status: 304, body: "",
            for: ["Authorization": "one"])
        #expect(own.fields["X-User"] == "one")
        #expect(own.source == .revalidated)

        let other = try await bench.load(["Cache-Control": "max-age=60"], body: "asked", for: ["Authorization": "two"])

        #expect(other.body == "asked")
        #expect(other.fields["X-User"] == nil)
    }

    @Test(arguments: ["Authorization", "Cookie"])
    func `lookups and policies that accept any age return no other user's response`(
        name: String
    ) async throws {
        for role in Roles.all {
            let bench = Bench(role)
            try await bench.load(["Cache-Control": "max-age=60"], for: HTTPFields([.init(name, "one")]))
            let error = await #expect(throws: HTTPTransportError.self) {
                try await bench.send(HTTPFields([.init(name, "two")]), policy: .returnCacheDataDontLoad)
            }
            #expect(error?.code == .notCached)
        }
    }

    @Test(arguments: ["Authorization", "Cookie"], [true, false])
    func `a private response to a request without credentials is for such requests`(name: String, isPrivate: Bool)
        async throws
    {
        let bench = Bench()
        let control = isPrivate ? "private, max-age=60" : "max-age=60"
        try await bench.load(["Cache-Control": control], body: "nobody")
        bench.server.respond(200, ["Cache-Control": control], body: "own")

        #expect(try await bench.send(HTTPFields([.init(name, "one")])).body == (isPrivate ? "own" : "nobody"))
        #expect(try await bench.send(HTTPFields([.init(name, "one")])).body == (isPrivate ? "own" : "nobody"))
    }

    @Test func `private and shared caches on one store do not use each other's private responses`()
        async throws
    {
        for (first, second) in [(CacheRole.private, CacheRole.shared()), (.shared(), .private)] {
            let store = MemoryResponseStore()
            try await Bench(first, store: store).load(["Cache-Control": "max-age=60"], body: "first")

            #expect(try await Bench(second, store: store).load([:], body: "second").body == "second")
        }
    }

    /// RFC 9110 section 4.2.4: a URL with a password is not stored.
    @Test(arguments: ["max-age=60", "max-age=60, public"])
    func `credentials in a URL act like a field and are not stored`(control: String) async throws {
        let data = DataMemoryCache(sizeLimit: 1 << 20)
        let bench = Bench(store: DataResponseStore(data as any MeasurableDataCache))
        func url(_ credentials: String) -> URL { Bench.url("http://\(credentials)example.test/a.png") }
        try await bench.load(["Cache-Control": control], body: "one", url: url("me:secret%21@"))
        let key = ImageKey(HTTPRequest(url: url("me:secret%21@")).resourceKey)
        let isForEveryone = control.hasSuffix("public")

        #expect(!key.description.contains("secret"))
        #expect(key == ImageKey(HTTPRequest(url: url("")).resourceKey))
        #expect(try await bench.send(url: url("me:secret%21@")).isHit)
        // The credentials me:secret!
        let field = try await bench.send(["Authorization": "Basic bWU6c2VjcmV0IQ=="], url: url(""))
        #expect(field.isHit)
        #expect(field.body == "one")
        for other in ["", "you:secret%21@", "me:other@", "me@", ":secret%21@"] {
            bench.server.respond(200, body: "two")
            #expect(try await bench.send(url: url(other)).isHit == isForEveryone)
        }
        for names in [["authorization"], []] {
            let variant = Vary.variant(names, of: HTTPRequest(url: url("me:secret%21@")))
            let entry = data.entry(for: names.isEmpty ? key : ImageKey(key.resource, variant: variant))
            let text = entry.map { String(decoding: $0.metadata + $0.data, as: UTF8.self) }
            #expect(text?.contains("secret") != true)
        }
    }

    @Test(arguments: ["Location", "Content-Location"])
    func `a response that names a URL with a password is not stored`(name: String) async throws {
        let bench = Bench()
        for target in ["http://me:secret@other.test/b.png", "//me@other.test/"] {
            for _ in 0..<2 {
                let fields: HTTPFields = ["Cache-Control": "max-age=60", name: target]
                #expect(try await !bench.load(fields, status: 301).isHit)
            }
        }
        try await bench.load(["Cache-Control": "max-age=60", name: "http://other.test/b@2x.png"], status: 301)
        #expect(try await bench.send().isHit)
    }

    @Test func `a change without credentials invalidates responses to requests with credentials`() async throws {
        let bench = Bench()
        let url = Bench.url("http://me:secret@example.test/a.png")
        try await bench.load(["Cache-Control": "max-age=60"], body: "old", url: url)
        bench.server.respond(204, body: "")
        try await bench.send(method: .post, body: Data())

        #expect(try await bench.load([:], body: "new", url: url).body == "new")
    }
}
