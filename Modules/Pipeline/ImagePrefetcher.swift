public import AlcedoCore
import AlcedoRuntime
public import FoundationEssentials

/// Loads images that will be needed soon, a few at a time, with a lower priority than those that are needed now.
///
/// ```swift
/// let prefetcher = ImagePrefetcher(pipeline: pipeline, maxConcurrentLoads: 4)
/// prefetcher.start(urls)
/// ```
///
/// Equal requests are one; what is cached already is skipped. When the prefetcher goes, what it has not loaded is given up.
/// A view that wants an image which is being prefetched joins its load, and makes it as urgent as itself.
public final class ImagePrefetcher: Sendable {
    private let pipeline: ImagePipeline
    private let destination: PrefetchDestination
    private let priorityHandle: PriorityHandle
    private let state: Locked<PrefetchState>

    /// - Parameters:
    ///   - pipeline: Loads the images.
    ///   - destination: How far images come. Default: into memory.
    ///   - maxConcurrentLoads: The maximum number of loads at the same time; below one counts as one. Default: 2.
    ///   - maximumPendingCount: The maximum number of requests that wait; further ones are skipped. Default: 10,000.
    ///   - priority: The priority of the loads, in place of that of their requests. Default: low.
    public init(
        pipeline: ImagePipeline, destination: PrefetchDestination = .memory, maxConcurrentLoads: Int = 2,
        maximumPendingCount: Int = 10_000, priority: LoadPriority = .low
    ) {
        self.pipeline = pipeline
        self.destination = destination
        priorityHandle = PriorityHandle(priority)
        state = Locked(PrefetchState(maxConcurrentLoads: maxConcurrentLoads, maximumPendingCount: maximumPendingCount))
    }

    deinit { stopAll() }

    /// Of all loads, those that run included.
    public var priority: LoadPriority {
        get { priorityHandle.value }
        set { priorityHandle.value = newValue }
    }

    /// While true no load begins; those that run go on.
    public var isPaused: Bool {
        get { state.withLock { $0.isPaused } }
        set {
            state.withLock { $0.isPaused = newValue }
            pump()
        }
    }

    /// Requests that wait, and those that are being loaded.
    package var count: Int { state.withLock { $0.count } }

    /// Begins to load the images of these URLs, after those that were started before. A URL whose scheme nothing
    /// fetches fails, as ``report()`` tells.
    public func start(_ urls: [URL]) { start(urls.map { ImageRequest(url: $0) }) }

    /// Begins to load the images of these requests, after those that were started before.
    public func start(_ requests: [ImageRequest]) {
        state.withLock { $0.add(requests) }
        pump()
    }

    /// Cancels the loads of these URLs, and removes those that wait.
    public func stop(_ urls: [URL]) { stop(urls.map { ImageRequest(url: $0) }) }

    /// Cancels the loads of these requests, and removes those that wait.
    public func stop(_ requests: [ImageRequest]) {
        for task in state.withLock({ $0.remove(requests) }) { task.cancel() }
        pump()
    }

    /// Gives everything up.
    public func stopAll() {
        for task in state.withLock({ $0.removeAll() }) { task.cancel() }
        settle()
    }

    /// Returns what has become of everything since the last report, when nothing is left to load. Waits as long as the
    /// prefetcher is paused and something is left.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first; what the report would have told, the next one tells.
    public func report() async throws -> PrefetchReport {
        let id = state.withLock { $0.makeID() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { $0.addWaiter(id, continuation) }
                // A cancellation before this found nobody to remove.
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
            // The work does not keep the prefetcher, so that letting go of it ends the work.
            let task = Task(executorPreference: pipeline.configuration.taskExecutor) {
                [weak self, pipeline, destination, priorityHandle] in
                do {
                    let isLoaded = try await Self.load(start.request, with: pipeline, to: destination, priorityHandle)
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

    /// Returns whether there was something to load.
    private static func load(
        _ request: ImageRequest, with pipeline: ImagePipeline, to destination: PrefetchDestination,
        _ priority: PriorityHandle
    ) async throws -> Bool {
        switch destination {
        case .memory:
            guard pipeline.cachedImage(for: request) == nil else { return false }
            _ = try await pipeline.load(request, priority: priority) { _ in }
            return true
        case .disk:
            return try await pipeline.storeOriginal(of: request, priority)
        }
    }
}

/// How far prefetched images come.
public enum PrefetchDestination: Sendable, Hashable {
    /// Decoded and processed, into every cache.
    case memory
    /// The bytes as they came, onto the disk: nothing is decoded but their header, and interceptors are not asked.
    case disk
}

/// What has become of what was to be prefetched: of each kind the last, at most as many as may wait.
public struct PrefetchReport: Sendable, CustomStringConvertible {
    /// What was loaded.
    public var loaded: [ImageRequest] = []
    /// What was there already, and what there was no room to remember.
    public var skipped: [ImageRequest] = []
    /// What could not be loaded, and why.
    public var failed: [(request: ImageRequest, error: any Error)] = []

    package init() {}

    /// The numbers, such as `12 loaded, 3 skipped, 1 failed`.
    public var description: String { "\(loaded.count) loaded, \(skipped.count) skipped, \(failed.count) failed" }

    mutating func shorten(to limit: Int) {
        // Not at each one that comes, or each would move all others.
        guard max(loaded.count, skipped.count, failed.count) >= 2 * limit + 1 else { return }
        keepLast(limit)
    }

    mutating func keepLast(_ limit: Int) {
        loaded.removeFirst(max(0, loaded.count - limit))
        skipped.removeFirst(max(0, skipped.count - limit))
        failed.removeFirst(max(0, failed.count - limit))
    }
}

/// What is to be prefetched, what runs, and what has become of the rest. Decides only: never awaits, never calls out.
private struct PrefetchState: Sendable {
    /// A load that is to begin.
    struct Start: Sendable {
        var id: Int
        var request: ImageRequest
    }

    private struct Running: Sendable {
        var key: ImageKey
        var task: Task<Void, Never>?
    }

    typealias Waiter = CheckedContinuation<PrefetchReport, any Error>

    private let maxConcurrentLoads: Int
    private let maximumPendingCount: Int
    private var pending = WaiterQueue<ImageRequest>()
    private var running: [Int: Running] = [:]
    private var ids: [ImageKey: Int] = [:]
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

    /// Adds what is not there yet. What there is no room for is skipped.
    mutating func add(_ requests: [ImageRequest]) {
        for request in requests where ids[request.unversionedKey] == nil {
            guard pending.count < maximumPendingCount else {
                report.skipped.append(request)
                report.shorten(to: maximumPendingCount)
                continue
            }
            let id = makeID()
            ids[request.unversionedKey] = id
            pending.add(id, request, priority: .normal)
        }
    }

    /// The loads that begin now.
    mutating func begin() -> [Start] {
        var starts: [Start] = []
        while !isPaused, running.count < maxConcurrentLoads, let first = pending.popFirst() {
            running[first.id] = Running(key: first.element.unversionedKey)
            starts.append(Start(id: first.id, request: first.element))
        }
        return starts
    }

    /// Remembers the work of a load. Returns whether nobody wants it any more.
    mutating func attach(_ task: Task<Void, Never>, to id: Int) -> Bool {
        guard running[id] != nil else { return true }
        running[id]?.task = task
        return false
    }

    /// Takes requests back. Returns the work that is to be cancelled.
    mutating func remove(_ requests: [ImageRequest]) -> [Task<Void, Never>] {
        requests.compactMap { request in
            guard let id = ids.removeValue(forKey: request.unversionedKey) else { return nil }
            _ = pending.remove(id)
            return running.removeValue(forKey: id)?.task
        }
    }

    mutating func removeAll() -> [Task<Void, Never>] {
        defer { (ids, running) = ([:], [:]) }
        _ = pending.removeAll()
        return running.values.compactMap(\.task)
    }

    /// Records the outcome of a load, unless it was stopped.
    mutating func finish(_ id: Int, _ record: (inout PrefetchReport) -> Void) {
        guard let ended = running.removeValue(forKey: id) else { return }
        ids[ended.key] = nil
        record(&report)
        report.shorten(to: maximumPendingCount)
    }

    /// Adds a waiter for the end.
    mutating func addWaiter(_ id: Int, _ waiter: Waiter) { waiters[id] = waiter }

    /// Removes a waiter, and returns it.
    mutating func removeWaiter(_ id: Int) -> Waiter? { waiters.removeValue(forKey: id) }

    /// Who waited for the end, when it has come, and what they get. The next report begins anew.
    mutating func settle() -> (waiters: [Waiter], report: PrefetchReport)? {
        guard ids.isEmpty, !waiters.isEmpty else { return nil }
        report.keepLast(maximumPendingCount)
        defer { (waiters, report) = ([:], PrefetchReport()) }
        return (Array(waiters.values), report)
    }
}
