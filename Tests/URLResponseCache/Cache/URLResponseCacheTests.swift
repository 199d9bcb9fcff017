import AlcedoCore
import AlcedoDiskCache
import AlcedoHTTP
import AlcedoTesting
import AlcedoURLResponseCache
import FoundationEssentials
import TestSupport
import Testing

/// The behavior of `URLCache`: capacities, lookup, removal.
@Suite(.timeLimit(.minutes(10)))
struct URLResponseCacheTests {
    private let server = ScriptedTransport()
    private let clock = ManualClock()

    private func disk(in directory: TemporaryDirectory) -> FileDiskCache {
        FileDiskCache(directory: directory.url, lockTimeout: .seconds(300), clock: clock)
    }

    private func url(_ path: String) -> URL { Bench.url("http://example.test/\(path)") }

    private func head(_ path: String, _ fields: HTTPFields = ["Cache-Control": "max-age=60"]) -> HTTPResponseHead {
        HTTPResponseHead(url: url(path), status: 200, fields: fields)
    }

    @discardableResult
    private func store(_ path: String, _ body: String = "body", in cache: URLResponseCache) async -> Bool {
        await cache.store(head(path), body: body.data, for: HTTPRequest(url: url(path)), at: clock.now)
    }

    @Test func `with both capacities zero every request is sent to the network`() async throws {
        let cache = URLResponseCache(memoryLimit: 0)
        let transport = CachingTransport(wrapping: server, cache: cache, clock: clock)
        for _ in 0..<2 {
            server.respond(200, ["Cache-Control": "max-age=60"])
            #expect(try await CollectedResponse(transport.send(HTTPRequest(url: Bench.url))).source == .new)
        }
        #expect(cache.memoryUsage == 0)
        #expect(await cache.diskUsage == 0)
    }

    @Test func `a look-up that ignores memory finds only the responses on disk`() async throws {
        let directory = try TemporaryDirectory()
        let both = URLResponseCache(disk: disk(in: directory), clock: clock)
        let inMemory = URLResponseCache(clock: clock)
        for cache in [both, inMemory] { await store("a", in: cache) }
        _ = await both.store(
            head("b"), body: "body".data, for: HTTPRequest(url: url("b")), at: clock.now, policy: .allowedInMemoryOnly)

        for (cache, path, isOnDisk) in [(both, "a", true), (both, "b", false), (inMemory, "a", false)] {
            let request = HTTPRequest(url: url(path))
            #expect(await cache.hasResponse(for: request, ignoringMemory: false))
            #expect(await cache.hasResponse(for: request, ignoringMemory: true) == isOnDisk)
        }
    }

    @Test func `without memory the disk serves responses, and without a disk the memory does`() async throws {
        let directory = try TemporaryDirectory()
        for isOnDisk in [true, false] {
            let cache = URLResponseCache(
                memoryLimit: isOnDisk ? 0 : 1 << 20, disk: isOnDisk ? disk(in: directory) : nil)
            let transport = CachingTransport(wrapping: server, cache: cache, clock: clock)
            server.respond(200, ["Cache-Control": "max-age=60"])
            _ = try await CollectedResponse(transport.send(HTTPRequest(url: Bench.url)))

            #expect(try await CollectedResponse(transport.send(HTTPRequest(url: Bench.url))).source == .fresh)
            #expect((cache.memoryUsage > 0) == !isOnDisk)
            #expect(await (cache.diskUsage > 0) == isOnDisk)
        }
    }

    @Test func `a response for memory only is never written to disk`() async throws {
        let directory = try TemporaryDirectory()
        let cache = URLResponseCache(memoryLimit: 1 << 20, disk: disk(in: directory))
        let transport = CachingTransport(wrapping: server, cache: cache, clock: clock) { stored, _ in
            var stored = stored
            stored.storagePolicy = .allowedInMemoryOnly
            return stored
        }
        server.respond(200, ["Cache-Control": "max-age=60"], body: "secret")
        _ = try await CollectedResponse(transport.send(HTTPRequest(url: Bench.url)))

        #expect(try await CollectedResponse(transport.send(HTTPRequest(url: Bench.url))).source == .fresh)
        #expect(await cache.diskUsage == 0)
        // It replaces the entry of both.
        #expect(await store("b", in: cache))
        #expect(
            await cache.store(
                head("b"), body: "new".data, for: HTTPRequest(url: url("b")), at: clock.now,
                policy: .allowedInMemoryOnly))
        #expect(await cache.diskUsage == 0)
        #expect(await cache.response(for: HTTPRequest(url: url("b")))?.body == "new".data)
    }

    @Test func `an app can store and find responses of any age`() async throws {
        let cache = URLResponseCache()
        let stored = await cache.store(
            head("a"), body: "one".data, for: HTTPRequest(url: url("a")), at: clock.now, userInfo: ["k": "v"])
        #expect(stored)

        clock.advance(by: .seconds(1_000))
        let found = try #require(await cache.response(for: HTTPRequest(url: url("a"))))
        #expect(found.body == "one".data)
        #expect(found.userInfo == ["k": "v"])
        #expect(found.head.status == 200)
        #expect(found.responseTime == start)
        #expect(await cache.response(for: HTTPRequest(url: url("b"))) == nil)
        // A transport serves it.
        let transport = CachingTransport(wrapping: server, cache: cache, clock: clock)
        let received = try await CollectedResponse(
            transport.send(HTTPRequest(url: url("a"), cachePolicy: .returnCacheDataDontLoad)))
        #expect(received.body == "one")
        #expect(received.source == .stale)
    }

    @Test(
        arguments: Roles.all,
        [
            (["Cache-Control": "no-store"], [:], Roles.neither), (["Cache-Control": "private"], [:], .privateOnly),
            (["Vary": "*"], [:], .neither), ([:], ["Cache-Control": "no-store"], .neither),
            (["Cache-Control": "max-age=60"], ["Authorization": "x"], .privateOnly),
            (["Content-Length": "4"], [:], .both),
            // A body shorter than its head declares.
            (["Content-Length": "5"], [:], .neither), (["Content-Length": "3"], [:], .neither),
        ] as [(HTTPFields, HTTPFields, Roles)])
    func `an app cannot store responses that HTTP forbids to store`(
        role: CacheRole, row: (received: HTTPFields, request: HTTPFields, stored: Roles)
    ) async throws {
        let cache = URLResponseCache(rules: ResponseCacheRules(role: role))
        let request = HTTPRequest(url: url("a"), fields: row.request)

        let isStored = await cache.store(head("a", row.received), body: "body".data, for: request, at: clock.now)

        #expect(isStored == row.stored.contains(role))
        #expect(await (cache.response(for: request) != nil) == row.stored.contains(role))
    }

    @Test func `a response with the policy notAllowed is not stored`() async throws {
        let cache = URLResponseCache()
        let request = HTTPRequest(url: url("a"))

        #expect(await !cache.store(head("a"), body: Data(), for: request, at: clock.now, policy: .notAllowed))
        #expect(await cache.response(for: request) == nil)
    }

    @Test func `removal works by request, by URL, since a date and for all responses`() async throws {
        let directory = try TemporaryDirectory()
        let cache = URLResponseCache(memoryLimit: 1 << 20, disk: disk(in: directory))
        for path in ["a", "b", "c"] {
            #expect(await store(path, in: cache))
            clock.advance(by: .seconds(10))
        }
        await cache.removeResponse(for: HTTPRequest(url: url("nothing")))
        await cache.removeResponse(for: HTTPRequest(url: url("a")))
        #expect(await cache.response(for: HTTPRequest(url: url("a"))) == nil)
        #expect(await cache.response(for: HTTPRequest(url: url("b"))) != nil)

        await cache.removeResponses(since: start + 20)
        #expect(await cache.response(for: HTTPRequest(url: url("c"))) == nil)
        #expect(await cache.response(for: HTTPRequest(url: url("b"))) != nil)

        await cache.removeAll()
        #expect(await cache.response(for: HTTPRequest(url: url("b"))) == nil)
        #expect(cache.memoryUsage == 0)
        #expect(await cache.diskUsage == 0)
    }

    @Test func `removing a request removes one variant, and removing a URL removes all`() async throws {
        let cache = URLResponseCache()
        let requests = ["a", "b"].map { HTTPRequest(url: Bench.url, fields: ["Accept": $0]) }
        for request in requests {
            let head = HTTPResponseHead(
                url: Bench.url, status: 200, fields: ["Cache-Control": "max-age=60", "Vary": "Accept"])
            #expect(await cache.store(head, body: Data(), for: request, at: clock.now))
        }

        await cache.removeResponse(for: requests[0])
        #expect(await cache.response(for: requests[0]) == nil)
        #expect(await cache.response(for: requests[1]) != nil)
        await cache.removeAllResponses(for: HTTPRequest(url: Bench.url("HTTP://EXAMPLE.TEST:80/a.png#x")))
        #expect(await cache.response(for: requests[1]) == nil)
    }

    @Test func `removal since a date also removes responses validated since then`() async throws {
        let cache = URLResponseCache()
        let transport = CachingTransport(wrapping: server, cache: cache, clock: clock)
        server.respond(200, ["Cache-Control": "max-age=5", "ETag": "\"v\""])
        _ = try await CollectedResponse(transport.send(HTTPRequest(url: Bench.url)))
        clock.advance(by: .seconds(10))
        server.respond(304, ["ETag": "\"v\""])
        _ = try await CollectedResponse(transport.send(HTTPRequest(url: Bench.url)))

        await cache.removeResponses(since: start + 5)

        #expect(await cache.response(for: HTTPRequest(url: Bench.url)) == nil)
    }

    @Test func `statistics count lookups and stores of the cache and its transports`() async throws {
        let cache = URLResponseCache(clock: clock)
        let transport = CachingTransport(wrapping: server, cache: cache)
        server.respond(200, ["Cache-Control": "max-age=60"])
        for _ in 0..<2 { _ = try await CollectedResponse(transport.send(HTTPRequest(url: Bench.url))) }
        await store("b", in: cache)
        #expect(await cache.response(for: HTTPRequest(url: url("b"))) != nil)
        #expect(await cache.response(for: HTTPRequest(url: url("c"))) == nil)

        let statistics = cache.statistics
        #expect(statistics.hits == 2)
        #expect(statistics.misses == 2)
        #expect(statistics.stores == 2)
        #expect(statistics.failures == 0)
    }
}
