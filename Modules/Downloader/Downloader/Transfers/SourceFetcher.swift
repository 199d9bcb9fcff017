import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// A fetcher that reads any source into memory or a file.
struct SourceFetcher: Sendable {
    let http: HTTPFetcher
    private let local: LocalReader
    private let threads: BlockingExecutor

    init(transport: any HTTPTransport, configuration: DownloaderConfiguration, clock: any TimeSource) {
        http = HTTPFetcher(transport: transport, configuration: configuration, clock: clock)
        local = LocalReader(configuration: configuration, clock: clock)
        threads = BlockingExecutor(name: "alcedo.written", maxConcurrent: 2, taskExecutor: configuration.taskExecutor)
    }

    /// Fetches the content of a transfer.
    ///
    /// - Parameters:
    ///   - transfer: The source, the destination and the retry policy.
    ///   - pause: The pauses before retries.
    ///   - onBytes: A closure that receives the bytes as they arrive. It is not called for a transfer to a file.
    ///     Default: nil.
    ///   - report: A closure that receives progress reports. Any thread may call it, and it must not block.
    /// - Throws: ``DownloadError``, or `CancellationError`.
    func fetch(
        _ transfer: TransferRequest, pause: TransferPause, onBytes: DownloadRequest.BytesHandler? = nil,
        report: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws -> TransferResult {
        guard transfer.path == nil, case .http(let request) = transfer.source else {
            return try await fetchUncommon(transfer, pause, onBytes, report)
        }
        return try await http.fetch(request, for: transfer, pause: pause, onBytes: onBytes, report: report)
    }

    /// Fetches less common transfers. A separate function, so that the async frames of the common path stay small.
    private func fetchUncommon(
        _ transfer: TransferRequest, _ pause: TransferPause, _ onBytes: DownloadRequest.BytesHandler?,
        _ report: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws -> TransferResult {
        switch (transfer.source, transfer.path) {
        case (.http(let request), let path?):
            return try await http.fetch(request, for: transfer, to: path, pause: pause, report: report)
        case (let source, nil):
            var sink = MemorySink(onBytes: onBytes)
            try await LoadSpan.run(.transfer) { try await local.read(source, into: &sink, report: report) }
            return TransferResult(data: sink.data, summary: TransferSummary())
        case (let source, let path?):
            return try await FileSink.write(path, threads: threads) { sink in
                try await local.read(source, into: &sink, report: report)
                return TransferSummary()
            }
        }
    }
}
