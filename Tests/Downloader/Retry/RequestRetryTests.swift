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
        #expect(error.code == .status(503) && transport.requests.count == attempts)
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
}
