import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import AlcedoDownloader

@Suite(.timeLimit(.minutes(10)))
struct RetryTests {
    private let pauses = Watched<[Duration]>([])
    private let ok = Script.Response.head(200, [:], Data("x".utf8))

    @Test func `a failing server is retried after its Retry-After`() async throws {
        let script = Script([.head(503, ["Retry-After": "7"]), .failure(.connectionLost), ok])
        let download = try await HTTPFetcher.make(script) { $0.retries() }.fetch("http://h/a", pauses: pauses)
        #expect(download.data == Data("x".utf8))
        #expect(pauses.value == [.milliseconds(7_250), .milliseconds(500)])
    }

    @Test func `a Retry-After date is relative to the current time`() async throws {
        let script = Script([.head(429, ["Retry-After": "Tue, 14 Nov 2023 22:13:50 GMT"]), ok])
        _ = try await HTTPFetcher.make(script) { $0.retries() }.fetch("http://h/a", pauses: pauses)
        #expect(pauses.value == [.milliseconds(30_250)])
    }

    @Test func `the error of the last attempt is thrown`() async throws {
        let script = Script([.head(503, [:]), .head(500, [:]), .head(502, ["Server": "tired"]), ok])
        let fetcher = HTTPFetcher.make(script) { $0.retries() }
        let error = try await failure { try await fetcher.fetch("http://h/a", pauses: pauses) }
        #expect(error.code == .status(502))
        #expect(error.head?.fields["Server"] == "tired")
        #expect(pauses.value.count == 2)
    }

    @Test(arguments: [
        Script.Response.head(404, [:]), .head(501, [:]), .head(304, [:]), .head(302, [:]), .head(200, [:]),
        .head(200, ["Content-Length": "999999999999"]), .failure(.invalidResponse), .failure(.secureConnectionFailed),
    ])
    func `permanent failures are not retried`(response: Script.Response) async throws {
        let script = Script([response, ok])
        let fetcher = HTTPFetcher.make(script) { $0.retries() }
        _ = try await failure { try await fetcher.fetch("http://h/a", pauses: pauses) }
        #expect(script.requests.value.count == 1)
        #expect(pauses.value == [])
    }

    @Test func `without a policy nothing is retried`() async throws {
        let script = Script([.head(503, [:]), ok])
        let error = try await failure { try await HTTPFetcher.make(script).fetch("http://h/a", pauses: pauses) }
        #expect(error.code == .status(503))
        #expect(script.requests.value.count == 1)
    }

    @Test func `a cancellation is thrown and not retried`() async throws {
        let script = Script([.cancellation, ok])
        let fetcher = HTTPFetcher.make(script) { $0.retries() }
        await #expect(throws: CancellationError.self) { try await fetcher.fetch("http://h/a", pauses: pauses) }
        #expect(script.requests.value.count == 1)
    }

    @Test func `a cancellation ends the delay`() async throws {
        let clock = ManualClock()
        let script = Script([.failure(.timedOut), ok])
        let fetcher = HTTPFetcher.make(script, clock: clock) { $0.retries() }
        let request = HTTPRequest(url: try #require(URL(string: "http://h/a")))
        let task = Task { try await fetcher.fetch(request) { _ in } }
        try await clock.waitForSleepers(count: 1)

        task.cancel()

        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(script.requests.value.count == 1)
    }

    @Test func `a retry begins when the clock has advanced by the delay`() async throws {
        let clock = ManualClock()
        let script = Script([.failure(.cannotConnect), ok])
        let fetcher = HTTPFetcher.make(script, clock: clock) { $0.retries() }
        let request = HTTPRequest(method: .post, url: try #require(URL(string: "http://h/a")))
        let task = Task { try await fetcher.fetch(request) { _ in } }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(249))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .milliseconds(1))
        #expect(try await task.value.data == Data("x".utf8))
    }

    @Test func `downloads that share a budget limit their retries together`() async throws {
        let transport = FakeTransport { _ in throw HTTPTransportError(.cannotConnect, "down") }
        let fetcher = HTTPFetcher.make(transport) {
            $0.retries(10)
            $0.retryBudget = RetryBudget(share: 0.1, perSecond: 0, burst: 20)
        }
        for _ in 0..<500 { _ = try await failure { try await fetcher.fetch("http://h/a", pauses: pauses) } }
        // The first retry of each needs no token. The budget of 20 and a tenth of all limit the others.
        #expect((1_000 + 10...1_000 + 70).contains(transport.requests.count))
    }

    @Test func `the first retry of a download takes place without a budget`() async throws {
        for _ in 0..<3 {
            let script = Script([.failure(.cannotConnect), .head(200, [:], Data("x".utf8))])
            let fetcher = HTTPFetcher.make(script) {
                $0.retries(3)
                $0.retryBudget = RetryBudget(share: 0, perSecond: 0, burst: 0)
            }
            #expect(try await fetcher.fetch("http://h/a", pauses: pauses).data == Data("x".utf8))
        }
    }

    @Test func `without a budget only the policy limits retries`() async throws {
        let transport = FakeTransport { _ in throw HTTPTransportError(.cannotConnect, "down") }
        let fetcher = HTTPFetcher.make(transport) {
            $0.retries(10)
            $0.retryBudget = nil
        }
        for _ in 0..<50 { _ = try await failure { try await fetcher.fetch("http://h/a", pauses: pauses) } }
        #expect(transport.requests.count == 500)
    }

    @Test func `a proxy that requires a user is named as such`() async throws {
        let error = try await failure { try await HTTPFetcher.make(Script([.head(407, [:])])).fetch("http://h/a") }
        #expect(error.code == .status(407))
        #expect(error.message.contains("proxy"))
    }

    @Test func `a real server that fails twice is retried`() async throws {
        let origin = try LoopbackOrigin { request in
            switch request.attempt {
            case 1: .status(503, fields: ["Retry-After": "1"])
            case 2: OriginReply.text("x").cutting(at: .beforeHead)
            default: .text("end")
            }
        }
        defer { origin.stop() }
        let fetcher = HTTPFetcher.make(CURLTransport()) { $0.retries() }
        let download = try await fetcher.fetch(origin.url(for: "/a").absoluteString, pauses: pauses)
        #expect(download.data == Data("end".utf8))
        #expect(origin.requests.count == 3)
    }

    @Test func `a cached failure is thrown without a request`() async throws {
        let clock = ManualClock()
        let script = Script([.head(404, [:]), .failure(.timedOut), .failure(.timedOut), ok])
        let failed = FailureCache(lifetime: .seconds(60))
        let fetcher = HTTPFetcher.make(script, clock: clock) { $0.failureCache = failed }
        for _ in 0..<3 {
            #expect(try await failure { try await fetcher.fetch("http://h/a") }.code == .status(404))
        }
        #expect(script.requests.value.count == 1)
        clock.advance(by: .seconds(60))
        for _ in 0..<2 {
            #expect(try await failure { try await fetcher.fetch("http://h/a") }.code == .transport(.timedOut))
        }
        #expect(try await fetcher.fetch("http://h/a").data == Data("x".utf8))
    }
}
