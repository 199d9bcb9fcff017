import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import Testing

@testable import AlcedoDownloader

@Suite struct FailureCacheTests {
    private let notFound = DownloadError(.status(404), "gone")

    private func request(_ text: String, _ fields: HTTPFields = HTTPFields()) throws -> HTTPRequest {
        HTTPRequest(url: try #require(URL(string: text)), fields: fields)
    }

    @Test(arguments: [
        (DownloadError.Code.status(404), true), (.status(410), true), (.status(403), true), (.status(400), true),
        (.status(401), false), (.status(407), false), (.status(408), false), (.status(425), false),
        (.status(429), false), (.status(500), false), (.status(503), false), (.empty, true), (.tooLarge, true),
        (.badRedirect, true), (.unexpectedContent, true), (.notModified, false), (.declined, false), (.hook, false),
        (.transport(.timedOut), false), (.transport(.connectionLost), false), (.transport(.cannotConnect), false),
        (.transport(.cannotResolveHost), false), (.transport(.notCached), false), (.transport(.shutDown), false),
        (.transport(.secureConnectionFailed), false), (.transport(.invalidResponse), true), (.unwritableFile, false),
    ])
    func `only permanent failures are cached`(code: DownloadError.Code, isRemembered: Bool) throws {
        let failures = FailureCache()
        let request = try request("http://h/a")
        failures.record(DownloadError(code, "why"), of: request, at: .zero)
        #expect(failures.failure(of: request, at: .zero)?.code == (isRemembered ? code : nil))
    }

    @Test func `a failure expires after its time to live`() throws {
        let failures = FailureCache(lifetime: .seconds(10))
        let request = try request("http://h/a")
        failures.record(notFound, of: request, at: .seconds(100))
        #expect(failures.failure(of: request, at: .seconds(109)) != nil)
        failures.record(notFound, of: request, at: .seconds(109))
        #expect(failures.failure(of: request, at: .seconds(118)) != nil)
        #expect(failures.failure(of: request, at: .seconds(119)) == nil)
        #expect(failures.count == 0)
    }

    @Test func `the oldest failures are evicted at the limit`() throws {
        let failures = FailureCache(countLimit: 3)
        let requests = try (0..<1_000).map { try request("http://h/\($0)") }
        for request in requests {
            failures.record(notFound, of: request, at: .zero)
            failures.record(notFound, of: requests[0], at: .zero)
            #expect(failures.count <= 3)
        }
        #expect(failures.failure(of: requests[0], at: .zero) != nil)
        #expect(failures.failure(of: requests[998], at: .zero) != nil)
        #expect(failures.failure(of: requests[999], at: .zero) != nil)
        #expect(failures.failure(of: requests[997], at: .zero) == nil)
        let none = FailureCache(countLimit: 0)
        none.record(notFound, of: requests[0], at: .zero)
        #expect(none.count == 0)
    }

    @Test func `a failure applies to its own request only`() throws {
        let failures = FailureCache()
        failures.record(notFound, of: try request("http://h/a"), at: .zero)
        #expect(failures.failure(of: try request("http://h/a#part"), at: .zero) != nil)
        #expect(failures.failure(of: try request("http://h/b"), at: .zero) == nil)
        #expect(failures.failure(of: try request("http://h/a", ["Authorization": "me"]), at: .zero) == nil)
        #expect(failures.failure(of: try request("http://h/a", ["X-Api-Key": "good"]), at: .zero) == nil)
    }

    @Test func `a failure applies to requests with equal fields, whatever the case of the names`() throws {
        let failures = FailureCache()
        let keyed = try request("http://h/a", ["X-Api-Key": "bad"])
        failures.record(notFound, of: keyed, at: .zero)
        #expect(failures.failure(of: try request("http://h/a", ["x-api-key": "bad"]), at: .zero) != nil)
        #expect(failures.failure(of: try request("http://h/a", ["X-Api-Key": "good"]), at: .zero) == nil)
        #expect(failures.failure(of: try request("http://h/a"), at: .zero) == nil)
        failures.remove(keyed)
        #expect(failures.count == 0)
    }

    @Test(arguments: [HTTPCachePolicy.reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData])
    func `a reload is sent although the request has failed before, and its success ends the failure`(
        policy: HTTPCachePolicy
    ) async throws {
        let (status, sent) = (Watched(404), Watched(0))
        var configuration = DownloaderConfiguration()
        configuration.failureCache = FailureCache()
        let transport = FakeTransport { request in
            sent.update { $0 += 1 }
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: status.value), body: HTTPBody(Data("image".utf8)))
        }
        let downloader = Downloader(transport: transport, configuration: configuration)
        let request = try request("http://h/a")
        var reload = request
        reload.cachePolicy = policy
        for request in [request, request, reload] {
            _ = try await failure { try await downloader.download(.http(request)) }
        }
        #expect(sent.value == 2)
        status.update { $0 = 200 }
        _ = try await failure { try await downloader.download(.http(request)) }
        for request in [reload, request] { _ = try await downloader.download(.http(request)) }
        #expect(sent.value == 4)
    }

    @Test func `the failure of a further attempt for another user is not that of the first`() async throws {
        let sent = Watched<[String?]>([])
        let transport = FakeTransport { request in
            let user = request.fields["Authorization"]
            let isFirst = sent.update { sent in
                sent.append(user)
                return sent.count == 1
            }
            let status = user == "bob" ? 404 : isFirst ? 503 : 200
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: status), body: HTTPBody(Data("image".utf8)))
        }
        var configuration = DownloaderConfiguration()
        configuration.failureCache = FailureCache()
        configuration.retry = RetryPolicy(maximumAttempts: 2, baseDelay: .zero)
        let downloader = Downloader(transport: transport, configuration: configuration)
        let alice = try request("http://h/a", ["Authorization": "alice"])
        let bob = try request("http://h/a", ["Authorization": "bob"])
        var switched = DownloadRequest(.http(alice))
        switched.renewal = { bob }
        #expect(try await failure { try await downloader.download(switched) }.code == .status(404))
        _ = try await downloader.download(.http(alice))
        #expect(sent.value == ["alice", "bob", "alice"])
    }

    @Test func `failures can be removed on request`() throws {
        let failures = FailureCache()
        let requests = try (0..<3).map { try request("http://h/\($0)") }
        for request in requests { failures.record(notFound, of: request, at: .zero) }
        failures.remove(requests[0])
        failures.remove(HTTPRequest(url: requests[1].url))
        #expect(requests.map { failures.failure(of: $0, at: .zero) == nil } == [true, true, false])
        failures.removeAll()
        #expect(failures.count == 0)
    }

    @Test(arguments: [-1.0, 1.0])
    func `a failure expires after its time to live although the clock is set a year forward or back`(
        direction: Double
    ) async throws {
        let (clock, sent) = (ManualClock(), Watched(0))
        var configuration = DownloaderConfiguration()
        configuration.failureCache = FailureCache(lifetime: .seconds(30))
        let transport = FakeTransport { request in
            sent.update { $0 += 1 }
            return HTTPResponse(head: HTTPResponseHead(url: request.url, status: 404), body: HTTPBody(Data()))
        }
        let downloader = Downloader(transport: transport, configuration: configuration, clock: clock)
        let (source, start) = (try web("http://h/a"), clock.now)
        for date in [start, start + direction * 365 * 24 * 60 * 60, start] {
            clock.setDate(date)
            for _ in 0..<2 { #expect(try await failure { try await downloader.download(source) }.code == .status(404)) }
        }
        #expect(sent.value == 1)

        clock.setDate(start + direction * 365 * 24 * 60 * 60)
        clock.advance(by: .seconds(30))
        _ = try await failure { try await downloader.download(source) }
        #expect(sent.value == 2)
    }
}
