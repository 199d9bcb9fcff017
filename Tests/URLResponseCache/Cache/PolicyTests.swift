import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import Testing

/// The directives that the policies send to other caches, and their effect on the store.
@Suite(.timeLimit(.minutes(10)))
struct PolicyTests {
    private static let life: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"v\""]

    @Test(
        arguments: Roles.all,
        [
            (.useProtocolCachePolicy, [:]), (.reloadIgnoringLocalCacheData, [:]), (.returnCacheDataElseLoad, [:]),
            (
                .reloadIgnoringLocalAndRemoteCacheData,
                ["Cache-Control": "no-cache", "Pragma": "no-cache"]
            ),
            (.reloadRevalidatingCacheData, ["Cache-Control": "max-age=0"]),
        ] as [(HTTPCachePolicy, HTTPFields)])
    func `without a stored response the request is sent as it is, whether storing is allowed or not`(
        role: CacheRole, row: (policy: HTTPCachePolicy, fields: HTTPFields)
    ) async throws {
        for allowsStoring in [true, false] {
            let bench = Bench(role)
            bench.server.respond(200, Self.life)
            try await bench.send(policy: row.policy, allowsStoring: allowsStoring)

            #expect(bench.server.requests.last?.fields == row.fields)
            #expect(await (bench.stored() == nil) == !allowsStoring)
        }
    }

    @Test(arguments: Roles.all) func `a reload sends its own cache directives in place of the caller's`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        bench.server.respond(200, Self.life)
        try await bench.send(
            ["Cache-Control": "max-age=9", "Pragma": "x"], policy: .reloadIgnoringLocalAndRemoteCacheData)

        #expect(bench.server.requests.last?.fields == ["Cache-Control": "no-cache", "Pragma": "no-cache"])
    }

    @Test(arguments: Roles.all) func `revalidation requires intermediate caches to revalidate, too`(role: CacheRole)
        async throws
    {
        let bench = Bench(role)
        try await bench.load(Self.life)
        bench.server.respond(304)
        try await bench.send(policy: .reloadRevalidatingCacheData)

        #expect(
            bench.server.requests.last?.fields == ["If-None-Match": "\"v\"", "Cache-Control": "max-age=0"])
    }

    /// RFC 8246. Each row: the directives of the response and of the request, and whether a request is sent.
    @Test(
        arguments: Roles.all,
        [
            ("max-age=60, immutable", [:], false), ("max-age=60, Immutable", [:], false), ("max-age=60", [:], true),
            // Stale, or never fresh.
            ("max-age=5, immutable", [:], true), ("immutable", [:], true),
            ("max-age=60, immutable, no-cache", [:], true),
            // A forced reload and other requirements.
            ("max-age=60, immutable", ["Cache-Control": "no-cache"], true),
            ("max-age=60, immutable", ["Pragma": "no-cache"], true),
            ("max-age=60, immutable", ["Cache-Control": "max-age=0"], true),
            ("max-age=60, immutable", ["Cache-Control": "min-fresh=5"], true),
        ] as [(String, HTTPFields, Bool)])
    func `an ordinary reload does not validate a fresh immutable response`(
        role: CacheRole, row: (control: String, request: HTTPFields, isRequested: Bool)
    ) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": row.control, "ETag": "\"v\""])
        bench.advance(5)
        bench.server.respond(304, ["ETag": "\"v\""], body: "")

        let response = try await bench.send(row.request, policy: .reloadRevalidatingCacheData)

        #expect(response.status == 200)
        #expect(response.body == "body")
        #expect(response.source == (row.isRequested ? .revalidated : .fresh))
        #expect(bench.server.requests.count == (row.isRequested ? 2 : 1))
    }

    @Test(
        arguments: Roles.all,
        [HTTPCachePolicy.reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData])
    func `a forced reload requests an immutable response again`(role: CacheRole, policy: HTTPCachePolicy) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60, immutable", "ETag": "\"v\""])
        bench.server.respond(200, body: "second")

        #expect(try await bench.send(policy: policy).body == "second")
        #expect(bench.server.requests.last?.fields["If-None-Match"] == nil)
    }

    @Test(arguments: Roles.all) func `a fresh immutable response evaluates the caller's condition`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60, immutable", "ETag": "\"v\""])
        for (tag, status) in [("\"v\"", 304), ("\"w\"", 200)] {
            for policy in [HTTPCachePolicy.useProtocolCachePolicy, .reloadRevalidatingCacheData] {
                #expect(try await bench.send(["If-None-Match": tag], policy: policy).status == status)
            }
        }
        #expect(bench.server.requests.count == 1)
    }

    @Test(arguments: Roles.all)
    func `revalidation without a complete stored response requires intermediate caches to revalidate`(
        role: CacheRole
    ) async throws {
        let life: HTTPFields = ["Cache-Control": "max-age=60"]
        let variant = HTTPFields(Self.life.fields + [.init("Vary", "Foo")])
        let part = HTTPFields(Self.life.fields + [.init("Content-Range", "bytes 0-1/4")])
        for (fields, status, request) in [
            (life, 200, [:]), (variant, 200, ["Foo": "1"]), (part, 206, ["Range": "bytes=0-1"]),
        ] as [(HTTPFields, Int, HTTPFields)] {
            let bench = Bench(role)
            try await bench.load(fields, status: status, body: status == 206 ? "bo" : "body", for: request)
            bench.server.respond(200, life)
            try await bench.send(policy: .reloadRevalidatingCacheData)

            #expect(bench.server.requests.last?.fields["Cache-Control"] == "max-age=0")
        }
    }

    @Test(arguments: Roles.all) func `a response without a validator is requested in full when it must be validated`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60"], body: "first")
        bench.server.respond(200, ["Cache-Control": "max-age=60"], body: "second")

        #expect(try await bench.send(policy: .reloadRevalidatingCacheData).body == "second")
        #expect(try await bench.send().body == "second")
    }

    @Test(
        arguments: Roles.all,
        [HTTPCachePolicy.reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData])
    func `the response to a reload is stored`(role: CacheRole, policy: HTTPCachePolicy) async throws {
        let bench = Bench(role)
        try await bench.load(Self.life, body: "first")
        bench.server.respond(200, Self.life, body: "second")
        #expect(try await bench.send(policy: policy).isStored)

        #expect(try await bench.send().body == "second")
    }

    @Test(arguments: Roles.all) func `a failed reload keeps the stored response`(role: CacheRole) async throws {
        let bench = Bench(role)
        try await bench.load(Self.life, body: "first")
        await #expect(throws: HTTPTransportError.self) {
            try await bench.send(policy: .reloadIgnoringLocalCacheData)
        }
        for fields in [[:], ["Cache-Control": "max-age=0"], ["Cache-Control": "no-store"]] as [HTTPFields] {
            bench.server.respond(503, fields)
            #expect(try await bench.send(policy: .reloadIgnoringLocalCacheData).status == 503)
        }

        #expect(try await bench.send().body == "first")
    }

    @Test(arguments: Roles.all) func `a reload removes the stored response that its response supersedes, and no other`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        let fields = HTTPFields(Self.life.fields + [.init("Vary", "Accept")])
        for name in ["a", "b"] { try await bench.load(fields, body: name, for: ["Accept": name]) }
        bench.server.respond(404, ["Cache-Control": "no-store"])
        try await bench.send(["Accept": "a"], policy: .reloadIgnoringLocalCacheData)

        #expect(try await bench.send(["Accept": "b"]).body == "b")
        #expect(try await bench.send(["Accept": "a", "Cache-Control": "only-if-cached"]).status == 504)
    }

    @Test(arguments: Roles.all) func `a reload sends only the caller's condition and returns the response to it`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=10", "ETag": "\"v\""], body: "first")
        bench.advance(11)
        bench.server.respond(304, Self.life, body: "")

        let own = try await bench.send(["If-None-Match": "\"v\""], policy: .reloadIgnoringLocalCacheData)

        #expect(own.status == 304)
        #expect(bench.server.requests.last?.fields == ["If-None-Match": "\"v\""])
        #expect(try await bench.send().isHit)
        // Different content has replaced the stored response.
        bench.server.respond(304, ["ETag": "\"w\""], body: "")
        try await bench.send(["If-None-Match": "\"w\""], policy: .reloadIgnoringLocalCacheData)
        #expect(try await bench.find()?.body == nil)
    }

    @Test(arguments: Roles.all) func `a reload with HEAD updates the stored response`(role: CacheRole) async throws {
        let bench = Bench(role)
        try await bench.load(Self.life, body: "first")
        bench.server.respond(200, ["ETag": "\"w\""], body: "")
        try await bench.send(method: .head, policy: .reloadIgnoringLocalCacheData)

        #expect(try await bench.send(["Cache-Control": "only-if-cached"]).status == 504)
    }

    /// Each row: the policy, and the outcome for a request with no-store when a stale response is stored.
    @Test(
        arguments: Roles.all,
        [
            (.useProtocolCachePolicy, .revalidated), (.reloadIgnoringLocalCacheData, .new),
            (.reloadIgnoringLocalAndRemoteCacheData, .new), (.returnCacheDataElseLoad, .stale),
            (.returnCacheDataDontLoad, .stale), (.reloadRevalidatingCacheData, .revalidated),
        ] as [(HTTPCachePolicy, ResponseCaching.Source)])
    func `a request that must not be stored is still read according to its policy`(
        role: CacheRole, row: (policy: HTTPCachePolicy, source: ResponseCaching.Source)
    ) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=1", "ETag": "\"v\""], body: "first")
        let stored = await bench.stored()
        bench.advance(5)
        bench.server.respond(row.source == .new ? 200 : 304, Self.life, body: row.source == .new ? "new" : "")

        let response = try await bench.send(policy: row.policy, allowsStoring: false)

        #expect(response.source == row.source)
        #expect(response.body == (row.source == .new ? "new" : "first"))
        #expect(await bench.stored() == stored)
    }

    @Test(arguments: Roles.all) func `a policy that accepts any age ignores directives of request and response`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "no-cache", "ETag": "\"v\""], body: "first")

        for policy in [HTTPCachePolicy.returnCacheDataElseLoad, .returnCacheDataDontLoad] {
            let response = try await bench.send(["Cache-Control": "no-cache"], policy: policy)
            #expect(response.body == "first")
            #expect(response.source == .stale)
        }
        #expect(bench.server.requests.count == 1)
    }

    @Test(arguments: Roles.all) func `offline mode serves HEAD, ranges and conditions and sends nothing`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        try await bench.load(Self.life, body: "0123")
        bench.advance(100)

        #expect(try await bench.send(method: .head, policy: .returnCacheDataDontLoad).status == 200)
        #expect(try await bench.send(["Range": "bytes=1-2"], policy: .returnCacheDataDontLoad).body == "12")
        #expect(try await bench.send(["If-None-Match": "\"v\""], policy: .returnCacheDataDontLoad).status == 304)
        for (method, fields) in [(.post, [:]), (.delete, [:]), (.get, ["If-Match": "\"v\""])]
            as [(HTTPMethod, HTTPFields)]
        {
            let error = await #expect(throws: HTTPTransportError.self) {
                try await bench.send(fields, method: method, policy: .returnCacheDataDontLoad)
            }
            #expect(error?.code == .notCached)
        }
        #expect(bench.server.requests.count == 1)
    }

    @Test(arguments: Roles.all) func `no policy returns a response to a different request`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60", "Vary": "Accept"], for: ["Accept": "a"])

        #expect(try await bench.find()?.body == nil)
        bench.server.respond(200, ["Vary": "Accept"], body: "other")
        #expect(try await bench.send(["Accept": "b"], policy: .returnCacheDataElseLoad).body == "other")
    }
}
