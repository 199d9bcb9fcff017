public import AlcedoCore
import AlcedoRuntime
public import FoundationEssentials

/// A queue of images that will be needed soon, loaded a few at a time and at a low priority.
///
/// ```swift
/// let prefetcher = ImagePrefetcher(pipeline: pipeline, maxConcurrentLoads: 4)
/// prefetcher.start(urls)
/// print(try await prefetcher.report())  // 12 loaded, 3 skipped, 1 failed
/// ```
///
/// Equal requests are loaded once. A request with a modifier and without an identifier equals only its copies. Requests
/// whose result the destination already has are skipped. Releasing the prefetcher cancels the loads that have not
/// ended. A view that requests an image while the image is being prefetched joins the load. The load then runs at the
/// higher of the two priorities.
public final class ImagePrefetcher: Sendable {
    /// Loads the image of a request. Returns false when there was nothing to load.
    private typealias Load = @Sendable (ImageRequest, PriorityHandle) async throws -> Bool

    private let load: Load
    private let taskExecutor: (any TaskExecutor)?
    private let priorityHandle: PriorityHandle
    private let state: Locked<PrefetchState>

    /// Creates a prefetcher.
    ///
    /// - Parameters:
    ///   - pipeline: The pipeline that loads the images.
    ///   - destination: The caches that receive the images. Default: ``PrefetchDestination/memory``.
    ///   - maxConcurrentLoads: The maximum number of concurrent loads. Values below one count as one. Default: 2.
    ///   - maximumPendingCount: The maximum number of waiting requests. Further requests are skipped. With zero or
    ///     less, all requests are skipped. Default: 10,000.
    ///   - priority: The priority of all loads. It replaces the priority of each request. Default: low.
    public convenience init(
        pipeline: ImagePipeline, destination: PrefetchDestination = .memory, maxConcurrentLoads: Int = 2,
        maximumPendingCount: Int = 10_000, priority: LoadPriority = .low
    ) {
        let load: Load =
            switch destination {
            case .memory: Self.load(with: pipeline)
            case .disk: { [pipeline] in try await pipeline.storeOriginal(of: $0, $1) }
            }
        self.init(load, maxConcurrentLoads, maximumPendingCount, priority, pipeline.configuration.taskExecutor)
    }

    /// Creates a prefetcher of any loader, such as the fake loader of a test. The images are loaded as for a view.
    ///
    /// - Parameters:
    ///   - loader: The loader of the images.
    ///   - maxConcurrentLoads: The maximum number of concurrent loads. Values below one count as one. Default: 2.
    ///   - maximumPendingCount: The maximum number of waiting requests. Further requests are skipped. Default: 10,000.
    ///   - priority: The priority of all loads. It replaces the priority of each request. Default: low.
    ///   - taskExecutor: The executor of the prefetcher's tasks. Default: nil, for Swift's default executor.
    public convenience init(
        loader: any ImageLoading, maxConcurrentLoads: Int = 2, maximumPendingCount: Int = 10_000,
        priority: LoadPriority = .low, taskExecutor: (any TaskExecutor)? = nil
    ) {
        self.init(Self.load(with: loader), maxConcurrentLoads, maximumPendingCount, priority, taskExecutor)
    }

    private init(
        _ load: @escaping Load, _ maxConcurrentLoads: Int, _ maximumPendingCount: Int, _ priority: LoadPriority,
        _ taskExecutor: (any TaskExecutor)?
    ) {
        self.load = load
        self.taskExecutor = taskExecutor
        priorityHandle = PriorityHandle(priority)
        state = Locked(PrefetchState(maxConcurrentLoads: maxConcurrentLoads, maximumPendingCount: maximumPendingCount))
    }

    deinit { stopAll() }

    /// The priority of all loads. Setting it also changes the loads in progress.
    public var priority: LoadPriority {
        get { priorityHandle.value }
        set { priorityHandle.value = newValue }
    }

    /// Whether the prefetcher is paused. A paused prefetcher begins no load; loads in progress continue.
    public var isPaused: Bool {
        get { state.withLock { $0.isPaused } }
        set {
            state.withLock { $0.isPaused = newValue }
            pump()
        }
    }

    /// The number of requests that wait or are being loaded.
    package var count: Int { state.withLock { $0.count } }

    /// Loads the images of these URLs, after those of earlier calls.
    ///
    /// A URL with an unsupported scheme counts as failed in ``report()``.
    public func start(_ urls: [URL]) { start(urls.map { ImageRequest(url: $0) }) }

    /// Loads the images of these requests, after those of earlier calls.
    public func start(_ requests: [ImageRequest]) {
        state.withLock { $0.add(requests) }
        pump()
    }

    /// Cancels the loads of these URLs, and removes their waiting requests. The report does not contain them. Requests
    /// for these URLs whose images differ, for example by a processor, are not affected.
    public func stop(_ urls: [URL]) { stop(urls.map { ImageRequest(url: $0) }) }

    /// Cancels the loads of these requests, and removes the waiting ones. The report does not contain them.
    public func stop(_ requests: [ImageRequest]) {
        for task in state.withLock({ $0.remove(requests) }) { task.cancel() }
        pump()
    }

    /// Cancels all loads and removes all waiting requests. The report does not contain them.
    public func stopAll() {
        for task in state.withLock({ $0.removeAll() }) { task.cancel() }
        settle()
    }

    /// Waits until all requests have ended, and returns the outcomes since the last report. While the prefetcher is
    /// paused and requests are left, this method waits. Concurrent callers receive the same report.
    ///
    /// - Throws: `CancellationError` when the task is canceled before that. The next report then contains these
    ///   outcomes.
    public func report() async throws -> PrefetchReport {
        let id = state.withLock { $0.makeID() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { $0.addWaiter(id, continuation) }
                // The cancellation handler finds no waiter when it runs before the waiter is added.
                if Task.isCancelled { removeWaiter(id) }
                settle()
            }
        } onCancel: {
            removeWaiter(id)
        }
    }

    private func removeWaiter(_ id: Int) {
        state.withLock { $0.removeWaiter(id) }?.resume(throwing: CancellationError())
    }

    private func settle() {
        guard let (waiters, report) = state.withLock({ $0.settle() }) else { return }
        for waiter in waiters { waiter.resume(returning: report) }
    }

    private func pump() {
        for start in state.withLock({ $0.begin() }) {
            // The task holds the prefetcher weakly, so that releasing the prefetcher cancels the task.
            let task = Task(executorPreference: taskExecutor) { [weak self, load, priorityHandle] in
                do {
                    let isLoaded = try await load(start.request, priorityHandle)
                    self?.end(start.id) {
                        if isLoaded { $0.loaded.append(start.request) } else { $0.skipped.append(start.request) }
                    }
                } catch {
                    self?.end(start.id) { $0.failed.append((start.request, error)) }
                }
            }
            if state.withLock({ $0.attach(task, to: start.id) }) { task.cancel() }
        }
        settle()
    }

    private func end(_ id: Int, _ record: (inout PrefetchReport) -> Void) {
        state.withLock { $0.finish(id, record) }
        pump()
    }

    /// Returns the closure that loads an image unless the loader has it in memory.
    private static func load(with loader: any ImageLoading) -> Load {
        { request, priority in
            guard loader.cachedImage(for: request) == nil else { return false }
            _ = try await loader.load(request, priority: priority) { _ in }
            return true
        }
    }
}

/// The caches that receive prefetched images.
public enum PrefetchDestination: Sendable, Hashable {
    /// The memory cache and the disk cache, as for any load: images are decoded and processed.
    case memory
    /// The disk only. The original bytes are stored, only their header is decoded, and interceptors are not called.
    /// Requests for local sources are skipped, because their bytes are not copied.
    case disk
}

/// The outcomes of prefetched requests.
///
/// Each list holds the most recent requests, at most as many as the prefetcher's `maximumPendingCount`.
public struct PrefetchReport: Sendable, CustomStringConvertible {
    /// The requests that were loaded.
    public var loaded: [ImageRequest] = []
    /// The requests whose result the destination already had, requests for local sources if the destination is the
    /// disk, and requests beyond the prefetcher's `maximumPendingCount`.
    public var skipped: [ImageRequest] = []
    /// The requests whose load failed, or whose bytes the disk did not store, with their errors. A load that
    /// ``ImagePipeline/cancelLoads(of:)`` canceled is one of them.
    public var failed: [(request: ImageRequest, error: any Error)] = []

    package init() {}

    /// The three counts, such as `12 loaded, 3 skipped, 1 failed`.
    public var description: String { "\(loaded.count) loaded, \(skipped.count) skipped, \(failed.count) failed" }

    mutating func shorten(to limit: Int) {
        // Shortening only at twice the limit makes the cost of an append constant on average.
        guard max(loaded.count, skipped.count, failed.count) >= 2 * limit + 1 else { return }
        keepLast(limit)
    }

    mutating func keepLast(_ limit: Int) {
        loaded.removeFirst(max(0, loaded.count - limit))
        skipped.removeFirst(max(0, skipped.count - limit))
        failed.removeFirst(max(0, failed.count - limit))
    }
}

/// The part of a request by which a prefetcher finds equal ones. Before a response has said by what it varies, requests
/// with other fields or another modifier may be those of other users.
private struct PrefetchKey: Hashable {
    private let key: ImageKey
    private let sent: SentRequest?
    private let modifier: RequestToken?

    init(_ request: ImageRequest) {
        key = request.unversionedKey
        modifier = request.additionalIdentifier == nil ? request.modifierToken : nil
        guard case .http(let http) = request.source else {
            sent = nil
            return
        }
        sent = SentRequest(http, comparesURL: request.resource == nil)
    }
}

/// The waiting requests, the running loads and the outcomes. A pure state machine: it never awaits and makes no calls
/// to other objects.
private struct PrefetchState: Sendable {
    struct Start: Sendable {
        var id: Int
        var request: ImageRequest
    }

    private struct Running: Sendable {
        var key: PrefetchKey
        var task: Task<Void, Never>?
    }

    typealias Waiter = CheckedContinuation<PrefetchReport, any Error>

    private let maxConcurrentLoads: Int
    private let maximumPendingCount: Int
    private var pending = WaiterQueue<ImageRequest>()
    private var running: [Int: Running] = [:]
    private var ids: [PrefetchKey: Int] = [:]
    private var lastID = 0
    private var report = PrefetchReport()
    private var waiters: [Int: Waiter] = [:]
    var isPaused = false

    init(maxConcurrentLoads: Int, maximumPendingCount: Int) {
        self.maxConcurrentLoads = max(1, maxConcurrentLoads)
        self.maximumPendingCount = max(0, maximumPendingCount)
    }

    var count: Int { ids.count }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    /// Adds the requests that are not in the queue or running. Requests beyond the limit are recorded as skipped.
    mutating func add(_ requests: [ImageRequest]) {
        for request in requests where ids[PrefetchKey(request)] == nil {
            guard pending.count < maximumPendingCount else {
                report.skipped.append(request)
                report.shorten(to: maximumPendingCount)
                continue
            }
            let id = makeID()
            ids[PrefetchKey(request)] = id
            pending.add(id, request, priority: .normal)
        }
    }

    /// Moves the next requests from the queue to the running loads, up to the maximum number of loads, and returns
    /// them. Returns none while the prefetcher is paused.
    mutating func begin() -> [Start] {
        var starts: [Start] = []
        while !isPaused, running.count < maxConcurrentLoads, let first = pending.popFirst() {
            running[first.id] = Running(key: PrefetchKey(first.element))
            starts.append(Start(id: first.id, request: first.element))
        }
        return starts
    }

    /// Attaches the task of a load. Returns true when the load was stopped or has ended in the meantime.
    mutating func attach(_ task: Task<Void, Never>, to id: Int) -> Bool {
        guard running[id] != nil else { return true }
        running[id]?.task = task
        return false
    }

    /// Removes requests. Returns the tasks to cancel.
    mutating func remove(_ requests: [ImageRequest]) -> [Task<Void, Never>] {
        requests.compactMap { request in
            guard let id = ids.removeValue(forKey: PrefetchKey(request)) else { return nil }
            _ = pending.remove(id)
            return running.removeValue(forKey: id)?.task
        }
    }

    mutating func removeAll() -> [Task<Void, Never>] {
        defer { (ids, running) = ([:], [:]) }
        _ = pending.removeAll()
        return running.values.compactMap(\.task)
    }

    /// Records the outcome of a load, unless the load was stopped.
    mutating func finish(_ id: Int, _ record: (inout PrefetchReport) -> Void) {
        guard let ended = running.removeValue(forKey: id) else { return }
        ids[ended.key] = nil
        record(&report)
        report.shorten(to: maximumPendingCount)
    }

    /// Adds a caller that waits for the report.
    mutating func addWaiter(_ id: Int, _ waiter: Waiter) { waiters[id] = waiter }

    mutating func removeWaiter(_ id: Int) -> Waiter? { waiters.removeValue(forKey: id) }

    /// Returns the waiters and their report when all requests have ended, and begins a new report. Returns nil while
    /// requests are left or when no caller waits.
    mutating func settle() -> (waiters: [Waiter], report: PrefetchReport)? {
        guard ids.isEmpty, !waiters.isEmpty else { return nil }
        report.keepLast(maximumPendingCount)
        defer { (waiters, report) = ([:], PrefetchReport()) }
        return (Array(waiters.values), report)
    }
}
