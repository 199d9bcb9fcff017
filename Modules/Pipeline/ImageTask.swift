public import AlcedoCore
import AlcedoRuntime

/// A load in progress, which reports its progress, and can change its priority or be cancelled.
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
        /// The last of each kind, in order, for those who begin to listen now.
        var past: [ImageTaskEvent] = []
        var listeners: [Int: @Sendable (ImageTaskEvent) -> Void] = [:]
        var lastID = 0
        var work: Task<ImageResponse, any Error>?
        var isCancelled = false
    }

    /// The request that is loaded.
    public let request: ImageRequest
    private let priorityHandle: PriorityHandle
    private let state = Locked(State())

    /// Creates a task that is yet to be started. `onEvent` gets its events through `executor`.
    init(_ request: ImageRequest, on executor: CallbackExecutor, onEvent: (@Sendable (ImageTaskEvent) -> Void)?) {
        self.request = request
        priorityHandle = PriorityHandle(request.priority)
        guard let onEvent else { return }
        let queue = EventQueue(executor, onEvent)
        state.withLock { $0.listeners[0] = { queue.add($0) } }
    }

    /// How urgent the load is for this task. The work is as urgent as the most urgent task that waits for it.
    public var priority: LoadPriority {
        get { priorityHandle.value }
        set { priorityHandle.value = newValue }
    }

    /// The number of bytes that have been received, and of those that are expected, at this moment.
    public var currentProgress: DownloadProgress { state.withLock { $0.progress } }

    /// The progress of the download as a sequence, which ends with the load, however that ends.
    ///
    /// Each iteration begins with the last progress that was reported, and skips steps that come faster than they are
    /// taken. Empty for an image that no download was needed for. Any number of sequences can be followed at once.
    public var progress: AsyncStream<DownloadProgress> {
        stream(bufferingNewest: 1) { event in if case .progress(let progress) = event { progress } else { nil } }
    }

    /// The previews of the image as a sequence, which ends with the load, however that ends.
    ///
    /// Empty unless ``/AlcedoCore/ImageRequest/wantsPreviews`` of the request is true. Each iteration begins with the last
    /// preview, and skips previews that come faster than they are taken.
    public var previews: AsyncStream<ImagePreview> {
        stream(bufferingNewest: 1) { event in if case .preview(let preview) = event { preview } else { nil } }
    }

    /// Whether the task was cancelled before the load ended, by ``cancel()`` or by a Swift task that awaited it.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Cancels the task. The load itself ends when no other task or caller waits for it. Has no effect after the end.
    public func cancel() {
        let work = state.withLock { state -> Task<ImageResponse, any Error>? in
            guard state.outcome == nil else { return nil }
            state.isCancelled = true
            return state.work
        }
        work?.cancel()
    }

    /// The loaded image. Waits and is cancelled as ``response`` is, and throws the same errors.
    public var image: DecodedImage {
        get async throws { try await response.image }
    }

    /// The loaded image, with its origin. Waits for the end of the load; afterwards returns the result at once.
    ///
    /// Cancelling the Swift task that waits here cancels this image task, as ``cancel()`` does: every other task that
    /// awaits it then gets `CancellationError`, too. To stop waiting without cancelling, follow ``events`` instead.
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

    /// The events of the load as a sequence, `finished` last: first the last event of each kind so far, or, after the
    /// end, `finished` alone. Keeps at most 16 events that have not been taken, and drops the oldest. Ending the
    /// iteration, or cancelling the task that iterates, does not cancel the load.
    public var events: AsyncStream<ImageTaskEvent> { stream(bufferingNewest: 16) { $0 } }

    /// The events that `select` returns something for, as a sequence that ends with the load.
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

    /// Begins the work. To be called once.
    ///
    /// - Parameter taskExecutor: Runs the work; nil is Swift's own executor.
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
            // What comes late is about nothing any more.
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

/// What a task tells. The last one is `finished`, and comes once.
public enum ImageTaskEvent: Sendable {
    /// How far the download is.
    case progress(DownloadProgress)
    /// A picture of what has come, when the request wants them.
    case preview(ImagePreview)
    /// What the caches have, when the request wants to show that first.
    case cached(ImageResponse)
    /// The image, or ``PipelineError`` or `CancellationError`.
    case finished(Result<ImageResponse, any Error>)
}

extension ImageTaskEvent {
    /// Whether both tell the same kind of thing, so that the later one takes the place of the earlier.
    func isSameKind(as other: ImageTaskEvent) -> Bool {
        switch (self, other) {
        case (.progress, .progress), (.preview, .preview), (.cached, .cached), (.finished, .finished): true
        default: false
        }
    }
}

/// The place where callbacks run.
public enum CallbackExecutor: Sendable {
    /// The thread where the event happens: the work must not block.
    case immediate
    /// The main actor.
    case mainActor
    /// A function that runs each piece of work, at once or later, and never twice: for instance on a queue of the app, or
    /// in the loop of its user interface. Pieces of work may come from several threads; the pipeline passes no second
    /// piece for a task before the first has run.
    case custom(@Sendable (_ work: @escaping @Sendable () -> Void) -> Void)

    func run(_ work: @escaping @Sendable () -> Void) {
        switch self {
        case .immediate: work()
        case .mainActor: Task { @MainActor in work() }
        case .custom(let run): run(work)
        }
    }
}

/// Passes events on through an executor, in order, one batch at a time.
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
            // Another thread may have been about to tell of a preview.
            guard !state.hasFinished else { return false }
            if case .finished = event { state.hasFinished = true }
            // Of a kind that only counts when it is new, the last one that waits will do.
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
