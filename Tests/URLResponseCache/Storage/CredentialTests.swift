import AlcedoCore
import AlcedoURLResponseCache
import Testing

/// RFC 9111 section 3.5 and the safety of shared caches: what was meant for one user does not reach another.
@Suite(.timeLimit(.minutes(3)))
struct CredentialTests {
    private static let users: [HTTPFields] = [
        ["Authorization": "one"], ["Authorization": "two"], ["Cookie": "user=one"], ["Cookie": "user=two"], [:],
    ]

    /// Each user has an answer of its own, and asks three times, with a stale answer in between.
    @Test(
        arguments: Roles.all,
        ["max-age=60", "private, max-age=60", "max-age=60, stale-while-revalidate=900", "max-age=60, immutable"])
    func `no user ever gets what another's credentials brought`(role: CacheRole, control: String) async throws {
        let bench = Bench(role)
        for _ in 0..<Self.users.count * 6 {
            bench.server.answer { request in
                let name = request.fields["Authorization"] ?? request.fields["Cookie"] ?? "nobody"
                return HTTPResponse(
                    head: .init(url: request.url, status: 200, fields: ["Cache-Control": control, "Vary": "Cookie"]),
                    body: .init(name.data))
            }
        }
        for _ in 0..<3 {
            for (index, user) in Self.users.enumerated() {
                let answer = try await bench.send(user)
                await bench.cache.finish()
                // What was asked for without credentials is for everyone.
                #expect([["one", "two", "user=one", "user=two", "nobody"][index], "nobody"].contains(answer.body))
                if role != .private, answer.body != "nobody" {
                    #expect(answer.source == .new && !answer.isStored && answer.policy == .notAllowed)
                }
            }
            bench.advance(61)
        }
    }

    @Test func `an answer for everyone that is confirmed for one user stays no longer than it is for everyone`()
        async throws
    {
        let bench = Bench(.shared())
        try await bench.load(["Cache-Control": "max-age=10, public", "ETag": "\"v\""], body: "all")
        bench.advance(11)
        let own = try await bench.load(
            ["Cache-Control": "max-age=60", "ETag": "\"v\"", "X-User": "one"], status: 304, body: "",
            for: ["Authorization": "one"])
        #expect(own.fields["X-User"] == "one" && own.source == .revalidated)

        let other = try await bench.load(["Cache-Control": "max-age=60"], body: "asked", for: ["Authorization": "two"])

        #expect(other.body == "asked" && other.fields["X-User"] == nil)
    }

    @Test(arguments: ["Authorization", "Cookie"])
    func `a look-up and a policy that reads any age reach no other's answer`(
        name: String
    ) async throws {
        for role in Roles.all {
            let bench = Bench(role)
            try await bench.load(["Cache-Control": "max-age=60", "Vary": name], for: HTTPFields([.init(name, "one")]))
            let error = await #expect(throws: HTTPTransportError.self) {
                try await bench.send(HTTPFields([.init(name, "two")]), policy: .returnCacheDataDontLoad)
            }
            #expect(error?.code == .notCached)
        }
    }

    @Test func `what a private cache stored is not for a shared one on the same store, nor the other way round`()
        async throws
    {
        for (first, second) in [(CacheRole.private, CacheRole.shared()), (.shared(), .private)] {
            let store = MemoryResponseStore()
            try await Bench(first, store: store).load(["Cache-Control": "max-age=60"], body: "first")

            #expect(try await Bench(second, store: store).load([:], body: "second").body == "second")
        }
    }
}
