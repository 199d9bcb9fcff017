import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoURLResponseCache

/// A stored body is used only for requests that expect its form: decoded by the transport, or as it was sent.
@Suite(.timeLimit(.minutes(10)))
struct ContentCodingTests {
    private static let coded: HTTPFields = ["Cache-Control": "max-age=60", "Content-Encoding": "gzip", "ETag": "\"v\""]

    private let clock = ManualClock()

    /// Request fields, and whether the caller expects the body as it was sent.
    private static let kinds: [(fields: HTTPFields, isPacked: Bool)] = [
        ([:], false), (["Accept-Encoding": "gzip"], true), (["Accept-Encoding": "br, gzip;q=0.5"], true),
        (["Accept-Encoding": ""], true),
    ]

    /// A server that encodes every body, with one tag for all codings and without a Vary.
    private func origin(confirms: Bool = true) throws -> LoopbackOrigin {
        try LoopbackOrigin { request in
            if confirms, request.fields["If-None-Match"]?.contains("\"v\"") == true {
                return .status(304, fields: ["ETag": "\"v\"", "Cache-Control": "max-age=60"])
            }
            return OriginReply(fields: Self.coded, body: GzipSample.encoded)
        }
    }

    private func body(
        _ origin: LoopbackOrigin, _ fields: HTTPFields, through cache: CachingTransport
    ) async throws -> (body: Data, source: ResponseCaching.Source?) {
        let response = try await cache.send(
            HTTPRequest(url: origin.url(for: "/"), fields: fields, idleTimeout: .seconds(120)))
        return (try await response.body.collect(limit: 1_000), response.caching?.source)
    }

    @Test(arguments: Roles.all, [false, true])
    func `each caller receives the body in its expected coding, whether new, fresh or validated`(
        role: CacheRole, isReversed: Bool
    ) async throws {
        let origin = try origin()
        defer { origin.stop() }
        let cache = CachingTransport(
            wrapping: CURLTransport(), store: MemoryResponseStore(), rules: ResponseCacheRules(role: role), clock: clock
        )
        let kinds = isReversed ? Self.kinds.reversed() : Self.kinds
        for kind in kinds {
            #expect(
                try await body(origin, kind.fields, through: cache).body
                    == (kind.isPacked ? GzipSample.encoded : GzipSample.decoded))
        }
        let count = origin.requests.count
        for kind in kinds {
            let (body, source) = try await body(origin, kind.fields, through: cache)
            #expect(body == (kind.isPacked ? GzipSample.encoded : GzipSample.decoded))
            #expect(source == .fresh)
        }
        #expect(origin.requests.count == count)
        clock.advance(by: .seconds(61))
        for kind in kinds {
            let (body, source) = try await body(origin, kind.fields, through: cache)
            #expect(body == (kind.isPacked ? GzipSample.encoded : GzipSample.decoded))
            #expect(source == .revalidated)
        }
    }

    @Test func `an encoded range response is not stored for requests without a range`()
        async throws
    {
        let origin = try origin(confirms: false)
        defer { origin.stop() }
        let cache = CachingTransport(wrapping: CURLTransport(), store: MemoryResponseStore(), clock: clock)

        #expect(try await body(origin, ["Range": "bytes=0-999"], through: cache).body == GzipSample.encoded)
        #expect(try await body(origin, [:], through: cache).body == GzipSample.decoded)
        #expect(try await body(origin, ["Range": "bytes=0-999"], through: cache).body == GzipSample.encoded)
        // With explicit codings a range request is handled like others.
        let own: HTTPFields = ["Range": "bytes=0-999", "Accept-Encoding": "gzip"]
        #expect(try await body(origin, own, through: cache).body == GzipSample.encoded)
        #expect(try await body(origin, ["Accept-Encoding": "gzip"], through: cache).source == .fresh)
    }

    @Test func `an encoded whole response in place of the rest is requested again`() async throws {
        let origin = try LoopbackOrigin { request in
            if request.number == 1 {
                let fields: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
                return OriginReply(fields: fields, body: GzipSample.decoded).cutting(at: .afterBody(9))
            }
            return OriginReply(fields: Self.coded, body: GzipSample.encoded)
        }
        defer { origin.stop() }
        let cache = CachingTransport(wrapping: CURLTransport(), store: MemoryResponseStore(), clock: clock)
        await #expect(throws: HTTPTransportError.self) { try await body(origin, [:], through: cache) }

        #expect(try await body(origin, [:], through: cache).body == GzipSample.decoded)

        #expect(origin.requests.map { $0.fields["Range"] } == [nil, "bytes=9-", nil])
        #expect(try await body(origin, [:], through: cache).body == GzipSample.decoded)
        #expect(origin.requests.count == 3)
    }

    /// RFC 9111 section 4.1: without a coding and without Vary it serves all requests.
    @Test(arguments: Roles.all) func `a body without a coding serves all requests`(role: CacheRole) async throws {
        let bench = Bench(role)
        try await bench.load(["Cache-Control": "max-age=60"])

        for kind in Self.kinds { #expect(try await bench.send(kind.fields).isHit) }
    }

    @Test(arguments: Roles.all) func `the server may mark an encoded variant as valid for other codings`(
        role: CacheRole
    ) async throws {
        let bench = Bench(role)
        try await bench.load(Self.coded, body: "packed", for: ["Accept-Encoding": "gzip"])
        bench.server.respond(304, ["ETag": "\"v\""], body: "")

        let received = try await bench.send(["Accept-Encoding": "gzip, br"])

        #expect(received.body == "packed")
        #expect(received.source == .revalidated)
    }
}
