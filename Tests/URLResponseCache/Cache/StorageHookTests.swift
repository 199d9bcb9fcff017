import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import AlcedoURLResponseCache
import FoundationEssentials
import Testing

/// The hook that receives a response before it is stored.
@Suite(.timeLimit(.minutes(10)))
struct StorageHookTests {
    private static let life: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"v\""]

    /// Returns a cache whose hook changes the stored response.
    private func bench(
        _ role: CacheRole = .private, _ change: @escaping @Sendable (inout StoredResponse) -> Void
    ) -> Bench {
        Bench(
            role,
            willStore: { stored, _ in
                var stored = stored
                change(&stored)
                return stored
            })
    }

    @Test(arguments: Roles.all) func `changes to data, fields and metadata affect the stored response only`(
        role: CacheRole
    ) async throws {
        let bench = bench(role) {
            $0.body = "changed".data
            $0.head.fields["X"] = "1"
            $0.userInfo["when"] = "now"
        }
        let fields = HTTPFields(Self.life.fields + [.init("Content-Length", "4")])
        let first = try await bench.load(fields)
        #expect(first.body == "body")
        #expect(first.fields["X"] == nil)

        let second = try await bench.send()

        #expect(second.isHit)
        #expect(second.body == "changed")
        #expect(second.fields["X"] == "1")
        #expect(second.fields["Content-Length"] == "7")
        #expect(await bench.stored()?.userInfo == ["when": "now"])
        // Metadata survives validation.
        bench.advance(61)
        try await bench.load(Self.life, status: 304, body: "")
        #expect(await bench.stored()?.userInfo == ["when": "now"])
    }

    @Test(arguments: Roles.all) func `a refusal stores nothing and leaves nothing behind`(role: CacheRole) async throws
    {
        let bench = Bench(role, willStore: { _, _ in nil })
        let response = try await bench.load(Self.life)
        #expect(response.body == "body")
        #expect(response.policy == .notAllowed)
        #expect(await bench.stored() == nil)
    }

    @Test(arguments: Roles.all) func `the policy notAllowed is a refusal`(role: CacheRole) async throws {
        let bench = bench(role) { $0.storagePolicy = .notAllowed }

        #expect(try await bench.load(Self.life).policy == .notAllowed)
        #expect(await bench.stored() == nil)
    }

    @Test func `the hook receives the whole body and the caller's request`() async throws {
        let seen = Locked<[String]>([])
        let bench = Bench(willStore: { stored, request in
            seen.withLock { $0.append("\(request.fields["X"] ?? "") \(String(decoding: stored.body, as: UTF8.self))") }
            return stored
        })
        try await bench.load(Self.life, body: "first", for: ["X": "1"])
        bench.advance(61)
        try await bench.load(Self.life, body: "second", for: ["X": "2"])
        // Responses that are not stored do not call the hook.
        try await bench.load(["Cache-Control": "no-store"], for: ["Cache-Control": "no-cache"])

        #expect(seen.withLock { $0 } == ["1 first", "2 second"])
    }

    @Test(
        arguments: Roles.all,
        [
            ("max-age=600", 599, true), ("max-age=600", 600, false), ("max-age=5", 6, false), ("no-cache", 1, false),
            ("no-store", 1, false),
        ])
    func `fields that the hook changes act as if the server had sent them`(
        role: CacheRole, row: (control: String, after: Int, isServed: Bool)
    ) async throws {
        let bench = bench(role) { $0.head.fields["Cache-Control"] = row.control }
        try await bench.load(Self.life)
        bench.advance(row.after)

        #expect(try await bench.load([:]).isHit == row.isServed)
    }

    @Test func `directives that the hook sets itself are kept`() async throws {
        let bench = bench {
            $0.head.fields["Cache-Control"] = "max-age=5"
            $0.terms.lifetime = 600
        }
        try await bench.load(Self.life)
        bench.advance(599)

        #expect(try await bench.send().isHit)
    }

    @Test func `the age on arrival survives a change of the fields`() async throws {
        let bench = bench { $0.head.fields["Cache-Control"] = "max-age=100" }
        try await bench.load(["Cache-Control": "max-age=60", "Age": "50"])
        bench.advance(49)
        #expect(try await bench.send().fields["Age"] == "99")
        bench.advance(1)

        #expect(try await !bench.load([:]).isHit)
    }

    @Test func `a Vary field that the hook adds takes effect`() async throws {
        let bench = bench { $0.head.fields["Vary"] = "Accept" }
        try await bench.load(Self.life, for: ["Accept": "a"])

        #expect(try await bench.send(["Accept": "a"]).isHit)
        #expect(try await !bench.load([:], for: ["Accept": "b"]).isHit)
    }

    /// Bytes of a part have fixed positions in the whole, so a part is stored unchanged or not at all.
    @Test(arguments: [true, false]) func `a partial response can be refused and is not changed`(refuses: Bool)
        async throws
    {
        let bench = Bench(willStore: { stored, _ in
            var stored = stored
            stored.body.append(contentsOf: "x".utf8)
            return refuses ? nil : stored
        })
        try await bench.load(
            ["Cache-Control": "max-age=60", "ETag": "\"v\"", "Content-Range": "bytes 0-3/10"], status: 206,
            body: "0123", for: ["Range": "bytes=0-3"])
        #expect(await bench.stored() == nil)

        // An incomplete response is a part.
        try await bench.load(["Cache-Control": "max-age=60", "ETag": "\"v\"", "Content-Length": "9"], body: "0123")
        #expect(await bench.stored() == nil)
    }

    @Test func `a partial response that the hook accepts is stored with its metadata`() async throws {
        let bench = bench { $0.userInfo["part"] = "\($0.part?.offset ?? -1)" }
        try await bench.load(
            ["Cache-Control": "max-age=60", "ETag": "\"v\"", "Content-Range": "bytes 2-5/10"], status: 206,
            body: "2345", for: ["Range": "bytes=2-5"])

        #expect(try await bench.send(["Range": "bytes=3-4"]).body == "34")
        #expect(await bench.stored()?.userInfo == ["part": "2"])
    }

    /// RFC 9111 section 4: the older response is no longer the most recent.
    @Test func `a newer response that is refused removes the older one`() async throws {
        let bench = Bench(willStore: { stored, _ in stored.body == "old".data ? stored : nil })
        try await bench.load(["Cache-Control": "max-age=60"], body: "old")
        try await bench.load(["Cache-Control": "max-age=60"], body: "new", for: ["Cache-Control": "no-cache"])

        #expect(await bench.stored() == nil)
    }
}
