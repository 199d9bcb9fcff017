import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import AlcedoURLResponseCache
import FoundationEssentials
import Testing

/// The hook that decides whether a stored response is served.
@Suite(.timeLimit(.minutes(10)))
struct ServingHookTests {
    private static let life: HTTPFields = ["Cache-Control": "max-age=60, must-revalidate", "ETag": "\"v\""]

    @Test(arguments: Roles.all)
    func `a stale response that the hook serves is not validated`(role: CacheRole) async throws {
        let bench = Bench(role, willServe: { _, _, _ in .stored })
        try await bench.load(Self.life)
        bench.advance(61)

        for fields in [[:], ["Cache-Control": "no-cache"]] as [HTTPFields] {
            let response = try await bench.send(fields)
            #expect(response.body == "body")
            #expect(response.source == .stale)
            #expect(response.fields["Age"] == "61")
        }
        #expect(bench.server.requests.count == 1)
    }

    @Test func `a fresh response that the hook does not serve is validated`() async throws {
        let bench = Bench(willServe: { _, _, _ in .server })
        try await bench.load(Self.life)
        let confirmed = try await bench.load(Self.life, status: 304, body: "")
        #expect(confirmed.body == "body")
        #expect(confirmed.source == .revalidated)
        #expect(bench.server.requests.last?.fields["If-None-Match"] == "\"v\"")
        let replaced = try await bench.load(Self.life, body: "new")
        #expect(replaced.body == "new")
        #expect(bench.server.requests.count == 3)
    }

    @Test func `the hook receives the stored response, the request and the decision of HTTP`() async throws {
        let seen = Locked<[String]>([])
        let bench = Bench(willServe: { stored, request, prescribed in
            seen.withLock {
                $0.append("\(String(decoding: stored.body, as: UTF8.self)) \(request.fields["X"] ?? "") \(prescribed)")
            }
            return prescribed
        })
        try await bench.load(Self.life, for: ["X": "1"])
        #expect(try await bench.send(["X": "2"]).source == .fresh)
        bench.advance(61)
        try await bench.load(Self.life, status: 304, body: "", for: ["X": "3"])
        #expect(try await bench.send(["X": "4"]).source == .fresh)

        #expect(seen.withLock { $0 } == ["body 2 stored", "body 3 server", "body 4 stored"])
    }

    @Test(arguments: [
        HTTPCachePolicy.reloadIgnoringLocalCacheData, .returnCacheDataElseLoad, .returnCacheDataDontLoad,
        .reloadRevalidatingCacheData,
    ])
    func `a request with another policy, or only for the cache, does not call the hook`(
        policy: HTTPCachePolicy
    ) async throws {
        let calls = Locked(0)
        let bench = Bench(willServe: { _, _, prescribed in
            calls.withLock { $0 += 1 }
            return prescribed == .stored ? .server : .stored
        })
        try await bench.load(Self.life)
        bench.server.respond(200, Self.life, body: "new")
        _ = try await bench.send(policy: policy)
        #expect(try await bench.send(["Cache-Control": "only-if-cached"]).status == 200)
        #expect(calls.withLock { $0 } == 0)
    }

    @Test func `a response of another URL and a miss do not call the hook`() async throws {
        let bench = Bench(willServe: { _, _, _ in
            Issue.record("called without a stored response")
            return .stored
        })
        try await bench.load(Self.life)
        try await bench.load(Self.life, url: Bench.url("http://example.test/b.png"))
        #expect(bench.server.requests.count == 2)
    }
}
