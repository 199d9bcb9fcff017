public import AlcedoCore

/// A load under way: tells how it goes, can become more or less urgent, and can be cancelled.
///
/// It goes on when nobody keeps it.
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

    /// What is loaded.
    public let request: ImageRequest
    private let livePriority: LivePriority
    private let state = Locked(State())

    init(_ request: ImageRequest, listener: @escaping @Sendable (ImageTaskEvent) -> Void) {
        self.request = request
        livePriority = LivePriority(request.priority)
        state.withLock { $0.listeners[0] = listener }
    }

    /// How urgent the load is for this task. The work is as urgent as the most urgent task that waits for it.
    public var priority: LoadPriority {
        get { livePriority.value }
        set { livePriority.set(newValue) }
    }

    /// How far the bytes have come.
    public var progress: DownloadProgress { state.withLock { $0.progress } }

    /// Whether ``cancel()`` was called before the load ended.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Leaves the load, at once; it ends when nobody else waits for it. Nothing happens when it has ended.
    public func cancel() {
        let work = state.withLock { state -> Task<ImageResponse, any Error>? in
            guard state.outcome == nil else { return nil }
            state.isCancelled = true
            return state.work
        }
        work?.cancel()
    }

    /// The image, when it is there. Cancelling the task that waits does not cancel this one.
    ///
    /// - Throws: ``PipelineError``, an interceptor's own error, or `CancellationError` when this task was cancelled.
    public var response: ImageResponse {
        get async throws {
            guard let work = state.withLock({ $0.work }) else { throw CancellationError() }
            return try await work.value
        }
    }

    /// What happens from now on, behind the last of each kind that has happened; of a task that has ended, its end. When
    /// nobody takes them, the oldest events are dropped.
    public var events: AsyncStream<ImageTaskEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
            let id = state.withLock { state -> Int? in
                guard let outcome = state.outcome else {
                    for event in state.past { continuation.yield(event) }
                    state.lastID += 1
                    state.listeners[state.lastID] = { event in
                        continuation.yield(event)
                        if case .finished = event { continuation.finish() }
                    }
                    return state.lastID
                }
                continuation.yield(.finished(outcome))
                continuation.finish()
                return nil
            }
            guard let id else { return }
            continuation.onTermination = { [weak self] _ in self?.stopListening(id) }
        }
    }

    /// Begins the work. To be called once.
    func start(
        _ body:
            @escaping @Sendable (
                _ priority: LivePriority, _ update: @escaping @Sendable (LoadUpdate) -> Void
            ) async throws -> ImageResponse
    ) {
        let work = Task {
            do {
                let response = try await body(livePriority) { self.note($0) }
                end(.success(response))
                return response
            } catch {
                end(.failure(error))
                throw error
            }
        }
        let isCancelled = state.withLock { state in
            state.work = work
            return state.isCancelled
        }
        if isCancelled { work.cancel() }
    }

    private func note(_ update: LoadUpdate) {
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
