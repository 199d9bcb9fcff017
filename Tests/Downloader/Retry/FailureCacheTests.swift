import AlcedoCore
import AlcedoHTTP
import FoundationEssentials
import Testing

@testable import AlcedoDownloader

@Suite struct FailureCacheTests {
    private let gone = DownloadError(.status(404), "gone")

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
    func `only what would fail again is remembered`(code: DownloadError.Code, isRemembered: Bool) throws {
        let failed = FailureCache()
        let request = try request("http://h/a")
        failed.note(DownloadError(code, "why"), of: request, at: .zero)
        #expect(failed.failure(of: request, at: .zero)?.code == (isRemembered ? code : nil))
    }

    @Test func `a failure is forgotten when its time is up`() throws {
        let failed = FailureCache(lifetime: .seconds(10))
        let request = try request("http://h/a")
        failed.note(gone, of: request, at: .seconds(100))
        #expect(failed.failure(of: request, at: .seconds(109)) != nil)
        failed.note(gone, of: request, at: .seconds(109))
        #expect(failed.failure(of: request, at: .seconds(118)) != nil)
        #expect(failed.failure(of: request, at: .seconds(119)) == nil)
        #expect(failed.count == 0)
    }

    @Test func `the oldest make room`() throws {
        let failed = FailureCache(limit: 3)
        let requests = try (0..<1_000).map { try request("http://h/\($0)") }
        for request in requests {
            failed.note(gone, of: request, at: .zero)
            failed.note(gone, of: requests[0], at: .zero)
            #expect(failed.count <= 3)
        }
        #expect(failed.failure(of: requests[0], at: .zero) != nil)
        #expect(failed.failure(of: requests[998], at: .zero) != nil)
        #expect(failed.failure(of: requests[999], at: .zero) != nil)
        #expect(failed.failure(of: requests[997], at: .zero) == nil)
        let none = FailureCache(limit: 0)
        none.note(gone, of: requests[0], at: .zero)
        #expect(none.count == 0)
    }

    @Test func `another request for the same place is another matter`() throws {
        let failed = FailureCache()
        failed.note(gone, of: try request("http://h/a"), at: .zero)
        #expect(failed.failure(of: try request("http://h/a#part"), at: .zero) != nil)
        #expect(failed.failure(of: try request("http://h/b"), at: .zero) == nil)
        #expect(failed.failure(of: try request("http://h/a", ["Authorization": "me"]), at: .zero) == nil)
        #expect(failed.failure(of: try request("http://h/a", ["X-Api-Key": "good"]), at: .zero) == nil)
    }

    @Test func `every field counts, and their names' case does not`() throws {
        let failed = FailureCache()
        let keyed = try request("http://h/a", ["X-Api-Key": "bad"])
        failed.note(gone, of: keyed, at: .zero)
        #expect(failed.failure(of: try request("http://h/a", ["x-api-key": "bad"]), at: .zero) != nil)
        #expect(failed.failure(of: try request("http://h/a", ["X-Api-Key": "good"]), at: .zero) == nil)
        #expect(failed.failure(of: try request("http://h/a"), at: .zero) == nil)
        failed.forget(keyed)
        #expect(failed.count == 0)
    }

    @Test func `failures can be forgotten on request`() throws {
        let failed = FailureCache()
        let requests = try (0..<3).map { try request("http://h/\($0)") }
        for request in requests { failed.note(gone, of: request, at: .zero) }
        failed.forget(requests[0])
        failed.forget(requests[1].url)
        #expect(requests.map { failed.failure(of: $0, at: .zero) == nil } == [true, true, false])
        failed.forgetAll()
        #expect(failed.count == 0)
    }
}
