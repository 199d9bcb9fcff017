public import AlcedoCore
import AlcedoRuntime
import Synchronization

/// A handle of a load, which reports its progress, cancels it and changes its priority.
///
/// ```swift
/// let task = pipeline.imageTask(with: request)
/// for await progress in task.progress { print(progress.received, progress.expected ?? 0) }
/// let image = try await task.image
/// ```
///
/// The load continues when the task is released. It is canceled by ``cancel()``, and by canceling a Swift task that
/// awaits ``image`` or ``response``.
public final class ImageTask: Sendable, Identifiable {
    /// An event of the load. `finished` is the last one and occurs once.
    package enum Event: Sendable {
        case update(LoadUpdate)
        case finished(Result<ImageResponse, any Error>)
    }

    /// A function that runs each closure it receives once, immediately or later. It receives the next closure after the
    /// previous one has run.
    package typealias CallbackExecutor = @Sendable (_ work: @escaping @Sendable () -> Void) -> Void

    private struct State: Sendable {
        var outcome: Result<ImageResponse, any Error>?
        /// The latest progress and preview, for sequences that begin later.
        var progress: DownloadProgress?
        var preview: ImagePreview?
        var listeners: [Int: @Sendable (Event) -> Void] = [:]
        var lastID = 0
        var work: Task<ImageResponse, any Error>?
        var isCancelled = false
    }

    private static let lastID = Atomic<UInt64>(0)

    /// The number of the task, which no other task of the process has.
    public let id = ImageTask.lastID.add(1, ordering: .relaxed).newValue
    /// The request of the load.
    public let request: ImageRequest
    private let priorityHandle: PriorityHandle
    private let state = Locked(State())

    /// Creates a task, which ``start(on:_:)`` starts. `onEvent` receives the task's events through `executor`.
    init(_ request: ImageRequest, on executor: @escaping CallbackExecutor, onEvent: (@Sendable (Event) -> Void)?) {
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

    /// The progress of the download as a sequence that ends with the load, also after an error.
    ///
    /// Each read of this property returns a new sequence. It begins with the latest progress, and skips progress that
    /// arrives faster than it is consumed. It is empty when the image needs no download, and after the load has ended.
    /// Several sequences can be iterated concurrently.
    public var progress: AsyncStream<DownloadProgress> {
        stream { update in if case .progress(let progress) = update { progress } else { nil } }
    }

    /// The previews of the image as a sequence that ends with the load, also after an error.
    ///
    /// Each read of this property returns a new sequence. It begins with the latest preview, and skips previews that
    /// arrive faster than they are consumed. It is empty after the load has ended. Previews are produced when the
    /// request's ``/AlcedoCore/ImageRequest/deliversPreviews`` is true. When requests share a load, the value of the
    /// first request applies.
    public var previews: AsyncStream<ImagePreview> {
        stream { update in if case .preview(let preview) = update { preview } else { nil } }
    }

    /// Whether the task was canceled before the load ended, by ``cancel()`` or by a canceled Swift task that awaited
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
    /// - Throws: ``PipelineError``, an interceptor's own error, or `CancellationError` when this task was canceled.
    public var image: DecodedImage {
        get async throws { try await response.image }
    }

    /// The loaded image with the layer that had it. Waits until the load has ended.
    ///
    /// Canceling the Swift task that waits here also cancels this image task, as ``cancel()`` does. All other Swift
    /// tasks that await it then receive `CancellationError`. To wait without canceling the image task, iterate
    /// ``progress``, which ends with the load, and then read this property.
    ///
    /// - Throws: ``PipelineError``, an interceptor's own error, or `CancellationError` when this task was canceled.
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

    /// Returns a sequence of the values that `select` makes from updates. The sequence buffers only the latest value.
    /// Updates for which `select` returns nil are skipped.
    private func stream<Element: Sendable>(
        _ select: @escaping @Sendable (LoadUpdate) -> Element?
    ) -> AsyncStream<Element> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let listener: @Sendable (Event) -> Void = { event in
                switch event {
                case .update(let update): if let element = select(update) { continuation.yield(element) }
                case .finished: continuation.finish()
                }
            }
            let id = state.withLock { state -> Int? in
                guard state.outcome == nil else { return nil }
                if let progress = state.progress { listener(.update(.progress(progress))) }
                if let preview = state.preview { listener(.update(.preview(preview))) }
                state.lastID += 1
                state.listeners[state.lastID] = listener
                return state.lastID
            }
            guard let id else { return continuation.finish() }
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
        let listeners = state.withLock { state -> [@Sendable (Event) -> Void] in
            // Updates after the end are dropped, because listeners have received `finished`.
            guard state.outcome == nil else { return [] }
            switch update {
            case .progress(let progress): state.progress = progress
            case .preview(let preview): state.preview = preview
            case .cached: break
            }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener(.update(update)) }
    }

    private func end(_ outcome: Result<ImageResponse, any Error>) {
        let listeners = state.withLock { state in
            state.outcome = outcome
            (state.progress, state.preview) = (nil, nil)
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener(.finished(outcome)) }
    }

    private func stopListening(_ id: Int) { state.withLock { _ = $0.listeners.removeValue(forKey: id) } }
}

/// A queue that passes events to a handler through an executor, in order, one batch at a time.
private final class EventQueue: Sendable {
    private struct State: Sendable {
        var pending: [ImageTask.Event] = []
        var isScheduled = false
        var hasFinished = false
    }

    private let executor: ImageTask.CallbackExecutor
    private let handler: @Sendable (ImageTask.Event) -> Void
    private let state = Locked(State())

    init(_ executor: @escaping ImageTask.CallbackExecutor, _ handler: @escaping @Sendable (ImageTask.Event) -> Void) {
        self.executor = executor
        self.handler = handler
    }

    func add(_ event: ImageTask.Event) {
        let mustSchedule = state.withLock { state in
            // Another thread may report a preview after `finished`.
            guard !state.hasFinished else { return false }
            if case .finished = event { state.hasFinished = true }
            // Only the latest of consecutive progress updates or previews is useful to the handler.
            switch (event, state.pending.last) {
            case (.update(.progress), .update(.progress)?), (.update(.preview), .update(.preview)?):
                state.pending.removeLast()
            default: break
            }
            state.pending.append(event)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if mustSchedule { executor { self.deliver() } }
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
