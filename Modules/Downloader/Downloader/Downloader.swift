public import AlcedoCore
import FoundationEssentials

/// Fetches bytes over any transport, equal requests once.
///
/// Any number may wait for one transfer; each has its own progress and priority, and leaves it by itself. The transfer
/// has the priority of its most urgent waiter, and ends when the last one leaves. No more transfers than a number run at
/// once, in total and for each host; the others wait, the more urgent first. Sources that are not servers wait for
/// nobody. Redirects are followed, at most 20, never out of `http` and `https`; credentials do not follow to another
/// origin.
///
/// Errors are ``DownloadError``, or `CancellationError`.
public final class Downloader: Downloading {
    public typealias Progress = @Sendable (DownloadProgress) -> Void
    public typealias Completion = @Sendable (Result<Download, any Error>) -> Void

    public typealias Configuration = DownloaderConfiguration

    private typealias Table = TransferTable<TransferKey, ImageSource, DownloadWaiter>

    private let http: HTTPFetcher
    private let local: LocalReader
    private let time: any TimeSource
    private let table: Locked<Table>
    /// Those who began without a task, while their request is still being modified.
    private let preparing = Locked<[DownloadReceipt: Completion]>([:])

    public init(
        transport: any HTTPTransport, configuration: Configuration = Configuration(),
        time: any TimeSource = SystemClock()
    ) {
        http = HTTPFetcher(transport: transport, rules: configuration.rules, time: time)
        local = LocalReader(maximumByteCount: configuration.maximumByteCount)
        self.time = time
        table = Locked(
            Table(
                schedule: DownloadSchedule(
                    limit: configuration.maximumConcurrentDownloads,
                    hostLimit: configuration.maximumConcurrentDownloadsPerHost, order: configuration.order,
                    rate: configuration.rate)))
    }

    public func download(_ request: DownloadRequest, progress: Progress?) async throws -> Download {
        try Task.checkCancellation()
        let request = try await prepared(request)
        let receipt = makeReceipt()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                join(request, receipt, DownloadWaiter(progress: progress) { continuation.resume(with: $0) })
                // A cancellation before the join found nobody to remove.
                if Task.isCancelled { cancel(receipt) }
            }
        } onCancel: {
            cancel(receipt)
        }
    }

    /// Begins a download, or joins one that is under way, for callers that are not tasks.
    ///
    /// - Parameters:
    ///   - progress: Called while bytes arrive, from any thread; must not block.
    ///   - completion: Called exactly once, from any thread: with what came, ``DownloadError``, or `CancellationError`
    ///     when the receipt was cancelled.
    /// - Returns: What cancels this one, and no other that waits for the same bytes.
    @discardableResult
    public func start(
        _ request: DownloadRequest, progress: Progress? = nil, completion: @escaping Completion
    ) -> DownloadReceipt {
        let receipt = makeReceipt()
        guard http.rules.modifyRequest != nil else {
            join(request, receipt, DownloadWaiter(progress: progress, complete: completion))
            return receipt
        }
        preparing.withLock { $0[receipt] = completion }
        Task {
            do {
                let modified = try await prepared(request)
                guard preparing.withLock({ $0.removeValue(forKey: receipt) }) != nil else { return }
                join(modified, receipt, DownloadWaiter(progress: progress, complete: completion))
            } catch {
                preparing.withLock({ $0.removeValue(forKey: receipt) })?(.failure(error))
            }
        }
        return receipt
    }

    /// Ends one's waiting, at once; the transfer ends when nobody else waits for it. Nothing happens when it has ended.
    public func cancel(_ receipt: DownloadReceipt) {
        preparing.withLock({ $0.removeValue(forKey: receipt) })?(.failure(CancellationError()))
        guard let departure = table.withLock({ $0.leave(receipt.id) }) else { return }
        departure.abandonedTask?.cancel()
        departure.waiter.complete(.failure(CancellationError()))
        pump()
    }

    /// Changes one's priority. Nothing happens to a transfer that runs, or has ended.
    public func setPriority(_ priority: LoadPriority, of receipt: DownloadReceipt) {
        table.withLock { _ = $0.setPriority(priority, of: receipt.id) }
        pump()
    }

    /// While true no transfer begins; those that run go on. Sources that are not servers begin all the same.
    public var isPaused: Bool {
        get { table.withLock { $0.isPaused } }
        set {
            table.withLock { $0.isPaused = newValue }
            pump()
        }
    }

    /// Transfers that have a slot, and transfers that wait for one.
    public var transferCounts: (running: Int, waiting: Int) {
        table.withLock { ($0.runningCount, $0.waitingCount) }
    }

    /// Ends every download with `CancellationError`. Later ones begin as ever.
    public func cancelAll() { endAll(with: CancellationError()) }

    /// Ends every download, and refuses later ones, with ``DownloadError`` `shutDown`. Returns when the transfers have
    /// ended.
    public func shutDown() async {
        table.withLock { $0.shutDown() }
        for task in endAll(with: Self.isShutDown) { await task.value }
    }

    private static let isShutDown = DownloadError(.shutDown, "the downloader has been shut down")

    /// The request as the app's modifier makes it, which is what it is compared by.
    private func prepared(_ request: DownloadRequest) async throws -> DownloadRequest {
        guard case .http(let http) = request.source, self.http.rules.modifyRequest != nil else { return request }
        return DownloadRequest(.http(try await self.http.prepare(http)), priority: request.priority)
    }

    private func makeReceipt() -> DownloadReceipt { DownloadReceipt(id: table.withLock { $0.makeID() }) }

    private func join(_ request: DownloadRequest, _ receipt: DownloadReceipt, _ waiter: DownloadWaiter) {
        let isIn = table.withLock { table in
            guard !table.isShutDown else { return false }
            table.join(
                TransferKey(request.source), request.source, host: request.source.host, id: receipt.id,
                priority: request.priority, waiter)
            return true
        }
        if isIn { pump() } else { waiter.complete(.failure(Self.isShutDown)) }
    }

    /// Begins what may begin.
    private func pump() {
        let now = time.uptime
        let (beginnings, delay) = table.withLock { $0.begin(at: now) }
        for beginning in beginnings {
            let task = Task { await self.run(beginning.id, beginning.order) }
            if table.withLock({ $0.attach(task, to: beginning.id) }) { task.cancel() }
        }
        if let delay { wait(delay) }
    }

    /// Looks again when the rate lets the next begin. One timer is enough, whoever asks.
    private func wait(_ delay: Duration) {
        guard table.withLock({ $0.setTimer() }) else { return }
        Task {
            try? await time.sleep(for: delay)
            table.withLock { $0.clearTimer() }
            pump()
        }
    }

    private func run(_ id: Int, _ source: ImageSource) async {
        let outcome: Result<Download, any Error>
        do {
            outcome = .success(
                try await content(of: source) { progress in
                    for waiter in self.table.withLock({ $0.waiters(of: id) }) { waiter.progress?(progress) }
                })
        } catch {
            outcome = .failure(error)
        }
        for waiter in table.withLock({ $0.finish(id) }) { waiter.complete(outcome) }
        pump()
    }

    private func content(of source: ImageSource, report: @escaping Progress) async throws -> Download {
        let download: Download
        switch source {
        case .http(let request): download = try await http.fetch(request, report: report)
        case .file, .dataURL, .bytes, .provider:
            let data = try await local.read(source)
            report(DownloadProgress(received: data.count, expected: data.count))
            download = Download(data: data)
        }
        guard !download.data.isEmpty else { throw DownloadError(.empty, "there are no bytes") }
        return download
    }

    @discardableResult
    private func endAll(with error: any Error) -> [Task<Void, Never>] {
        let early = preparing.withLock { preparing in
            defer { preparing = [:] }
            return preparing.values
        }
        for complete in early { complete(.failure(error)) }
        let (waiters, tasks) = table.withLock { $0.removeAll() }
        for task in tasks { task.cancel() }
        for waiter in waiters { waiter.complete(.failure(error)) }
        return tasks
    }
}

extension ImageSource {
    /// What slots are counted by; nil for a source that is not a server.
    fileprivate var host: String? {
        guard case .http(let request) = self else { return nil }
        let url = request.url
        return "\(url.scheme?.lowercased() ?? "")://\(url.host()?.lowercased() ?? ""):\(url.port ?? 0)"
    }
}
