import AlcedoCURL
import AlcedoCore
import AlcedoDownloader
import AlcedoHTTP
import AlcedoTesting
import AlcedoURLResponseCache
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ConformanceTests {
    enum Stack: CaseIterable {
        case plain, overAResponseCache, modifyingRequests, wrapped

        func make() -> any Downloading {
            let transport = CURLTransport()
            switch self {
            case .plain: return Downloader(transport: transport)
            case .overAResponseCache:
                return Downloader(transport: CachingTransport(wrapping: transport, cache: URLResponseCache()))
            case .modifyingRequests:
                var configuration = DownloaderConfiguration()
                configuration.modifyRequest = { request in
                    var request = request
                    request.fields.append("X-Token", "1")
                    return request
                }
                return Downloader(transport: transport, configuration: configuration)
            case .wrapped: return Wrapper(downloader: Downloader(transport: transport))
            }
        }
    }

    /// Forwards all requirements, as the documentation of `Downloading` requires of wrappers.
    private struct Wrapper: Downloading {
        let downloader: any Downloading

        func download(
            _ request: DownloadRequest, progress: (@Sendable (DownloadProgress) -> Void)?
        ) async throws -> Download {
            try await downloader.download(request, progress: progress)
        }

        var modifiesRequests: Bool { downloader.modifiesRequests }

        func modified(_ request: HTTPRequest) async throws -> HTTPRequest { try await downloader.modified(request) }

        func addingDefaultFields(to request: HTTPRequest) -> HTTPRequest {
            downloader.addingDefaultFields(to: request)
        }
    }

    @Test(arguments: Stack.allCases, DownloaderConformance.checks + DownloaderConformance.localSourceChecks)
    func `the downloader passes each conformance check`(
        stack: Stack, check: DownloaderConformance.Check
    ) async throws {
        try await check { _ in stack.make() }
    }
}
