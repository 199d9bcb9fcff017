import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoURLResponseCache

/// Concurrent equal requests.
@Suite(.timeLimit(.minutes(10)))
struct CoalescingTests {
    private let gate = Gate()
    private let executor = ManualExecutor()
    private let cancellations = Watched(0)
    private let store = FailingStore()

    /// Returns a cache with a stale response, and a server that confirms it after the gate opens.
    private func staleCache(
        status: Int = 304, on executor: ManualExecutor? = nil
    ) async throws -> (CachingTransport, FakeTransport) {
        let server = FakeTransport { [gate, cancellations] request in
            guard request.fields["If-None-Match"] != nil else {
                return HTTPResponse(request, ["ETag": "\"a\""], "body")
            }
            await withTaskCancellationHandler {
                await gate.pass()
            } onCancel: {
                cancellations.update { $0 += 1 }
                gate.open()
            }
            try Task.checkCancellation()
            return HTTPResponse(request, status: status, ["ETag": "\"a\""], status == 304 ? "" : "body")
        }
        let cache = CachingTransport(wrapping: server, store: store, clock: ManualClock(), taskExecutor: executor)
        _ = try await cache.send(HTTPRequest(url: .page())).text()
        return (cache, server)
    }

    private func questions(_ server: FakeTransport) -> Int {
        server.requests.count { $0.fields["If-None-Match"] != nil }
    }

    @Test func `a hundred equal requests are sent once`() async throws {
        let (cache, server) = try await staleCache(on: executor)
        let requests = (0..<100).map { _ in
            Task(executorPreference: executor) { try await cache.send(HTTPRequest(url: .page())) }
        }
        executor.drain()
        gate.open()
        executor.drain()

        for request in requests {
            let response = try await request.value
            #expect(response.caching?.source == .revalidated)
            #expect(try await response.text() == "body")
        }
        #expect(questions(server) == 1)
    }

    @Test func `a hundred equal requests each receive their own body when the content has changed`() async throws {
        let (cache, _) = try await staleCache(status: 200)
        let requests = (0..<100).map { _ in Task { try await cache.send(HTTPRequest(url: .page())).text() } }
        await gate.arrivals()
        gate.open()

        for request in requests { #expect(try await request.value == "body") }
    }

    @Test func `requests that differ in what the server receives are sent separately`() async throws {
        let (cache, server) = try await staleCache()
        let requests = (0..<4).map { index in
            Task { try await cache.send(HTTPRequest(url: .page(), fields: ["Authorization": "\(index)"])).text() }
        }
        await gate.arrivals(4)
        gate.open()

        for request in requests { #expect(try await request.value == "body") }
        #expect(questions(server) == 4)
    }

    @Test func `a caller that leaves does not cancel the others, even if it was first`() async throws {
        let (cache, server) = try await staleCache(on: executor)
        func ask() -> Task<String, any Error> {
            Task(executorPreference: executor) { try await cache.send(HTTPRequest(url: .page())).text() }
        }
        let first = ask()
        executor.drain()
        let others = (0..<10).map { _ in ask() }
        executor.drain()
        others[3].cancel()
        first.cancel()
        executor.drain()

        // They return at once, although the server has not responded.
        await #expect(throws: CancellationError.self) { try await first.value }
        await #expect(throws: CancellationError.self) { try await others[3].value }
        gate.open()
        executor.drain()
        for index in others.indices where index != 3 { #expect(try await others[index].value == "body") }
        #expect(questions(server) == 1)
    }

    @Test func `the request is canceled when the last caller has left`() async throws {
        let (cache, _) = try await staleCache()
        let requests = (0..<5).map { _ in Task { try await cache.send(HTTPRequest(url: .page())).text() } }
        await gate.arrivals()
        for request in requests { request.cancel() }
        for request in requests { await #expect(throws: CancellationError.self) { try await request.value } }

        // Opened by the cancellation alone.
        await gate.pass()
        #expect(cancellations.value > 0)
        #expect(try await cache.send(HTTPRequest(url: .page())).text() == "body")
    }
}
