public import AlcedoCore
public import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// Fetches bytes over any transport, equal requests once.
///
/// Any number may wait for one transfer; each has its own progress and priority, and leaves it by itself. The transfer
/// has the priority of its most urgent waiter, and ends when the last one leaves. No more transfers than a number run at
/// once, in total and for each host; the others wait, the more urgent first. A transfer that waits before a further
/// attempt gives its slot back meanwhile. Files wait for a few others of their kind; other sources that are not servers wait for nobody. Redirects are followed, at most
/// 20, never out of `http` and `https`; credentials do not follow to another origin.
///
/// A content goes to memory, or straight to a file: equal requests for the same path share a transfer then. What it is
/// put together in lies beside the file, under a hidden name that ends in `.alcedo-part` and perhaps a number; what a killed process has left
/// of it, the next download to the same file takes away.
///
/// Errors are ``DownloadError``, or `CancellationError`. A downloader lives while it works; when one is let go that is
/// paused, or else has nothing begun, those who wait get `CancellationError`.
public final class Downloader: Downloading {
    /// How a downloader works.
    public typealias Configuration = DownloaderConfiguration

    private typealias Table = TransferTable<TransferKey, TransferRequest, DownloadWaiter>

    private let fetcher: SourceFetcher
    private let clock: any TimeSource
    private let taskExecutor: (any TaskExecutor)?
    private let table: Locked<Table>
    /// Those who have begun, while their request is still being modified. The table's lock may be taken inside of this one.
    private let preparing = Locked<[DownloadReceipt: Preparation]>([:])
    /// Transfers that have backed off and wait for a slot.
    private let requeued = Locked<[Int: CheckedContinuation<Void, any Error>]>([:])
    /// The callers of ``shutDown()`` that wait for the transfers to end.
    private let shutdownWaiters = Locked<[CheckedContinuation<Void, Never>]>([])
    private let order = ResumptionOrder()

    /// A downloader over a transport; it begins nothing by itself. By default it tells time by the system's clock.
    public init(
        transport: any HTTPTransport, configuration: Configuration = Configuration(),
        clock: any TimeSource = SystemClock()
    ) {
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

    /// Who still waits has begun nothing: whatever runs keeps the downloader alive.
    deinit { endAll(with: CancellationError()) }

    public func download(_ request: DownloadRequest, progress: (@Sendable (DownloadProgress) -> Void)?) async throws
        -> Download
    {
        Download(try await result(of: request, to: nil, progress))
    }

    public func completed(_ request: HTTPRequest) -> HTTPRequest { fetcher.http.configuration.completed(request) }

    /// Fetches the whole content into a file, in constant memory; only where the configuration transforms it, it is in memory
    /// once.
    ///
    /// - Parameters:
    ///   - request: What is wanted, and how urgently.
    ///   - path: Replaced when the content is whole and on the disk, and else left as it is. Its directory must exist.
    ///     Of several requests that differ and go to one path, the last that ends stays.
    ///   - progress: Called while bytes arrive, from any thread; must not block.
    /// - Throws: ``DownloadError``, `unwritableFile` among them, or `CancellationError`.
    public func download(
        _ request: DownloadRequest, to path: String, progress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> DownloadedFile {
        DownloadedFile(try await result(of: request, to: path, progress), path: path)
    }

    /// Begins a download, or joins one that is under way, for callers that are not tasks.
    ///
    /// - Parameters:
    ///   - request: Its priority counts as it is now; ``setPriority(_:of:)`` changes it.
    ///   - progress: Called while bytes arrive, from any thread; must not block.
    ///   - completion: Called exactly once, from any thread: with what came, ``DownloadError``, or `CancellationError`
    ///     when the receipt was cancelled.
    /// - Returns: What cancels this one, and no other that waits for the same bytes.
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

    /// Begins a download to a file, or joins one that is under way, for callers that are not tasks. As
    /// ``start(_:progress:completion:)`` and ``download(_:to:progress:)``.
    @discardableResult
    public func start(
        _ request: DownloadRequest, to path: String, progress: (@Sendable (DownloadProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<DownloadedFile, any Error>) -> Void
    ) -> DownloadReceipt {
        let receipt = DownloadReceipt()
        let waiter = DownloadWaiter(progress: progress) { completion($0.map { DownloadedFile($0, path: path) }) }
        begin(request, to: path, receipt, waiter)
        return receipt
    }

    /// Ends one's waiting, at once; the transfer ends when nobody else waits for it. Nothing happens when it has ended, or
    /// when another downloader issued the receipt.
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

    /// Changes one's priority. Nothing happens to a transfer that runs, until it has to wait again, or has ended.
    public func setPriority(_ priority: LoadPriority, of receipt: DownloadReceipt) {
        preparing.withLock { $0[receipt]?.priority = priority }
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

    /// Transfers from servers that have a slot, and that wait: for one, or before a further attempt. Other sources are not
    /// counted.
    package var transferCounts: (running: Int, waiting: Int) {
        table.withLock { ($0.runningCount, $0.waitingCount) }
    }

    /// The number of callers that wait for a transfer which is known. A request that is still being modified does not
    /// count.
    package var waiterCount: Int { table.withLock { $0.waiterCount } }

    /// The number of transfers that pause before a further attempt and do not wait for a slot yet.
    package var backingOffCount: Int { table.withLock { $0.backingOffCount } }

    /// Ends every download with `CancellationError`. Later ones begin as ever.
    public func cancelAll() { endAll(with: CancellationError()) }

    /// Ends every download, and refuses later ones, with ``DownloadError`` `shutDown`. Returns when the transfers have
    /// ended.
    public func shutDown() async {
        table.withLock { $0.shutDown() }
        for task in endAll(with: Self.isShutDown) { await task.value }
        // The task of a transfer that has only just begun may not be known yet.
        await withCheckedContinuation { continuation in
            shutdownWaiters.withLock { $0.append(continuation) }
            if table.withLock({ $0.hasEnded }) { resumeShutdownWaiters() }
        }
    }

    private func resumeShutdownWaiters() {
        let waiters = shutdownWaiters.withLock { waiters in
            defer { waiters = [] }
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private static let isShutDown = DownloadError(.shutDown, "the downloader has been shut down")

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
                // Resumed once: a waiter that leaves the table, by whatever way, gets its one outcome.
                try await withUnsafeThrowingContinuation { continuation in
                    let waiter = DownloadWaiter(progress: progress, onBytes: request.onBytes) {
                        self.order.willResume()
                        continuation.resume(with: $0)
                    }
                    let priority = request.priority.value
                    begin(request, to: path, receipt, waiter, isInTask: true)
                    // A change or a cancellation before that found nobody.
                    if request.priority.value != priority { follow(request.priority, receipt) }
                    if Task.isCancelled { cancel(receipt) }
                }
            }
        } onCancel: {
            cancel(receipt)
        }
    }

    /// Takes the priority over as it is now, under the locks, so that the last one to look is right.
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
        guard case .http(let http) = request.source, fetcher.http.configuration.modifyRequest != nil else {
            let transfer = TransferRequest(
                source: request.source, path: path, deliversBytes: waiter.onBytes != nil, admission: request.admission,
                fileVersion: request.fileVersion, retry: request.retry)
            return join(transfer, request.priority.value, receipt, waiter, isInTask: isInTask)
        }
        guard !table.withLock({ $0.isShutDown }) else { return waiter.complete(.failure(Self.isShutDown)) }
        preparing.withLock { $0[receipt] = Preparation(waiter: waiter, priority: request.priority.value) }
        let task = Task(executorPreference: taskExecutor) { [self] in
            do {
                let modified = try await fetcher.http.prepare(http)
                let transfer = TransferRequest(
                    source: .http(modified), path: path, deliversBytes: waiter.onBytes != nil,
                    admission: request.admission, retry: request.retry)
                // In one step: who cancels it, or changes its priority, finds it in the one place or the other.
                let isAdmitted = preparing.withLock { preparing in
                    preparing.removeValue(forKey: receipt).map { enter(transfer, $0.priority, receipt, waiter) }
                }
                if let isAdmitted { start(waiter, isAdmitted: isAdmitted) }
            } catch {
                preparing.withLock({ $0.removeValue(forKey: receipt) })?.waiter.complete(.failure(error))
            }
        }
        // Who was cancelled before that found no task to end.
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

    /// Returns false when the downloader has been shut down.
    private func enter(
        _ transfer: TransferRequest, _ priority: LoadPriority, _ receipt: DownloadReceipt, _ waiter: DownloadWaiter
    ) -> Bool {
        table.withLock { table in
            guard !table.isShutDown else { return false }
            table.join(
                TransferKey(transfer), transfer, TransferQueue(transfer.source), id: receipt.id, priority: priority,
                waiter)
            return true
        }
    }

    private func start(_ waiter: DownloadWaiter, isAdmitted: Bool, isInTask: Bool = false) {
        if isAdmitted { pump(isInTask: isInTask) } else { waiter.complete(.failure(Self.isShutDown)) }
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

    // MARK: Transfers

    /// Begins what may begin.
    ///
    /// - Parameter isInTask: Whether the caller is a task that is about to wait: requests to servers then begin at once,
    ///   on its thread, which saves the way through the pool.
    private func pump(isInTask: Bool = false) {
        let now = clock.uptime
        let (beginnings, delay) = table.withLock { $0.begin(at: now) }
        for beginning in beginnings {
            guard beginning.isFirst else {
                takeRequeued(beginning.id)?.resume()
                continue
            }
            let operation = { @Sendable () async in await self.run(beginning.id, beginning.request) }
            let task: Task<Void, Never>
            if isInTask, taskExecutor == nil, case .http = beginning.request.source {
                task = Task.immediate(operation: operation)
            } else {
                task = Task(executorPreference: taskExecutor, operation: operation)
            }
            if table.withLock({ $0.attach(task, to: beginning.id) }) { task.cancel() }
        }
        if let delay { pump(after: delay) }
    }

    /// Looks again when the rate lets the next begin. One timer is enough, whoever asks.
    private func pump(after delay: Duration) {
        guard table.withLock({ $0.setTimer() }) else { return }
        let task = Task(executorPreference: taskExecutor) { [self] in
            // Ends early when there is nothing left to wait for.
            try? await clock.sleep(for: delay)
            table.withLock { $0.clearTimer() }
            pump()
        }
        table.withLock { $0.attachTimer(task) }
    }

    private func run(_ id: Int, _ transfer: TransferRequest) async {
        var onBytes: DownloadRequest.BytesHandler?
        if transfer.deliversBytes {
            onBytes = { offset, bytes in
                let listeners = self.table.withLock { $0.waiters(of: id) { $0.onBytes != nil } }
                for waiter in listeners { waiter.onBytes?(offset, bytes) }
            }
        }
        let outcome: Result<TransferResult, any Error>
        do {
            if let admission = transfer.admission { try await admission() }
            outcome = .success(
                try await fetcher.fetch(transfer, pause: { try await self.backOff(id, for: $0) }, onBytes: onBytes) {
                    progress in
                    let listeners = self.table.withLock { $0.waiters(of: id) { $0.progress != nil } }
                    for waiter in listeners { waiter.progress?(progress) }
                })
        } catch {
            outcome = .failure(error)
        }
        let (waiters, hasEnded) = table.withLock { ($0.finish(id), $0.hasEnded) }
        for waiter in waiters { waiter.complete(outcome) }
        if hasEnded { return resumeShutdownWaiters() }
        pump()
    }

    /// Waits without a slot, then for one.
    private func backOff(_ id: Int, for pause: Duration) async throws {
        table.withLock { $0.backOff(id) }
        pump()
        try await clock.sleep(for: pause)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                requeued.withLock { $0[id] = continuation }
                table.withLock { $0.requeue(id) }
                // A cancellation before that found nobody to wake.
                if Task.isCancelled { takeRequeued(id)?.resume(throwing: CancellationError()) }
                pump()
            }
        } onCancel: {
            takeRequeued(id)?.resume(throwing: CancellationError())
        }
    }

    private func takeRequeued(_ id: Int) -> CheckedContinuation<Void, any Error>? {
        requeued.withLock { $0.removeValue(forKey: id) }
    }
}

/// One whose request is still being modified.
private struct Preparation: Sendable {
    var waiter: DownloadWaiter
    var priority: LoadPriority
    /// Nil until it has been begun.
    var task: Task<Void, Never>?
}

/// One who waits for a download.
private struct DownloadWaiter: Sendable {
    typealias Completion = @Sendable (Result<TransferResult, any Error>) -> Void

    var progress: (@Sendable (DownloadProgress) -> Void)?
    /// Gets the bytes, of a transfer that was begun for one who wants them.
    var onBytes: DownloadRequest.BytesHandler?
    var complete: Completion
}
