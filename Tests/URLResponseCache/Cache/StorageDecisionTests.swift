import AlcedoCore
import AlcedoHTTP
import AlcedoURLResponseCache
import FoundationEssentials
import Testing

/// The `caching` property of a response: its source, and whether others may store it.
@Suite(.timeLimit(.minutes(10)))
struct StorageDecisionTests {
    private static let life: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"v\""]

    @Test(arguments: Roles.all) func `a response from the store has the storage policy it was stored with`(
        role: CacheRole
    ) async throws {
        let bench = Bench(
            role,
            willStore: { stored, _ in
                var stored = stored
                stored.storagePolicy = .allowedInMemoryOnly
                return stored
            })
        #expect(try await bench.load(Self.life).policy == .allowedInMemoryOnly)

        #expect(try await bench.send().policy == .allowedInMemoryOnly)
        bench.advance(61)
        let confirmed = try await bench.load(Self.life, status: 304, body: "")
        #expect(confirmed.source == .revalidated)
        #expect(confirmed.policy == .allowedInMemoryOnly)
        #expect(try await bench.send().policy == .allowedInMemoryOnly)
    }

    @Test func `the storage decision is final once the body is read, and may become stricter until then`() async throws
    {
        let bench = Bench(willStore: { _, _ in nil })
        bench.server.respond(200, Self.life)
        let response = try await bench.cache.send(HTTPRequest(url: Bench.url))
        let decision = try #require(response.caching?.decision)
        #expect(decision.policy == .allowed)

        _ = try await response.body.collect(limit: 100)

        #expect(decision.policy == .notAllowed)
    }

    @Test func `a storage decision only becomes stricter`() {
        let decision = StorageDecision(.allowedInMemoryOnly)
        decision.restrict(to: .allowed)
        #expect(decision.policy == .allowedInMemoryOnly)
        decision.restrict(to: .notAllowed)
        decision.restrict(to: .allowedInMemoryOnly)
        #expect(decision.policy == .notAllowed)
    }

    @Test(
        arguments: Roles.all,
        [
            (["Cache-Control": "no-store"], [:], Roles.both), (["Cache-Control": "private"], [:], .sharedOnly),
            ([:], ["Cache-Control": "no-store"], .both), (["Cache-Control": "max-age=60, x=\"y"], [:], .both),
            (["Vary": "*"], [:], .neither), (["Cache-Control": "max-age=60"], ["Authorization": "x"], .sharedOnly),
        ] as [(HTTPFields, HTTPFields, Roles)])
    func `a response that is passed on has the storage policy of server and caller`(
        role: CacheRole, row: (received: HTTPFields, request: HTTPFields, forbidden: Roles)
    ) async throws {
        let expected = row.forbidden.contains(role) ? ResponseStoragePolicy.notAllowed : .allowed
        #expect(try await Bench(role).load(row.received, for: row.request).policy == expected)
        // The same applies to responses that the cache does not handle.
        var request = row.request
        request["Range"] = "lines=1-2"
        #expect(try await Bench(role).load(row.received, for: request).policy == expected)
    }

    @Test(arguments: Roles.all) func `a request that must not be stored is reported with its response`(role: CacheRole)
        async throws
    {
        let bench = Bench(role)
        bench.server.respond(200, Self.life)

        #expect(try await bench.send(allowsStoring: false).policy == .notAllowed)
    }
}
