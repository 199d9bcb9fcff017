import Dispatch

/// Runs blocking work (files, C decoders) on a fixed number of threads of its own, never on the cooperative pool.
///
/// At most `width` pieces of work run at once; the rest wait, the more urgent first, equals in the order they came.
/// Each lane is one serial dispatch queue, which always gets a thread: a global queue grows slowly when its threads
/// block, and a hop through threads and semaphores of our own costs about ten times as much as one through dispatch.
/// That is why this module imports Dispatch beside the standard library.
///
/// With a task executor there are no threads: each lane is a task of that executor. A test then decides when blocking
/// work runs.
package final class BlockingExecutor: Sendable {
    /// Runs the lanes; nil if they are queues.
    package let taskExecutor: (any TaskExecutor)?
    private let lanes: [DispatchQueue]
    private let state: Locked<JobQueue>
    private let order = ResumptionOrder()

    /// - Parameters:
    ///   - name: Label of the threads, for debuggers.
    ///   - width: Most pieces of work that run at once; values below 1 count as 1.
    ///   - taskExecutor: Runs the work in place of threads. Default: nil, threads.
    package init(name: String, width: Int, taskExecutor: (any TaskExecutor)? = nil) {
        let width = max(1, width)
        self.taskExecutor = taskExecutor
        lanes = taskExecutor == nil ? (0..<width).map { DispatchQueue(label: "\(name).\($0)") } : []
        state = Locked(JobQueue(lanes: width))
    }

    /// Runs `work` on one of the threads and returns what it returns.
    ///
    /// - Throws: What `work` throws, or `CancellationError` when the task is cancelled while the work still waits for
    ///   a thread. Work that has begun runs to its end.
    package func run<Value: Sendable>(
        priority: Int = 0,
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
    package func run<Value: Sendable>(
        priority: AdjustablePriority,
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
        _ id: Int, _ priority: @Sendable () -> Int, goesFirst: Bool = false,
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
                if let lane { wake(lane) }
                // A cancellation before `submit` found nothing to remove; look again now that there is something.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func wake(_ lane: Int) {
        if let taskExecutor {
            Task(executorPreference: taskExecutor) { self.drain(lane) }
        } else {
            lanes[lane].async { self.drain(lane) }
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

/// One piece of waiting work of a ``BlockingExecutor``. Exactly one of the two closures is called, once.
private struct Job: Sendable {
    var id: Int
    var run: @Sendable () -> Void
    var cancel: @Sendable () -> Void
}

/// Decides which job runs next on which lane. Decides only: the executor acts outside its lock.
private struct JobQueue: Sendable {
    private var waiting = WaiterQueue<Job>()
    private var idleLanes: [Int]
    private var lastID = 0

    init(lanes: Int) {
        idleLanes = Array((0..<lanes).reversed())
    }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    /// Adds a job and returns the lane that has to be woken for it, if one is idle.
    mutating func submit(_ job: Job, priority: Int, atHead: Bool) -> Int? {
        waiting.add(job.id, job, priority: priority, atHead: atHead)
        return idleLanes.popLast()
    }

    /// Returns the most urgent job, or marks the lane idle when there is none.
    mutating func next(for lane: Int) -> Job? {
        if let first = waiting.popFirst() { return first.element }
        idleLanes.append(lane)
        return nil
    }

    /// Gives a job that still waits another priority.
    mutating func setPriority(_ priority: Int, of id: Int) { waiting.move(id, to: priority) }

    /// Removes a job that still waits; nil when it has begun, ended, or was never submitted.
    mutating func remove(_ id: Int) -> Job? { waiting.remove(id) }
}
