public import AlcedoCore
import AlcedoRuntime

/// A load in progress. Reports its progress, and can be cancelled or given another priority.
///
/// ```swift
/// let task = pipeline.imageTask(with: request)
/// for await progress in task.progress { print(progress.received, progress.expected ?? 0) }
/// let image = try await task.image
/// ```
///
/// The load continues when the task is released. It is cancelled by ``cancel()``, and by cancelling a Swift task that
/// awaits ``image`` or ``response``.
public final class ImageTask: Sendable {
    private struct State: Sendable {
        var progress = DownloadProgress(received: 0, expected: nil)
        var outcome: Result<ImageResponse, any Error>?
        /// The latest event of each kind, in order, for listeners that are added later.
        var past: [ImageTaskEvent] = []
        var listeners: [Int: @Sendable (ImageTaskEvent) -> Void] = [:]
        var lastID = 0
        var work: Task<ImageResponse, any Error>?
        var isCancelled = false
    }

    /// The request of the load.
    public let request: ImageRequest
    private let priorityHandle: PriorityHandle
    private let state = Locked(State())

    /// Creates a task, which ``start(on:_:)`` starts. `executor` calls `onEvent` with the task's events.
    init(_ request: ImageRequest, on executor: CallbackExecutor, onEvent: (@Sendable (ImageTaskEvent) -> Void)?) {
        self.request = request
        priorityHandle = PriorityHandle(request.priority)
        guard let onEvent else { return }
        let queue = EventQueue(executor, onEvent)
        state.withLock { $0.listeners[0] = { queue.add($0) } }
    }

    /// The priority of the load for this task. Work that several tasks share runs at the highest of their priorities.
    public var priority: LoadPriority {
        get { priorityHandle.value }
        set { priorityHandle.value = newValue }
    }

    /// The current number of received bytes and of expected bytes.
    public var currentProgress: DownloadProgress { state.withLock { $0.progress } }

    /// The progress of the download as a sequence that ends with the load, also after an error.
    ///
    /// Each iteration begins with the latest progress, and skips progress that arrives faster than it is consumed. The
    /// sequence is empty when the image needs no download. Several sequences can be iterated concurrently.
    public var progress: AsyncStream<DownloadProgress> {
        stream(bufferingNewest: 1) { event in if case .progress(let progress) = event { progress } else { nil } }
    }

    /// The previews of the image as a sequence that ends with the load, also after an error.
    ///
    /// The sequence is empty unless the request's ``/AlcedoCore/ImageRequest/deliversPreviews`` is true. Each iteration
    /// begins with the latest preview, and skips previews that arrive faster than they are consumed.
    public var previews: AsyncStream<ImagePreview> {
        stream(bufferingNewest: 1) { event in if case .preview(let preview) = event { preview } else { nil } }
    }

    /// Whether the task was cancelled before the load ended, by ``cancel()`` or by a cancelled Swift task that awaited
    /// it.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Cancels the task. The load itself ends when no other task or caller waits for it. Has no effect after the load
    /// has ended.
    public func cancel() {
        let work = state.withLock { state -> Task<ImageResponse, any Error>? in
            guard state.outcome == nil else { return nil }
            state.isCancelled = true
            return state.work
        }
        work?.cancel()
    }

    /// The loaded image. Waits, and cancels, as ``response`` does.
    ///
    /// - Throws: ``PipelineError``, an interceptor's own error, or `CancellationError` when this task was cancelled.
    public var image: DecodedImage {
        get async throws { try await response.image }
    }

    /// The loaded image with the layer that had it. Waits until the load has ended.
    ///
    /// Cancelling the Swift task that waits here also cancels this image task, as ``cancel()`` does. All other Swift
    /// tasks that await it then receive `CancellationError`. To stop waiting without cancelling the load, iterate
    /// ``events`` instead.
    ///
    /// - Throws: ``PipelineError``, an interceptor's own error, or `CancellationError` when this task was cancelled.
    public var response: ImageResponse {
        get async throws {
            guard let work = state.withLock({ $0.work }) else { throw CancellationError() }
            return try await withTaskCancellationHandler {
                try await work.value
            } onCancel: {
                cancel()
            }
        }
    }

    /// The events of the load as a sequence that ends with `finished`.
    ///
    /// An iteration begins with the latest event of each kind. After the end of the load it yields `finished` alone.
    /// The sequence buffers at most 16 events and drops the oldest. Ending the iteration, or cancelling the task that
    /// iterates, does not cancel the load.
    public var events: AsyncStream<ImageTaskEvent> { stream(bufferingNewest: 16) { $0 } }

    /// Returns a sequence of the values that `select` makes from events. Events for which it returns nil are left out.
    private func stream<Element: Sendable>(
        bufferingNewest count: Int, _ select: @escaping @Sendable (ImageTaskEvent) -> Element?
    ) -> AsyncStream<Element> {
        AsyncStream(bufferingPolicy: .bufferingNewest(count)) { continuation in
            let listener: @Sendable (ImageTaskEvent) -> Void = { event in
                if let element = select(event) { continuation.yield(element) }
                if case .finished = event { continuation.finish() }
            }
            let id = state.withLock { state -> Int? in
                guard let outcome = state.outcome else {
                    for event in state.past { listener(event) }
                    state.lastID += 1
                    state.listeners[state.lastID] = listener
                    return state.lastID
                }
                listener(.finished(outcome))
                return nil
            }
            guard let id else { return }
            continuation.onTermination = { [weak self] _ in self?.stopListening(id) }
        }
    }

    /// Starts the work. Must be called once.
    ///
    /// - Parameters:
    ///   - taskExecutor: The executor of the work, or nil for Swift's own.
    ///   - body: The work. Receives the task's priority and a closure for updates.
    func start(
        on taskExecutor: (any TaskExecutor)?,
        _ body:
            @escaping @Sendable (
                _ priority: PriorityHandle, _ update: @escaping @Sendable (LoadUpdate) -> Void
            ) async throws -> ImageResponse
    ) {
        let work = Task(executorPreference: taskExecutor) {
            do {
                let response = try await body(self.priorityHandle) { self.record($0) }
                self.end(.success(response))
                return response
            } catch {
                self.end(.failure(error))
                throw error
            }
        }
        let isCancelled = state.withLock { state in
            state.work = work
            return state.isCancelled
        }
        if isCancelled { work.cancel() }
    }

    private func record(_ update: LoadUpdate) {
        let event: ImageTaskEvent =
            switch update {
            case .progress(let progress): .progress(progress)
            case .preview(let preview): .preview(preview)
            case .cached(let response): .cached(response)
            }
        let listeners = state.withLock { state -> [@Sendable (ImageTaskEvent) -> Void] in
            // Updates after the end are dropped, because listeners have received `finished`.
            guard state.outcome == nil else { return [] }
            if case .progress(let progress) = update { state.progress = progress }
            state.past.removeAll { $0.isSameKind(as: event) }
            state.past.append(event)
            return Array(state.listeners.values)
        }
        for listener in listeners { listener(event) }
    }

    private func end(_ outcome: Result<ImageResponse, any Error>) {
        let listeners = state.withLock { state in
            state.outcome = outcome
            state.past = []
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener(.finished(outcome)) }
    }

    private func stopListening(_ id: Int) { state.withLock { _ = $0.listeners.removeValue(forKey: id) } }
}

/// An event of an image task. `finished` is the last one and occurs once.
public enum ImageTaskEvent: Sendable {
    /// The progress of the download.
    case progress(DownloadProgress)
    /// A preview of the bytes received so far. Occurs only when the request enables previews.
    case preview(ImagePreview)
    /// The cached image. Occurs only when the request shows the cached image first.
    case cached(ImageResponse)
    /// The loaded image, or the error: ``PipelineError``, an interceptor's own error, or `CancellationError`.
    case finished(Result<ImageResponse, any Error>)
}

extension ImageTaskEvent {
    /// Whether both events are of the same kind, so that the later replaces the earlier.
    func isSameKind(as other: ImageTaskEvent) -> Bool {
        switch (self, other) {
        case (.progress, .progress), (.preview, .preview), (.cached, .cached), (.finished, .finished): true
        default: false
        }
    }
}

/// The place where callbacks run.
///
/// ```swift
/// let queue = DispatchQueue(label: "images")
/// let task = pipeline.imageTask(with: request, on: .custom { work in queue.async(execute: work) }) { print($0) }
/// ```
public enum CallbackExecutor: Sendable {
    /// The thread where the event happens. The callback must not block it.
    case immediate
    /// The main actor.
    case mainActor
    /// A function that runs each closure it receives once, immediately or later, for example on a dispatch queue or in
    /// the event loop of a user interface.
    ///
    /// It may be called from several threads. For one task, the pipeline passes the next closure after the previous one
    /// has run.
    case custom(@Sendable (_ work: @escaping @Sendable () -> Void) -> Void)

    func run(_ work: @escaping @Sendable () -> Void) {
        switch self {
        case .immediate: work()
        case .mainActor: Task { @MainActor in work() }
        case .custom(let run): run(work)
        }
    }
}

/// Passes events to a handler through an executor, in order, one batch at a time.
private final class EventQueue: Sendable {
    private struct State: Sendable {
        var pending: [ImageTaskEvent] = []
        var isScheduled = false
        var hasFinished = false
    }

    private let executor: CallbackExecutor
    private let handler: @Sendable (ImageTaskEvent) -> Void
    private let state = Locked(State())

    init(_ executor: CallbackExecutor, _ handler: @escaping @Sendable (ImageTaskEvent) -> Void) {
        self.executor = executor
        self.handler = handler
    }

    func add(_ event: ImageTaskEvent) {
        let mustSchedule = state.withLock { state in
            // Another thread may report a preview after `finished`.
            guard !state.hasFinished else { return false }
            if case .finished = event { state.hasFinished = true }
            // Only the latest of consecutive progress events or previews is useful to the handler.
            if case .progress = event, case .progress = state.pending.last { state.pending.removeLast() }
            if case .preview = event, case .preview = state.pending.last { state.pending.removeLast() }
            state.pending.append(event)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if mustSchedule { executor.run { self.deliver() } }
    }

    private func deliver() {
        while true {
            let events = state.withLock { state in
                defer { state.pending = [] }
                if state.pending.isEmpty { state.isScheduled = false }
                return state.pending
            }
            if events.isEmpty { return }
            for event in events { handler(event) }
        }
    }
}
