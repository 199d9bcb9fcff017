import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoURLResponseCache

/// Bodies while they are being stored.
@Suite(.timeLimit(.minutes(10)))
struct BodyTests {
    private let bodies = Watched<[BrokenBody]>([])

    /// Returns a cache before a server: pages named by numbers have bodies of this many bytes, and others have two
    /// pieces and then an error.
    private func cache(maximum: Int = 1_000, collected: Int = 1_000) -> (CachingTransport, FakeTransport) {
        let server = FakeTransport { [bodies] request in
            let fields = ["Cache-Control": "max-age=600"] as HTTPFields
            if let count = Int(request.url.lastPathComponent) {
                return HTTPResponse(request, fields, String(repeating: "x", count: count))
            }
            let body = BrokenBody("first", "second")
            bodies.update { $0.append(body) }
            return HTTPResponse(request, fields, HTTPBody(body))
        }
        return (
            CachingTransport(
                wrapping: server, store: MemoryResponseStore(), clock: ManualClock(), maximumBodyByteCount: maximum,
                maximumCollectedByteCount: collected), server
        )
    }

    /// Reads the first piece.
    private func begin(_ cache: CachingTransport, _ page: String) async throws -> HTTPBody.Iterator {
        let response = try await cache.send(HTTPRequest(url: .page(page)))
        var iterator = response.body.makeAsyncIterator()
        #expect(try await iterator.next() != nil)
        return iterator
    }

    private func isStored(_ cache: CachingTransport, _ page: String) async throws -> Bool {
        let request = HTTPRequest(url: .page(page), cachePolicy: .returnCacheDataDontLoad)
        do {
            _ = try await cache.send(request)
            return true
        } catch let error as HTTPTransportError where error.code == .notCached {
            return false
        }
    }

    @Test func `a body released halfway is not stored, and its transfer ends`() async throws {
        let (cache, _) = cache()
        do { _ = try await begin(cache, "broken") }

        #expect(bodies.value.count == 1)
        #expect(bodies.value.first?.isCancelled == true)
        #expect(try await !isStored(cache, "broken"))
    }

    @Test func `an unread body is not stored, and its transfer ends`() async throws {
        let (cache, _) = cache()
        _ = try await cache.send(HTTPRequest(url: .page("broken")))

        #expect(bodies.value[0].isCancelled)
        #expect(try await !isStored(cache, "broken"))
    }

    @Test func `a truncated body is not stored, and its reader receives the error`() async throws {
        let (cache, _) = cache()
        let response = try await cache.send(HTTPRequest(url: .page("broken")))
        await #expect(throws: HTTPTransportError.self) { try await response.text() }

        #expect(try await !isStored(cache, "broken"))
    }

    @Test func `the memory of all bodies being stored is limited`() async throws {
        let (cache, _) = cache(collected: 100)
        var first = try await begin(cache, "80")
        // These exceed the memory limit and are passed on unchanged.
        #expect(try await cache.send(HTTPRequest(url: .page("30"))).text().utf8.count == 30)
        #expect(try await cache.send(HTTPRequest(url: .page("20"))).text().utf8.count == 20)
        #expect(try await first.next() == nil)

        #expect(try await isStored(cache, "80"))
        #expect(try await !isStored(cache, "30"))
        #expect(try await isStored(cache, "20"))
    }

    @Test func `a body releases its memory budget however it ends`() async throws {
        let (cache, _) = cache(maximum: 90, collected: 100)
        for _ in 0..<50 {
            do { _ = try await begin(cache, "80") }
            do { _ = try await begin(cache, "broken") }
            _ = try? await cache.send(HTTPRequest(url: .page("broken"))).text()
            _ = try? await cache.send(HTTPRequest(url: .page("95"))).text()
            _ = try? await cache.send(HTTPRequest(url: .page("200"))).text()
            let cancelled = Task { try await cache.send(HTTPRequest(url: .page("70"))).text() }
            cancelled.cancel()
            _ = await cancelled.result
        }
        _ = try await cache.send(HTTPRequest(url: .page("90"))).text()
        #expect(try await isStored(cache, "90"))
        #expect(try await !isStored(cache, "95"))
        #expect(cache.parts.budget.reserve(100))
    }

    @Test func `a hundred concurrent bodies stay within the limit and arrive complete`() async throws {
        let (cache, _) = cache(collected: 500)
        try await withThrowingTaskGroup { group in
            for index in 0..<100 {
                group.addTask {
                    let text = try await cache.send(HTTPRequest(url: .page("\(100 + index)"))).text()
                    #expect(text.utf8.count == 100 + index)
                }
            }
            try await group.waitForAll()
        }
        #expect(cache.parts.budget.reserve(500))
        #expect(!cache.parts.budget.reserve(1))
    }

    @Test func `a canceled reader receives its error, and the read bytes are not stored`() async throws {
        let (cache, _) = cache()
        let request = Task {
            let response = try await cache.send(HTTPRequest(url: .page("50")))
            withUnsafeCurrentTask { $0?.cancel() }
            return try await response.text()
        }
        await #expect(throws: CancellationError.self) { try await request.value }

        #expect(try await !isStored(cache, "50"))
    }
}
