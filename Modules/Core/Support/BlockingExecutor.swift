import Dispatch

/// Runs blocking work (files, C decoders) on a fixed number of threads of its own, never on the cooperative pool.
///
/// At most `width` pieces of work run at once; the rest wait, the more urgent first, equals in the order they came.
/// Each lane is one serial dispatch queue, which always gets a thread: a global queue grows slowly when its threads
/// block, and a hop through threads and semaphores of our own costs about ten times as much as one through dispatch.
/// That is why Core imports Dispatch beside the standard library.
public final class BlockingExecutor: Sendable {
    private let lanes: [DispatchQueue]
    private let state: Locked<JobQueue>
    private let order = ResumptionOrder()

    /// - Parameters:
    ///   - name: Label of the threads, for debuggers.
    ///   - width: Most pieces of work that run at once; values below 1 count as 1.
    public init(name: String, width: Int) {
        let width = max(1, width)
        lanes = (0..<width).map { DispatchQueue(label: "\(name).\($0)") }
        state = Locked(JobQueue(lanes: width))
    }

    /// Runs `work` on one of the threads and returns what it returns.
    ///
    /// - Throws: What `work` throws, or `CancellationError` when the task is cancelled while the work still waits for
    ///   a thread. Work that has begun runs to its end.
    public func run<Value: Sendable>(
        priority: LoadPriority = .normal,
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await run(state.withLock { $0.makeID() }, { priority }, work)
    }

    /// As ``run(priority:_:)``, for work whose priority may change while it waits.
    ///
    /// - Parameters:
    ///   - priority: How urgent it is now.
    ///   - goesFirst: Whether it goes before those of its priority that wait already: for work that ends something, and
    ///     frees what it holds. Default: no.
    ///   - work: Runs once, on one of the threads.
    /// - Throws: As ``run(priority:_:)``.
    public func run<Value: Sendable>(
        priority: LivePriority,
        goesFirst: Bool = false,
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let id = state.withLock { $0.makeID() }
        return try await priority.observing {
            self.state.withLock { $0.setPriority(priority.value, of: id) }
        } _: {
            try await run(id, { priority.value }, goesFirst: goesFirst, work)
        }
    }

    private func run<Value: Sendable>(
        _ id: Int, _ priority: @Sendable () -> LoadPriority, goesFirst: Bool = false,
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        // An idle lane would take the work before the cancellation could take it back.
        try Task.checkCancellation()
        defer { order.didResume() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let job = Job(
                    id: id,
                    run: {
                        let outcome = Result { try work() }
                        self.order.willResume()
                        continuation.resume(with: outcome)
                    },
                    cancel: { continuation.resume(throwing: CancellationError()) })
                let lane = state.withLock { $0.submit(job, priority: priority(), atHead: goesFirst) }
                if let lane { lanes[lane].async { self.drain(lane) } }
                // A cancellation before `submit` found nothing to remove; look again now that there is something.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func cancel(_ id: Int) {
        let job = state.withLock { $0.remove(id) }
        job?.cancel()
    }

    private func drain(_ lane: Int) {
        while let job = state.withLock({ $0.next(for: lane) }) {
            job.run()
        }
    }
}
