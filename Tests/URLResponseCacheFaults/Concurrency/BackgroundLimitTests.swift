import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import AlcedoURLResponseCache
import FoundationEssentials
import TestSupport
import Testing

/// The time and byte limits of one background revalidation.
@Suite(.timeLimit(.minutes(10)))
struct BackgroundLimitTests {
    private static let terms: HTTPFields = [
        "Cache-Control": "max-age=10, stale-while-revalidate=1000", "ETag": "\"a\"",
    ]

    private let clock = ManualClock()

    /// Returns a cache whose server responds with "old" to a page's first request, and with the result of `later` to
    /// others.
    private func cache(
        byteLimit: Int? = nil, later: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) -> (CachingTransport, FakeTransport) {
        let known = Watched<Set<URL>>([])
        let server = FakeTransport { request in
            let isFirst = known.update { $0.insert(request.url).inserted }
            return isFirst ? HTTPResponse(request, Self.terms, "old") : later(request)
        }
        let cache = CachingTransport(
            wrapping: server, store: MemoryResponseStore(), clock: clock, revalidationTimeout: .seconds(30),
            maximumRevalidationByteCount: byteLimit)
        return (cache, server)
    }

    private func text(_ cache: CachingTransport, _ page: String = "a") async throws -> String {
        try await cache.send(HTTPRequest(url: .page(page))).text()
    }

    @Test func `slow bodies end at the time limit, and the next revalidation follows`() async throws {
        let (cache, server) = cache { [clock] request in
            let isSlow = request.url != .page("fast")
            return HTTPResponse(
                request, Self.terms, isSlow ? HTTPBody(DrippingBody(clock)) : HTTPBody(Data("new".utf8)))
        }
        let pages = (0..<8).map(String.init) + ["fast"]
        for page in pages { _ = try await text(cache, page) }
        clock.advance(by: .seconds(20))
        for page in pages { #expect(try await text(cache, page) == "old") }
        // Each of the eight waits for its next byte and for its limit, and the ninth waits for a slot.
        try await clock.waitForSleepers(count: 16)
        #expect(server.requests.count == 17)

        clock.advance(by: .seconds(30))
        await cache.finish()

        #expect(server.requests.count == 18)
        #expect(try await text(cache, "fast") == "new")
        #expect(try await text(cache, "0") == "old")
    }

    @Test func `a server that does not respond is abandoned at the time limit`() async throws {
        let known = Watched(false)
        let server = FakeTransport { [clock] request in
            let isKnown = known.update { known in
                defer { known = true }
                return known
            }
            if isKnown { try await clock.sleep(for: .seconds(100_000)) }
            return HTTPResponse(request, Self.terms, "old")
        }
        let cache = CachingTransport(wrapping: server, store: MemoryResponseStore(), clock: clock)
        _ = try await text(cache)
        clock.advance(by: .seconds(20))
        #expect(try await text(cache) == "old")
        try await clock.waitForSleepers(count: 2)

        // The default limit.
        clock.advance(by: .seconds(60))
        await cache.finish()

        #expect(clock.sleeperCount == 0)
    }

    @Test func `an endless body is canceled at the byte limit`() async throws {
        let body = EndlessBody()
        let (cache, _) = cache(byteLimit: 2_500) { HTTPResponse($0, Self.terms, HTTPBody(body)) }
        _ = try await text(cache)
        clock.advance(by: .seconds(20))
        #expect(try await text(cache) == "old")
        await cache.finish()

        #expect(body.isCancelled)
        #expect(body.pieceCount == 3)
        #expect(try await text(cache) == "old")
        await cache.finish()
    }

    @Test func `a body that declares more than the byte limit is not received`() async throws {
        let body = EndlessBody()
        let (cache, _) = cache(byteLimit: 2_500) { request in
            HTTPResponse(request, HTTPFields(Self.terms.fields + [.init("Content-Length", "2501")]), HTTPBody(body))
        }
        _ = try await text(cache)
        clock.advance(by: .seconds(20))
        _ = try await text(cache)
        await cache.finish()

        #expect(body.isCancelled)
        #expect(body.pieceCount == 0)
    }

    @Test func `the default byte limit is that of stored bodies`() async throws {
        let body = EndlessBody()
        let bodies = Watched([HTTPBody(Data("old".utf8)), HTTPBody(body)])
        let server = FakeTransport { request in
            HTTPResponse(request, Self.terms, bodies.update { $0.removeFirst() })
        }
        let cache = CachingTransport(
            wrapping: server, store: MemoryResponseStore(), clock: clock, maximumBodyByteCount: 4_000)
        _ = try await text(cache)
        clock.advance(by: .seconds(20))
        _ = try await text(cache)
        await cache.finish()

        #expect(body.isCancelled)
        #expect(body.pieceCount == 5)
    }
}

/// An endless body of one byte per second.
private final class DrippingBody: HTTPBodySource {
    private let clock: ManualClock

    init(_ clock: ManualClock) { self.clock = clock }

    func next() async throws -> Data? {
        try await clock.sleep(for: .seconds(1))
        return Data([0])
    }

    func cancel() {}
}

/// An endless body of pieces of 1,000 bytes.
private final class EndlessBody: HTTPBodySource {
    private let state = Watched((pieces: 0, isCancelled: false))

    var pieceCount: Int { state.value.pieces }
    var isCancelled: Bool { state.value.isCancelled }

    func next() async throws -> Data? {
        guard
            state.update({ state in
                if !state.isCancelled { state.pieces += 1 }
                return !state.isCancelled
            })
        else { throw CancellationError() }
        return Data(count: 1_000)
    }

    func cancel() { state.update { $0.isCancelled = true } }
}
