public import AlcedoCore

/// Loads what will be wanted soon, a few at a time, behind everything that is wanted now.
///
/// Equal requests are one; what is cached already is skipped. When the prefetcher goes, what it has not loaded is given up.
/// A view that wants an image which is being prefetched joins its load, and makes it as urgent as itself.
public final class ImagePrefetcher: Sendable {
    private let pipeline: ImagePipeline
    private let destination: PrefetchDestination
    private let livePriority: LivePriority
    private let state: Locked<PrefetchState>

    /// - Parameters:
    ///   - pipeline: Loads the images.
    ///   - destination: How far images come. Default: into memory.
    ///   - width: Most loads at once. Default: 2.
    ///   - limit: Most requests that wait; further ones are skipped. Default: 10,000.
    ///   - priority: Of the loads, whatever their requests say. Default: low.
    public init(
        pipeline: ImagePipeline, destination: PrefetchDestination = .memory, width: Int = 2, limit: Int = 10_000,
        priority: LoadPriority = .low
    ) {
        self.pipeline = pipeline
        self.destination = destination
        livePriority = LivePriority(priority)
        state = Locked(PrefetchState(width: width, limit: limit))
    }

    deinit { stopAll() }

    /// Of all loads, those that run included.
    public var priority: LoadPriority {
        get { livePriority.value }
        set { livePriority.set(newValue) }
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
    public var count: Int { state.withLock { $0.count } }

    /// Begins to load these, after those that were asked for before.
    public func start(_ requests: [ImageRequest]) {
        state.withLock { $0.add(requests) }
        pump()
    }

    /// Gives these up.
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
                state.withLock { $0.watch(id, continuation) }
                // A cancellation before this found nobody to remove.
                if Task.isCancelled { stopWatching(id) }
                settle()
            }
        } onCancel: {
            stopWatching(id)
        }
    }

    private func stopWatching(_ id: Int) {
        state.withLock { $0.stopWatching(id) }?.resume(throwing: CancellationError())
    }

    private func settle() {
        guard let (watchers, report) = state.withLock({ $0.settle() }) else { return }
        for watcher in watchers { watcher.resume(returning: report) }
    }

    private func pump() {
        for start in state.withLock({ $0.begin() }) {
            // The work does not keep the prefetcher, so that letting go of it ends the work.
            let task = Task { [weak self, pipeline, destination, livePriority] in
                do {
                    let isLoaded = try await Self.load(start.request, with: pipeline, to: destination, livePriority)
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

    private func end(_ id: Int, _ note: (inout PrefetchReport) -> Void) {
        state.withLock { $0.finish(id, note) }
        pump()
    }

    /// Returns whether there was something to load.
    private static func load(
        _ request: ImageRequest, with pipeline: ImagePipeline, to destination: PrefetchDestination,
        _ priority: LivePriority
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
