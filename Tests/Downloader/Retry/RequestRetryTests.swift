import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Retries by a request's own policy instead of the downloader's.
@Suite(.timeLimit(.minutes(10)))
struct RequestRetryTests {
    /// Returns a downloader with a policy, whose server always fails, and the number of requests that the server
    /// received.
    private func downloader(_ policy: RetryPolicy) -> (downloader: Downloader, transport: FakeTransport) {
        let transport = FakeTransport { request in
            HTTPResponse(head: HTTPResponseHead(url: request.url, status: 503), body: HTTPBody(Data()))
        }
        var configuration = DownloaderConfiguration()
        configuration.retry = policy
        return (Downloader(transport: transport, configuration: configuration), transport)
    }

    private func request(_ retry: RetryPolicy?) throws -> DownloadRequest {
        var request = DownloadRequest(.http(HTTPRequest(url: try #require(URL(string: "http://h/a")))))
        request.retry = retry
        return request
    }

    @Test(arguments: [
        (RetryPolicy.never, RetryPolicy?.none, 1), (.never, RetryPolicy(maximumAttempts: 4, baseDelay: .zero), 4),
        (RetryPolicy(maximumAttempts: 3, baseDelay: .zero), .never, 1),
        (RetryPolicy(maximumAttempts: 3, baseDelay: .zero), nil, 3),
    ])
    func `a request's own policy takes precedence over the downloader's`(
        common: RetryPolicy, own: RetryPolicy?, attempts: Int
    ) async throws {
        let (downloader, transport) = downloader(common)
        let error = try #require(
            await #expect(throws: DownloadError.self) { try await downloader.download(try request(own)) })
        #expect(error.code == .status(503))
        #expect(transport.requests.count == attempts)
    }

    @Test func `a download to a file and one started with a completion use the request's policy`() async throws {
        let (downloader, transport) = downloader(.never)
        let directory = try TemporaryDirectory()
        let request = try request(RetryPolicy(maximumAttempts: 2, baseDelay: .zero))
        await #expect(throws: DownloadError.self) {
            try await downloader.download(request, to: directory.url.appending(path: "a").path)
        }
        #expect(transport.requests.count == 2)
        await #expect(throws: DownloadError.self) {
            try await withCheckedThrowingContinuation { continuation in
                downloader.start(request) { continuation.resume(with: $0) }
            }
        }
        #expect(transport.requests.count == 4)
    }

    /// Returns a downloader whose modifier adds another token each time, and whose server accepts the second one.
    private func rotating() -> (downloader: Downloader, transport: FakeTransport) {
        let transport = FakeTransport { request in
            let status = request.fields["Authorization"] == "token 2" ? 200 : 503
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: status), body: HTTPBody(Data("image".utf8)))
        }
        let count = Watched(0)
        var configuration = DownloaderConfiguration()
        configuration.retry = RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
        configuration.modifyRequest = { request in
            var request = request
            let number = count.update { count in
                count += 1
                return count
            }
            request.fields.append("Authorization", "token \(number)")
            return request
        }
        return (Downloader(transport: transport, configuration: configuration), transport)
    }

    @Test func `the modifier of a downloader runs again for each attempt`() async throws {
        let (downloader, transport) = rotating()
        #expect(try await downloader.download(try request(nil)).data == Data("image".utf8))
        #expect(transport.requests.map { $0.fields["Authorization"] } == ["token 1", "token 2"])
    }

    @Test func `a request that was modified before is renewed by its own closure`() async throws {
        let (downloader, transport) = rotating()
        var modified = try request(nil)
        modified.isModified = true
        let url = try #require(URL(string: "http://h/a"))
        modified.renewal = { HTTPRequest(url: url, fields: ["Authorization": "token 2"]) }
        #expect(try await downloader.download(modified).data == Data("image".utf8))
        #expect(transport.requests.map { $0.fields["Authorization"] } == [nil, "token 2"])
    }

    @Test func `a download fails if its modifier fails before a further attempt`() async throws {
        let (downloader, transport) = rotating()
        var modified = try request(nil)
        modified.isModified = true
        modified.renewal = { throw HTTPTransportError(.failed, "no token") }
        let error = await #expect(throws: DownloadError.self) { try await downloader.download(modified) }
        #expect(error?.code == .hook)
        #expect(transport.requests.count == 1)
    }

    @Test func `requests with closures of their own for further attempts share no transfer`() async throws {
        let clock = ManualClock()
        let transport = FakeTransport { request in
            try await clock.sleep(for: .seconds(1))
            let user = request.fields["Authorization"]
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: user == nil ? 503 : 200),
                body: HTTPBody(Data((user ?? "").utf8)))
        }
        var configuration = DownloaderConfiguration()
        configuration.retry = RetryPolicy(maximumAttempts: 2, baseDelay: .zero)
        let downloader = Downloader(transport: transport, configuration: configuration)
        let url = try #require(URL(string: "http://h/a"))
        let tasks = try ["alice", "bob"].map { user in
            var request = try self.request(nil)
            request.renewal = { HTTPRequest(url: url, fields: ["Authorization": user]) }
            return Task.immediate { [request] in try await downloader.download(request).data }
        }
        for _ in 0..<2 {
            try await clock.waitForSleepers(count: 2)
            clock.advance(by: .seconds(1))
        }
        for (task, user) in zip(tasks, ["alice", "bob"]) { #expect(try await task.value == Data(user.utf8)) }
    }

    @Test func `a part that was received for another request is not continued`() async throws {
        let sent = Watched(0)
        let transport = FakeTransport { request in
            let isFirst = sent.update { sent in
                sent += 1
                return sent == 1
            }
            let fields: HTTPFields = ["ETag": "\"1\"", "Content-Length": "8"]
            let body = isFirst ? Data("alic".utf8) : Data("bobsbobs".utf8)
            return HTTPResponse(
                head: HTTPResponseHead(url: request.url, status: 200, fields: fields), body: HTTPBody(body))
        }
        var configuration = DownloaderConfiguration()
        configuration.retry = RetryPolicy(maximumAttempts: 2, baseDelay: .zero)
        let downloader = Downloader(transport: transport, configuration: configuration)
        var modified = try request(nil)
        let url = try #require(URL(string: "http://h/a"))
        modified.renewal = { HTTPRequest(url: url, fields: ["Authorization": "bob"]) }

        let download = try await downloader.download(modified)

        #expect(download.data == Data("bobsbobs".utf8))
        #expect(transport.requests.map { $0.fields["Range"] } == [nil, nil])
        // The key of the first request does not say whose image it is.
        #expect(download.varyingFieldNames == nil)
    }
}
