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
/// Methods throw ``DownloadError`` or `CancellationError`. When the downloader is released, running transfers continue,
/// and the waiters whose transfers have not begun receive `CancellationError`. The page of the module has the rules for
/// limits, redirects and files.
public final class Downloader: Downloading {
    /// The response cache that the transport uses, or nil when it uses none.
    public let responseCache: (any ResponseCacheAccess)?
    private let fetcher: SourceFetcher
    private let gate: TransferGate
    private let transfers: Transfers

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
        gate = TransferGate(configuration, clock: clock)
        transfers = Transfers(taskExecutor: configuration.taskExecutor)
    }

    deinit { gate.close() }

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
        let transfer = transfer(of: request, to: nil, CoalescerTicket())
        return Download(try await transfer.result(request.priority, Self.listener(of: request, to: nil, progress)))
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
        let transfer = transfer(of: request, to: path, CoalescerTicket())
        let listener = Self.listener(of: request, to: path, progress)
        return DownloadedFile(try await transfer.result(request.priority, listener), path: path)
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
        start(request, to: nil, progress) { completion($0.map { Download($0) }) }
    }

    /// Begins a download to a file, or joins the transfer of an equal request, for callers outside of a task. It
    /// otherwise behaves like ``start(_:progress:completion:)`` and ``download(_:to:progress:)``.
    @discardableResult
    package func start(
        _ request: DownloadRequest, to path: String, progress: (@Sendable (DownloadProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<DownloadedFile, any Error>) -> Void
    ) -> DownloadReceipt {
        start(request, to: path, progress) { completion($0.map { DownloadedFile($0, path: path) }) }
    }

    /// Cancels one caller's download immediately. The transfer ends if it has no other waiter. Does nothing if the
    /// download has ended or another downloader issued the receipt.
    public func cancel(_ receipt: DownloadReceipt) { transfers.leave(receipt.ticket) }

    /// Changes the priority of one caller's download. A running transfer is affected only when it waits for a slot
    /// again, before a retry. Does nothing if the download has ended.
    public func setPriority(_ priority: LoadPriority, of receipt: DownloadReceipt) {
        transfers.setPriority(priority.level, of: receipt.ticket)
    }

    /// Whether the downloader holds back new transfers from servers. Running transfers continue, but their retries
    /// wait. Other sources are not affected. Default: false.
    public var isPaused: Bool {
        get { gate.isPaused }
        set { gate.isPaused = newValue }
    }

    /// The number of transfers from servers that have a slot, and the number of transfers from servers that wait for a
    /// slot or pause before a retry. Other sources are not counted.
    package var transferCounts: (running: Int, waiting: Int) { gate.counts }

    /// The number of waits for transfers: one for each caller, and one more while its request, which the downloader has
    /// modified, waits for the transfer.
    package var waiterCount: Int { transfers.waiterCount }

    /// The number of transfers that pause before a retry, or wait for the network, and do not yet wait for a slot.
    package var backingOffCount: Int { gate.backingOffCount }

    /// Ends all downloads with `CancellationError`. The downloader accepts new downloads afterwards.
    public func cancelAll() { transfers.cancelAll(throwing: CancellationError()) }

    /// Ends all downloads and rejects later ones, both with ``DownloadError`` `shutDown`. Returns after all transfers
    /// have ended.
    public func shutDown() async {
        await transfers.shutDown(throwing: DownloadError(.shutDown, "the downloader has been shut down"))
    }

    // MARK: Waiters

    private func start(
        _ request: DownloadRequest, to path: String?, _ progress: (@Sendable (DownloadProgress) -> Void)?,
        completion: @escaping @Sendable (Result<TransferResult, any Error>) -> Void
    ) -> DownloadReceipt {
        let receipt = DownloadReceipt()
        let transfer = transfer(of: request, to: path, receipt.ticket)
        transfers.join(
            transfer.key, ticket: receipt.ticket, priority: request.priority.value.level,
            onUpdate: Self.listener(of: request, to: path, progress), onBegin: transfer.enqueue, transfer.body,
            completion: completion)
        return receipt
    }

    private static func listener(
        of request: DownloadRequest, to path: String?, _ progress: (@Sendable (DownloadProgress) -> Void)?
    ) -> Transfers.Report? {
        let onBytes = path == nil ? request.onBytes : nil
        guard progress != nil || onBytes != nil else { return nil }
        return { update in
            switch update {
            case .progress(let step): progress?(step)
            case .bytes(let offset, let bytes): onBytes?(offset, bytes)
            }
        }
    }

    private func transfer(of request: DownloadRequest, to path: String?, _ ticket: CoalescerTicket) -> Transfer {
        let deliversBytes = path == nil && request.onBytes != nil
        guard case .http(let http) = request.source, modifiesRequests, !request.isModified else {
            let transfer = TransferRequest(
                source: request.source, path: path, deliversBytes: deliversBytes, admission: request.admission,
                fileVersion: request.fileVersion, retry: request.retry, renewal: request.renewal,
                isShareable: request.renewal == nil, skipsQueue: request.skipsQueue)
            return Transfer(transfer, ticket, in: transfers, gate, by: fetcher)
        }
        // Only the modified request tells which transfer is needed, so the request is first modified for itself.
        let unmodified = TransferRequest(source: request.source, path: path, deliversBytes: false, isShareable: false)
        return Transfer(unmodified, ticket, in: transfers) { [transfers, gate, fetcher] report, priority, _ in
            do {
                let modified = try await fetcher.http.prepare(http)
                let transfer = TransferRequest(
                    source: .http(modified), path: path, deliversBytes: deliversBytes, admission: request.admission,
                    retry: request.retry,
                    renewal: { try await fetcher.http.prepare(try await request.renewal?() ?? http) },
                    isShareable: request.renewal == nil, skipsQueue: request.skipsQueue)
                return try await Transfer(transfer, CoalescerTicket(), in: transfers, gate, by: fetcher).result(
                    PriorityHandle(level: priority), report)
            } catch {
                throw DownloadError.naming(request.source, error)
            }
        }
    }
}

private typealias Transfers = Coalescer<TransferKey, TransferUpdate, TransferResult>

private enum TransferUpdate: Sendable {
    case progress(DownloadProgress)
    /// Received bytes and their offset, if the transfer delivers them.
    case bytes(offset: Int, Data)
}

/// A transfer that is to run unless an equal one is in progress.
private struct Transfer {
    let key: TransferKey
    let body: Transfers.PrioritizedBody
    private let ticket: CoalescerTicket
    private let transfers: Transfers
    private let gate: TransferGate?
    private let queue: TransferQueue

    /// Creates a transfer that waits for its slot.
    init(
        _ request: TransferRequest, _ ticket: CoalescerTicket, in transfers: Transfers, _ gate: TransferGate,
        by fetcher: SourceFetcher
    ) {
        (key, queue, self.ticket) = (TransferKey(request), TransferQueue(request), ticket)
        (self.transfers, self.gate) = (transfers, gate)
        body = { report, priority, _ in
            try await Self.run(request, ticket.id, PriorityHandle(level: priority), report, gate, fetcher)
        }
    }

    /// Creates work that needs no slot.
    init(
        _ request: TransferRequest, _ ticket: CoalescerTicket, in transfers: Transfers,
        _ body: @escaping Transfers.PrioritizedBody
    ) {
        (key, self.ticket, self.transfers, self.body) = (TransferKey(request), ticket, transfers, body)
        (gate, queue) = (nil, .unlimited)
    }

    private static func run(
        _ request: TransferRequest, _ id: Int, _ priority: PriorityHandle, _ report: @escaping Transfers.Report,
        _ gate: TransferGate, _ fetcher: SourceFetcher
    ) async throws -> TransferResult {
        var onBytes: DownloadRequest.BytesHandler?
        if request.deliversBytes { onBytes = { report(.bytes(offset: $0, $1)) } }
        let wait = ActiveSpan.current?.begin(.queueWait)
        defer { wait?.end(.cancelled) }
        do {
            return try await gate.withSlot(id) { [onBytes] in
                if let admission = request.admission { try await admission() }
                wait?.end(.success)
                return try await fetcher.fetch(
                    request,
                    pause: TransferPause { pause, network in
                        try await LoadSpan.run(.queueWait, detail: "retry") {
                            try await gate.backOff(id, for: pause, until: network, priority)
                        }
                    } regainingSlot: {
                        try await gate.regainSlot(id, priority)
                    }, onBytes: onBytes
                ) { report(.progress($0)) }
            }
        } catch {
            throw DownloadError.naming(request.source, error)
        }
    }

    func enqueue(_ priority: AdjustablePriority) {
        gate?.add(ticket.id, to: queue, PriorityHandle(level: priority))
    }

    /// Waits for the result in a task. Only transfers from servers begin on its thread, because other sources may
    /// block it.
    func result(_ priority: PriorityHandle, _ onUpdate: Transfers.Report?) async throws -> TransferResult {
        let isImmediate = if case .server = queue { true } else { false }
        return try await transfers.value(
            for: key, ticket: ticket, priority: priority.level, onUpdate: onUpdate, isImmediate: isImmediate,
            onBegin: enqueue, body)
    }
}
