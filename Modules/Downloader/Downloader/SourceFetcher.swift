import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// Fetches contents of any source, to memory or to a file.
struct SourceFetcher: Sendable {
    let http: HTTPFetcher
    private let local: LocalReader
    private let threads: BlockingExecutor

    init(
        transport: any HTTPTransport, rules: DownloadRules, clock: any TimeSource, taskExecutor: (any TaskExecutor)?
    ) {
        http = HTTPFetcher(transport: transport, rules: rules, clock: clock, taskExecutor: taskExecutor)
        local = LocalReader(rules: rules, clock: clock, taskExecutor: taskExecutor)
        threads = BlockingExecutor(name: "alcedo.written", width: 2, taskExecutor: taskExecutor)
    }

    /// - Parameters:
    ///   - pause: Waits before a further attempt.
    ///   - onBytes: Is given what comes to memory.
    ///   - report: Called while bytes arrive, from any thread; must not block.
    /// - Throws: ``DownloadError``, or `CancellationError`.
    func fetch(
        _ order: TransferRequest, pause: @escaping TransferPause, onBytes: DownloadRequest.BytesHandler? = nil,
        report: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws -> Delivery {
        guard order.path == nil, case .http(let request) = order.source else {
            return try await fetchLess(order, pause, onBytes, report)
        }
        return try await http.fetch(request, for: order, pause: pause, onBytes: onBytes, report: report)
    }

    /// What is asked for less often.
    private func fetchLess(
        _ order: TransferRequest, _ pause: @escaping TransferPause, _ onBytes: DownloadRequest.BytesHandler?,
        _ report: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws -> Delivery {
        switch (order.source, order.path) {
        case (.http(let request), let path?):
            return try await http.fetch(request, for: order, to: path, pause: pause, report: report)
        case (let source, nil):
            var sink = MemorySink(onBytes: onBytes)
            try await local.read(source, into: &sink, report: report)
            return Delivery(data: sink.data, end: SourceEnd())
        case (let source, let path?):
            return try await FileSink.write(path, threads: threads) { sink in
                try await local.read(source, into: &sink, report: report)
                return SourceEnd()
            }
        }
    }
}
