public import AlcedoCore
public import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// A downloader over any HTTP transport. Equal requests share one transfer.
///
/// ```swift
/// import AlcedoCURL
/// import AlcedoCore
/// import AlcedoDownloader
/// import AlcedoHTTP
/// import FoundationEssentials
///
/// func fetch(_ url: URL) async throws -> Data {
///     let downloader = Downloader(transport: CURLTransport())
///     let request = DownloadRequest(.http(HTTPRequest(url: url)), priority: .high)
///     return try await downloader.download(request).data
/// }
/// ```
///
/// Create one downloader and keep it, because only requests to the same downloader share transfers and limits. Each
/// waiter has its own progress closure and priority, and can leave independently of the others. A transfer has the
/// highest priority of its waiters and is canceled when its last waiter leaves.
///
/// Methods throw ``DownloadError`` or `CancellationError`. Running transfers keep the downloader alive. When it is
/// released, the waiters whose transfers have not begun receive `CancellationError`. The page of the module has the
/// rules for limits, redirects and files.
public final class Downloader: Downloading {
    typealias Table = TransferTable<TransferKey, TransferRequest, DownloadWaiter>

    /// The response cache that the transport uses, or nil when it uses none.
    public let responseCache: (any ResponseCacheAccess)?
    let fetcher: SourceFetcher
    let clock: any TimeSource
    let taskExecutor: (any TaskExecutor)?
    let table: Locked<Table>
    /// The waiters whose request is still being modified. The table's lock may be acquired while this one is held.
    private let preparing = Locked<[DownloadReceipt: Preparation]>([:])
    /// The continuations of transfers that wait for a slot after a pause before a retry. The keys are the numbers of
    /// the transfers.
    let requeued = Locked<[Int: CheckedContinuation<Void, any Error>]>([:])
    private let shutdownWaiters = Locked<[CheckedContinuation<Void, Never>]>([])
    private let order = ResumptionOrder()

    /// Creates a downloader that sends its requests over a transport.
    ///
    /// - Parameters:
    ///   - transport: The transport.
    ///   - configuration: The limits, timeouts and retries. Default: `DownloaderConfiguration()`.
    ///   - responseCache: The response cache that the transport uses, for pipelines, which look up and remove responses
    ///     in it. Default: nil, for a transport without one.
    ///   - clock: The clock of timeouts, pauses and the failure cache. Default: the system's clock.
    public init(
        transport: any HTTPTransport, configuration: DownloaderConfiguration = DownloaderConfiguration(),
        responseCache: (any ResponseCacheAccess)? = nil, clock: any TimeSource = SystemClock()
    ) {
        self.responseCache = responseCache
        fetcher = SourceFetcher(transport: transport, configuration: configuration, clock: clock)
        self.clock = clock
        taskExecutor = configuration.taskExecutor
        table = Locked(
            Table(
                schedule: DownloadSchedule(
                    limit: configuration.maxConcurrentDownloads,
                    hostLimit: configuration.maxConcurrentDownloadsPerHost, order: configuration.order,
                    rate: configuration.rate)))
    }

    /// Completes the remaining waiters with `CancellationError`. None of them has a running transfer, because a running
    /// transfer keeps the downloader alive.
    deinit { endAll(with: CancellationError()) }

    /// Downloads the content of a source into memory, or joins the transfer of an equal request. Returns the whole
    /// content. Canceling the task cancels this caller's download only.
    ///
    /// - Parameters:
    ///   - request: The source and its options, such as the priority.
    ///   - progress: A closure that receives progress reports. Any thread may call it, and it must not block; nil for
    ///     none.
    /// - Throws: ``DownloadError`` if the download fails, or `CancellationError` if it is canceled.
    public func download(_ request: DownloadRequest, progress: (@Sendable (DownloadProgress) -> Void)?) async throws
        -> Download
    {
        Download(try await result(of: request, to: nil, progress))
    }

    /// Returns a copy of the request with the configuration's default fields and idle timeout. Values that the request
    /// sets itself are kept. The configuration's `modifyRequest` is not applied.
    public func addingDefaultFields(to request: HTTPRequest) -> HTTPRequest {
        fetcher.http.configuration.addingDefaultFields(to: request)
    }

    /// Whether the configuration has a `modifyRequest`.
    public var modifiesRequests: Bool { fetcher.http.configuration.modifyRequest != nil }

    /// Returns the request as the configuration's `modifyRequest` changes it.
    ///
    /// - Throws: ``DownloadError`` `declined` or `hook`, or `CancellationError`.
    public func modified(_ request: HTTPRequest) async throws -> HTTPRequest { try await fetcher.http.prepare(request) }

    /// Downloads the content of a source to a file. A copy of a local file takes constant memory, and so does a
    /// download from a server without a transform. With a transform, the whole content from a server is held in memory.
    ///
    /// - Parameters:
    ///   - request: The source and its options, such as the priority. Its `onBytes` handler is not called.
    ///   - path: The path of the file, whose directory must exist. The file is replaced after the whole content has
    ///     been written to disk, and is left unchanged if the download fails. When different requests write to the same
    ///     path, the last one to finish determines the content.
    ///   - progress: A closure that receives progress reports. Any thread may call it, and it must not block. Default:
    ///     nil.
    /// - Throws: ``DownloadError`` if the download fails or the file cannot be written (`unwritableFile`), or
    ///   `CancellationError` if the download is canceled.
    public func download(
        _ request: DownloadRequest, to path: String, progress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> DownloadedFile {
        DownloadedFile(try await result(of: request, to: path, progress), path: path)
    }

    /// Begins a download, or joins the transfer of an equal request, for callers outside of a task.
    ///
    /// - Parameters:
    ///   - request: The source and its options, such as the priority. Its priority is read once, when this method is
    ///     called; ``setPriority(_:of:)`` changes it later.
    ///   - progress: A closure that receives progress reports. Any thread may call it, and it must not block. Default:
    ///     nil.
    ///   - completion: A closure that is called exactly once, from any thread, with the result, a ``DownloadError``, or
    ///     `CancellationError` if the download was canceled. It may be called before this method returns.
    /// - Returns: A receipt for canceling this caller's download or changing its priority. Other callers that wait for
    ///   the same bytes are not affected.
    @discardableResult
    public func start(
        _ request: DownloadRequest, progress: (@Sendable (DownloadProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<Download, any Error>) -> Void
    ) -> DownloadReceipt {
        let receipt = DownloadReceipt()
        let waiter = DownloadWaiter(progress: progress, onBytes: request.onBytes) {
            completion($0.map { Download($0) })
        }
        begin(request, to: nil, receipt, waiter)
        return receipt
    }

    /// Begins a download to a file, or joins the transfer of an equal request, for callers outside of a task. It
    /// otherwise behaves like ``start(_:progress:completion:)`` and ``download(_:to:progress:)``.
    @discardableResult
    package func start(
        _ request: DownloadRequest, to path: String, progress: (@Sendable (DownloadProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<DownloadedFile, any Error>) -> Void
    ) -> DownloadReceipt {
        let receipt = DownloadReceipt()
        let waiter = DownloadWaiter(progress: progress) { completion($0.map { DownloadedFile($0, path: path) }) }
        begin(request, to: path, receipt, waiter)
        return receipt
    }

    /// Cancels one caller's download immediately. The transfer ends if it has no other waiter. Does nothing if the
    /// download has ended or another downloader issued the receipt.
    public func cancel(_ receipt: DownloadReceipt) {
        if let early = preparing.withLock({ $0.removeValue(forKey: receipt) }) {
            early.task?.cancel()
            early.waiter.complete(.failure(CancellationError()))
        }
        guard let removed = table.withLock({ $0.leave(receipt.id) }) else { return }
        removed.abandonedTask?.cancel()
        removed.waiter.complete(.failure(CancellationError()))
        pump()
    }

    /// Changes the priority of one caller's download. A running transfer is affected only when it waits for a slot
    /// again, before a retry. Does nothing if the download has ended.
    public func setPriority(_ priority: LoadPriority, of receipt: DownloadReceipt) {
        preparing.withLock { $0[receipt]?.priority = priority }
        table.withLock { _ = $0.setPriority(priority, of: receipt.id) }
        pump()
    }

    /// Whether the downloader holds back new transfers from servers. Running transfers continue, but their retries
    /// wait. Other sources are not affected. Default: false.
    public var isPaused: Bool {
        get { table.withLock { $0.isPaused } }
        set {
            table.withLock { $0.isPaused = newValue }
            pump()
        }
    }

    /// The number of transfers from servers that have a slot, and the number of transfers from servers that wait for a
    /// slot or pause before a retry. Other sources are not counted.
    package var transferCounts: (running: Int, waiting: Int) {
        table.withLock { ($0.runningCount, $0.waitingCount) }
    }

    /// The number of callers that wait for a transfer. Callers whose request is still being modified are not counted.
    package var waiterCount: Int { table.withLock { $0.waiterCount } }

    /// The number of transfers that pause before a retry and do not yet wait for a slot.
    package var backingOffCount: Int { table.withLock { $0.backingOffCount } }

    /// Ends all downloads with `CancellationError`. The downloader accepts new downloads afterwards.
    public func cancelAll() { endAll(with: CancellationError()) }

    /// Ends all downloads and rejects later ones, both with ``DownloadError`` `shutDown`. Returns after all transfers
    /// have ended.
    public func shutDown() async {
        table.withLock { $0.shutDown() }
        for task in endAll(with: Self.shutDownError) { await task.value }
        // The table may not know the task of a transfer that has just begun, so the loop above may not have awaited it.
        await withCheckedContinuation { continuation in
            shutdownWaiters.withLock { $0.append(continuation) }
            if table.withLock({ $0.hasEnded }) { resumeShutdownWaiters() }
        }
    }

    func resumeShutdownWaiters() {
        let waiters = shutdownWaiters.withLock { waiters in
            defer { waiters = [] }
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private static let shutDownError = DownloadError(.shutDown, "the downloader has been shut down")

    // MARK: Waiters

    private func result(
        of request: DownloadRequest, to path: String?, _ progress: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> TransferResult {
        try Task.checkCancellation()
        let receipt = DownloadReceipt()
        defer { order.didResume() }
        return try await withTaskCancellationHandler {
            try await request.priority.observing {
                self.follow(request.priority, receipt)
            } _: {
                // The continuation is resumed exactly once, because each waiter receives exactly one outcome.
                try await withUnsafeThrowingContinuation { continuation in
                    let waiter = DownloadWaiter(progress: progress, onBytes: request.onBytes) {
                        self.order.willResume()
                        continuation.resume(with: $0)
                    }
                    let priority = request.priority.value
                    begin(request, to: path, receipt, waiter, isInTask: true)
                    // A priority change or a cancellation that came before `begin` found no waiter.
                    if request.priority.value != priority { follow(request.priority, receipt) }
                    if Task.isCancelled { cancel(receipt) }
                }
            }
        } onCancel: {
            cancel(receipt)
        }
    }

    /// Applies the current priority. The handle is read under each lock, so that the last caller applies the latest
    /// value.
    private func follow(_ priority: PriorityHandle, _ receipt: DownloadReceipt) {
        preparing.withLock { $0[receipt]?.priority = priority.value }
        table.withLock { _ = $0.setPriority(priority.value, of: receipt.id) }
        pump()
    }

    @inline(never)
    private func begin(
        _ request: DownloadRequest, to path: String?, _ receipt: DownloadReceipt, _ waiter: DownloadWaiter,
        isInTask: Bool = false
    ) {
        guard case .http(let http) = request.source, modifiesRequests, !request.isModified else {
            let transfer = TransferRequest(
                source: request.source, path: path, deliversBytes: waiter.onBytes != nil, admission: request.admission,
                fileVersion: request.fileVersion, retry: request.retry, renewal: request.renewal,
                isShareable: request.renewal == nil, skipsQueue: request.skipsQueue)
            return join(transfer, request.priority.value, receipt, waiter, isInTask: isInTask)
        }
        guard !table.withLock({ $0.isShutDown }) else { return waiter.complete(.failure(Self.shutDownError)) }
        preparing.withLock { $0[receipt] = Preparation(waiter: waiter, priority: request.priority.value) }
        let task = Task(executorPreference: taskExecutor) { [self] in
            do {
                let modified = try await fetcher.http.prepare(http)
                let transfer = TransferRequest(
                    source: .http(modified), path: path, deliversBytes: waiter.onBytes != nil,
                    admission: request.admission, retry: request.retry,
                    renewal: { [fetcher] in try await fetcher.http.prepare(try await request.renewal?() ?? http) },
                    isShareable: request.renewal == nil, skipsQueue: request.skipsQueue)
                // Moves the waiter in one step, so that a concurrent cancellation or priority change finds it in one
                // place or the other.
                let isAdmitted = preparing.withLock { preparing in
                    preparing.removeValue(forKey: receipt).map { enter(transfer, $0.priority, receipt, waiter) }
                }
                if let isAdmitted { start(waiter, isAdmitted: isAdmitted) }
            } catch {
                let error = DownloadError.naming(request.source, error)
                preparing.withLock({ $0.removeValue(forKey: receipt) })?.waiter.complete(.failure(error))
            }
        }
        // A cancellation before this point found no task to cancel.
        let isPreparing = preparing.withLock { preparing in
            preparing[receipt]?.task = task
            return preparing[receipt] != nil
        }
        if !isPreparing { task.cancel() }
    }

    private func join(
        _ transfer: TransferRequest, _ priority: LoadPriority, _ receipt: DownloadReceipt, _ waiter: DownloadWaiter,
        isInTask: Bool = false
    ) {
        start(waiter, isAdmitted: enter(transfer, priority, receipt, waiter), isInTask: isInTask)
    }

    /// Adds a waiter to the table. Returns false if the downloader has been shut down.
    private func enter(
        _ transfer: TransferRequest, _ priority: LoadPriority, _ receipt: DownloadReceipt, _ waiter: DownloadWaiter
    ) -> Bool {
        table.withLock { table in
            guard !table.isShutDown else { return false }
            table.join(
                TransferKey(transfer), transfer, TransferQueue(transfer), id: receipt.id, priority: priority,
                waiter)
            return true
        }
    }

    private func start(_ waiter: DownloadWaiter, isAdmitted: Bool, isInTask: Bool = false) {
        if isAdmitted { pump(isInTask: isInTask) } else { waiter.complete(.failure(Self.shutDownError)) }
    }

    @discardableResult
    private func endAll(with error: any Error) -> [Task<Void, Never>] {
        let early = preparing.withLock { preparing in
            defer { preparing = [:] }
            return preparing.values
        }
        let (waiters, tasks) = table.withLock { $0.removeAll() }
        let all = early.compactMap(\.task) + tasks
        for task in all { task.cancel() }
        for waiter in early.map(\.waiter) + waiters { waiter.complete(.failure(error)) }
        return all
    }
}

/// A waiter whose request is still being modified.
private struct Preparation: Sendable {
    var waiter: DownloadWaiter
    var priority: LoadPriority
    /// The task that modifies the request; nil until it has been created.
    var task: Task<Void, Never>?
}

/// A caller that waits for a download.
struct DownloadWaiter: Sendable {
    typealias Completion = @Sendable (Result<TransferResult, any Error>) -> Void

    var progress: (@Sendable (DownloadProgress) -> Void)?
    /// A closure that receives the bytes as they arrive, if the transfer delivers them; nil for none.
    var onBytes: DownloadRequest.BytesHandler?
    var complete: Completion
}
