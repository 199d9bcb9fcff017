import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

extension FakeTransport {
    /// Responds to every request with the bytes "x" after the clock has advanced.
    static func waiting(on clock: ManualClock) -> FakeTransport {
        FakeTransport {
            try await clock.sleep(for: .seconds(1))
            return HTTPResponse(head: HTTPResponseHead(url: $0.url, status: 200), body: HTTPBody(Data("x".utf8)))
        }
    }
}

extension Downloader {
    func download(_ source: ImageSource, priority: LoadPriority = .normal) async throws -> Download {
        try await download(DownloadRequest(source, priority: priority))
    }
}

func web(_ text: String, _ fields: HTTPFields = HTTPFields()) throws -> ImageSource {
    .http(HTTPRequest(url: try #require(URL(string: text)), fields: fields))
}

/// Returns the download error of the work. Throws if the work does not fail with one.
func failure<Value>(_ work: () async throws -> Value) async throws -> DownloadError {
    do {
        let value = try await work()
        Issue.record("ended with \(value)")
    } catch let error as DownloadError {
        #expect(!error.message.isEmpty)
        return error
    }
    throw CancellationError()
}
