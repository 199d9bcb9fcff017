import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoURLResponseCache

/// A cache error never fails a request that the network can serve.
@Suite(.timeLimit(.minutes(10)))
struct FailingStoreTests {
    private let store = FailingStore()
    private let server = FakeTransport {
        HTTPResponse($0, ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Vary": "X"], "body")
    }

    private var cache: CachingTransport { CachingTransport(wrapping: server, store: store, clock: ManualClock()) }

    /// Throws from every method.
    private struct BrokenDataCache: MeasurableDataCache {
        func entry(for key: ImageKey) async -> CachedData? { CachedData(Data("x".utf8), metadata: Data("y".utf8)) }
        func contains(_ key: ImageKey) async -> Bool { true }
        func store(_ entry: CachedData, for key: ImageKey) async throws { throw DataCacheError(.notWritable, "no") }
        func remove(_ key: ImageKey) async -> Bool { false }
        func removeAll(of resource: ResourceKey) async -> Int { 0 }
        func removeAll() async {}
        var totalSize: Int { 1 }
        var count: Int { 1 }
    }

    @Test func `each request is sent to the server when the store loses all entries`() async throws {
        let cache = cache
        #expect(try await cache.send(HTTPRequest(url: .page())).text() == "body")
        store.lose()
        for _ in 0..<3 { #expect(try await cache.send(HTTPRequest(url: .page())).text() == "body") }

        #expect(server.requests.count == 4)
    }

    @Test func `a data cache that refuses stores and returns invalid entries fails no request`() async throws {
        let store = DataResponseStore(BrokenDataCache())
        let cache = CachingTransport(wrapping: server, store: store, clock: ManualClock())
        for method in [HTTPMethod.get, .head, .post, .get] {
            #expect(try await cache.send(HTTPRequest(method: method, url: .page())).head.status == 200)
        }
        await cache.parts.store.removeAll(storedSince: .distantPast)
        #expect(try await cache.send(HTTPRequest(url: .page())).text() == "body")
    }

    @Test(arguments: [FailingStore.Call.entry, .store])
    func `a store that stalls for a while is awaited`(call: FailingStore.Call) async throws {
        let cache = cache
        let gate = store.stop(call)
        let request = Task { try await cache.send(HTTPRequest(url: .page())).text() }
        await gate.arrivals()
        gate.open()

        #expect(try await request.value == "body")
        #expect(try await cache.send(HTTPRequest(url: .page())).text() == "body")
        #expect(server.requests.count == 1)
    }

    @Test func `a store that stalls for one resource does not block another`() async throws {
        let cache = cache
        let gate = store.stop(.store)
        let first = Task { try await cache.send(HTTPRequest(url: .page("a"))).text() }
        await gate.arrivals()

        #expect(try await cache.send(HTTPRequest(url: .page("b"))).text() == "body")
        gate.open()
        #expect(try await first.value == "body")
    }

    @Test func `a caller that leaves while the store stalls undoes nothing`() async throws {
        let cache = cache
        let gate = store.stop(.store)
        let first = Task { try await cache.send(HTTPRequest(url: .page())).text() }
        await gate.arrivals()
        first.cancel()
        gate.open()
        _ = await first.result

        #expect(try await cache.send(HTTPRequest(url: .page())).text() == "body")
        #expect(server.requests.count == 1)
    }

    @Test func `an index without its variants, and variants without their index, are a miss`() async throws {
        let cache = cache
        let request = HTTPRequest(url: .page(), fields: ["X": "1"])
        _ = try await cache.send(request).text()
        let variant = try #require(store.storedKeys.first { !$0.variant.isEmpty })
        await store.inner.remove(variant)
        #expect(try await cache.send(request).text() == "body")
        #expect(server.requests.count == 2)

        await store.inner.remove(variant.original)
        #expect(try await cache.send(request).text() == "body")
        #expect(server.requests.count == 3)
        #expect(try await cache.send(request).text() == "body")
        #expect(server.requests.count == 3)
    }

    @Test func `an index under a variant's key and a response to another request there are a miss`() async throws {
        let cache = cache
        let request = HTTPRequest(url: .page(), fields: ["X": "1"])
        _ = try await cache.send(request).text()
        let variant = try #require(store.storedKeys.first { !$0.variant.isEmpty })
        let own = try #require(await store.inner.entry(for: variant.original))
        guard case .response(var stored)? = await store.inner.entry(for: variant) else {
            Issue.record("no response is stored")
            return
        }
        await store.inner.store(own, for: variant)
        #expect(try await cache.send(request).text() == "body")
        #expect(server.requests.count == 2)

        stored.varyingFields = ["x": "2"]
        await store.inner.store(.response(stored), for: variant)
        #expect(try await cache.send(request).text() == "body")
        #expect(server.requests.count == 3)
    }
}
