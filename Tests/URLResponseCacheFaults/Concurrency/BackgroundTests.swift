import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoURLResponseCache

/// Background revalidation of stale responses. RFC 5861 section 3.
@Suite(.timeLimit(.minutes(10)))
struct BackgroundTests {
    private let clock = ManualClock()
    private let gate = Gate()
    private let executor = ManualExecutor()

    /// The server's behavior for a second request.
    enum Second: CaseIterable, Sendable { case responds, fails, isInTrouble, breaksOff }

    private func cache(
        _ second: Second = .responds, limit: Int = 8, on executor: ManualExecutor? = nil
    ) -> (CachingTransport, FakeTransport) {
        let known = Watched<Set<URL>>([])
        let server = FakeTransport { [gate] request in
            let fields = ["Cache-Control": "max-age=10, stale-while-revalidate=100", "ETag": "\"a\""] as HTTPFields
            if known.update({ $0.insert(request.url).inserted }) { return HTTPResponse(request, fields, "old") }
            await gate.pass()
            switch second {
            case .responds: return HTTPResponse(request, fields, "new")
            case .fails: throw HTTPTransportError(.cannotConnect, "gone")
            case .isInTrouble: return HTTPResponse(request, status: 500, [:], "trouble")
            case .breaksOff: return HTTPResponse(request, fields, HTTPBody(BrokenBody("ne")))
            }
        }
        let cache = CachingTransport(
            wrapping: server, store: MemoryResponseStore(), clock: clock, maxConcurrentRevalidations: limit,
            taskExecutor: executor)
        return (cache, server)
    }

    private func text(_ cache: CachingTransport, _ page: String = "a") async throws -> String {
        try await cache.send(HTTPRequest(url: .page(page))).text()
    }

    @Test func `many uses of a stale response cause one revalidation, and no caller waits for it`() async throws {
        let (cache, server) = cache()
        _ = try await text(cache)
        clock.advance(by: .seconds(20))
        for _ in 0..<50 { #expect(try await text(cache) == "old") }
        await gate.arrivals()
        #expect(server.requests.count == 2)
        gate.open()
        await cache.finish()

        #expect(try await text(cache) == "new")
        #expect(server.requests.count == 2)
    }

    @Test(arguments: [Second.fails, .isInTrouble, .breaksOff])
    func `a failed revalidation keeps the stored response and is repeated`(second: Second) async throws {
        let (cache, server) = cache(second)
        gate.open()
        _ = try await text(cache)
        clock.advance(by: .seconds(20))
        for count in 2...4 {
            #expect(try await text(cache) == "old")
            await cache.finish()
            #expect(server.requests.count == count)
        }
    }

    @Test func `finish returns once the background response is stored, and not before`() async throws {
        let (cache, server) = cache(on: executor)
        _ = try await text(cache)
        clock.advance(by: .seconds(20))
        _ = try await text(cache)
        let isFinished = Watched(false)
        Task(executorPreference: executor) {
            await cache.finish()
            isFinished.update { $0 = true }
        }
        executor.drain()
        #expect(server.requests.count == 2)
        #expect(!isFinished.value)
        gate.open()
        executor.drain()
        #expect(isFinished.value)

        #expect(try await text(cache) == "new")
    }

    /// RFC 5861 section 3: each stale response that is used should be revalidated.
    @Test func `the number of background revalidations is limited, and the others wait`() async throws {
        let (cache, server) = cache(limit: 2, on: executor)
        for page in 0..<20 { _ = try await text(cache, "\(page)") }
        clock.advance(by: .seconds(20))
        for _ in 0..<3 { for page in 0..<20 { #expect(try await text(cache, "\(page)") == "old") } }
        executor.drain()
        #expect(server.requests.count == 22)
        gate.open()
        executor.drain()

        #expect(server.requests.count == 40)
        for page in 0..<20 { #expect(try await text(cache, "\(page)") == "new") }
    }

    @Test func `revalidations over the queue limit are dropped, and all with a limit of 0`() async {
        let done = Watched<[String]>([])
        for (limit, maximumQueueCount, expected) in [(1, 2, ["0", "1", "2"]), (0, 2, [])] {
            let work = BackgroundRevalidations(
                limit: limit, maximumQueueCount: maximumQueueCount, timeLimit: .seconds(60), clock: clock)
            let gate = Gate()
            done.update { $0 = [] }
            for name in ["0", "1", "1", "2", "3"] {
                work.start(ImageKey(ResourceKey(name))) {
                    await gate.pass()
                    done.update { $0.append(name) }
                }
            }
            gate.open()
            await work.wait()
            #expect(done.value == expected)
        }
    }

    @Test func `a caller that leaves does not cancel a background revalidation`() async throws {
        let (cache, _) = cache()
        _ = try await text(cache)
        clock.advance(by: .seconds(20))
        let caller = Task { try await text(cache) }
        await gate.arrivals()
        caller.cancel()
        _ = await caller.result
        gate.open()
        await cache.finish()

        #expect(try await text(cache) == "new")
    }

    @Test func `finish without work returns at once to any number of callers`() async throws {
        let (cache, server) = cache()
        _ = try await text(cache)
        let returned = Watched(0)
        await withTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    await cache.finish()
                    returned.update { $0 += 1 }
                }
            }
        }

        // The clock has not advanced, and no request was sent.
        #expect(returned.value == 20)
        #expect(clock.sleeperCount == 0)
        #expect(server.requests.count == 1)
    }
}
