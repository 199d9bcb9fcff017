import AlcedoCore
import AlcedoHTTP
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
        let failures = FailureCache(maximumCount: 3)
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
        let none = FailureCache(maximumCount: 0)
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
}
