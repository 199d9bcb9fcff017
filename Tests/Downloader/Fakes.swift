import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

extension FakeTransport {
    /// Answers every request with the bytes "x", once the clock has gone on.
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

/// Throws unless the work fails with a download error; returns it.
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
