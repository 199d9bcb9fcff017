public import AlcedoCore
import FoundationEssentials

/// Fetches bytes over any transport, equal requests once.
///
/// Any number of tasks may wait for one transfer; each has its own progress and leaves it by being cancelled, and the
/// transfer ends when the last one leaves. At most `maximumConcurrentDownloads` servers' answers are read at once; the
/// other requests wait, the more urgent first. Sources that are not servers wait for nobody. Redirects are followed, at most 20, never out of `http` and `https`; credentials do not
/// follow to another origin.
///
/// Errors are ``DownloadError``, or `CancellationError`.
public final class Downloader: Downloading {
    public struct Configuration: Sendable {
        /// Most transfers at once. Default: 6.
        public var maximumConcurrentDownloads: Int
        /// Most bytes of one content. Default: 128 MiB.
        public var maximumByteCount: Int
        /// Most redirects in a row. Default: 20.
        public var maximumRedirectCount: Int

        public init(
            maximumConcurrentDownloads: Int = 6,
            maximumByteCount: Int = 128 << 20,
            maximumRedirectCount: Int = 20
        ) {
            self.maximumConcurrentDownloads = max(1, maximumConcurrentDownloads)
            self.maximumByteCount = max(0, maximumByteCount)
            self.maximumRedirectCount = max(0, maximumRedirectCount)
        }
    }

    private let http: HTTPFetcher
    private let local: LocalReader
    private let slots: Slots
    private let transfers = Coalescer<TransferKey, DownloadProgress, Download>()

    public init(transport: any HTTPTransport, configuration: Configuration = Configuration()) {
        http = HTTPFetcher(
            transport: transport, maximumByteCount: configuration.maximumByteCount,
            maximumRedirectCount: configuration.maximumRedirectCount)
        local = LocalReader(maximumByteCount: configuration.maximumByteCount)
        slots = Slots(count: configuration.maximumConcurrentDownloads)
    }

    public func download(
        _ request: DownloadRequest, progress: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> Download {
        let download = try await transfers.value(for: TransferKey(request.source), onUpdate: progress) {
            [http, local, slots] report in
            switch request.source {
            case .http(let exchange):
                try await slots.acquire(request.priority)
                defer { slots.release() }
                return try await http.fetch(exchange, report: report)
            case .file, .dataURL, .bytes, .provider:
                let data = try await local.read(request.source)
                report(DownloadProgress(received: data.count, expected: data.count))
                return Download(data: data)
            }
        }
        guard !download.data.isEmpty else { throw DownloadError(.empty, "there are no bytes") }
        return download
    }
}
