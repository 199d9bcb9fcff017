import Dispatch

/// An executor that runs blocking work (files, C decoders) on a limited number of threads, never on Swift's cooperative
/// pool.
///
/// At most `maxConcurrent` jobs run at the same time. The others wait, ordered by priority and, within a priority, by
/// arrival, except that groups of jobs take turns (``TurnQueue``). The executor has one lane for each concurrent job. A
/// lane is a serial dispatch queue, which always gets a thread. A global queue adds threads slowly when its threads
/// block, and a thread switch with dedicated threads and semaphores takes about ten times as long as with Dispatch. For
/// these reasons, the module imports Dispatch in addition to the standard library.
///
/// With a task executor, there are no threads. Each lane is a task on that executor, so a test can decide when blocking
/// work runs.
package final class BlockingExecutor: Sendable {
    /// The executor of the lanes; nil if the lanes are dispatch queues.
    package let taskExecutor: (any TaskExecutor)?
    private let lanes: [DispatchQueue]
    private let state: Locked<JobQueue>
    private let order = ResumptionOrder()
    /// Whether the task that waits for the work of the current thread was canceled; nil outside of work.
    @TaskLocal private static var cancellation: Cancellation?

    /// Whether the task that waits for the work of the current thread, or the current task, was canceled. Work that
    /// waits for other work checks it, because no one else can end the wait.
    package static var isWorkCanceled: Bool { Task.isCancelled || cancellation?.isRequested == true }

    /// Creates an executor.
    ///
    /// - Parameters:
    ///   - name: The label of the dispatch queues, for debuggers. The number of the lane is appended.
    ///   - maxConcurrent: The maximum number of jobs that run at the same time. Values below 1 count as 1.
    ///   - maxConcurrentPerGroup: The maximum number of jobs of one group that run at the same time. Values below 1
    ///     count as 1. If it is below `maxConcurrent`, the last idle lane is for groups without running jobs, and for
    ///     jobs without a group. Default: no limit.
    ///   - taskExecutor: The executor that runs the work in place of threads. Default: nil, threads.
    package init(
        name: String, maxConcurrent: Int, maxConcurrentPerGroup: Int = .max, taskExecutor: (any TaskExecutor)? = nil
    ) {
        let laneCount = max(1, maxConcurrent)
        self.taskExecutor = taskExecutor
        lanes = taskExecutor == nil ? (0..<laneCount).map { DispatchQueue(label: "\(name).\($0)") } : []
        state = Locked(JobQueue(lanes: laneCount, groupLimit: maxConcurrentPerGroup))
    }

    /// The number of jobs that wait for a lane.
    package var waitingCount: Int { state.withLock { $0.waitingCount } }

    /// Runs `work` on one of the threads and returns its result. The default priority is 0.
    ///
    /// - Throws: The error of `work`, or `CancellationError` if the task is canceled before the work starts. Work that
    ///   has started runs to its end, which it may hasten if ``isWorkCanceled``.
    package func run<Value: Sendable>(
        priority: Int = 0,
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await run(state.withLock { $0.makeID() }, { priority }, work)
    }

    /// Runs `work` on one of the threads and returns its result. The priority may change while the work waits.
    ///
    /// - Parameters:
    ///   - priority: The priority of the work.
    ///   - group: The group of jobs that takes turns with others. Default: nil, none.
    ///   - goesFirst: Whether the work runs before waiting work of the same priority and group. Use it for work after
    ///     which resources are released, such as the processing of a decoded image. Default: false.
    ///   - work: The work. It runs at most once, on one of the threads.
    /// - Throws: The error of `work`, or `CancellationError` if the task is canceled before the work starts.
    package func run<Value: Sendable>(
        priority: AdjustablePriority,
        group: String? = nil,
        goesFirst: Bool = false,
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let id = state.withLock { $0.makeID() }
        return try await priority.observing {
            self.state.withLock { $0.setPriority(priority.value, of: id) }
        } _: {
            try await run(id, { priority.value }, group: group, goesFirst: goesFirst, work)
        }
    }

    private func run<Value: Sendable>(
        _ id: Int, _ priority: @Sendable () -> Int, group: String? = nil, goesFirst: Bool = false,
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        // Without this check, an idle lane could start the work before the cancellation removes it.
        try Task.checkCancellation()
        defer { order.didResume() }
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let job = Job(
                    id: id, group: group,
                    run: {
                        let outcome = Result { try Self.$cancellation.withValue(cancellation) { try work() } }
                        self.order.willResume()
                        continuation.resume(with: outcome)
                    },
                    cancel: { continuation.resume(throwing: CancellationError()) })
                let lane = state.withLock { $0.submit(job, priority: priority(), atHead: goesFirst) }
                if let lane { wake(lane) }
                // A cancellation before `submit` found no job to remove.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancellation.request()
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
        var endedGroup: String?
        while let job = state.withLock({ $0.next(for: lane, afterJobOf: endedGroup) }) {
            endedGroup = job.group
            job.run()
        }
    }
}

/// The cancellation of work that may have started.
private final class Cancellation: Sendable {
    private let state = Locked(false)

    var isRequested: Bool { state.withLock { $0 } }

    func request() { state.withLock { $0 = true } }
}

/// A waiting job of a ``BlockingExecutor``. Exactly one of its two closures is called, once.
private struct Job: Sendable {
    var id: Int
    /// The group of jobs that takes turns with others; nil for none.
    var group: String?
    var run: @Sendable () -> Void
    var cancel: @Sendable () -> Void
}

/// The state that decides which job runs next on which lane. It only makes decisions; the executor acts on them outside
/// its lock.
private struct JobQueue: Sendable {
    private var waiting: TurnQueue<Job>
    private var idleLanes: [Int]
    /// Whether the last idle lane is only for groups without running jobs.
    private let sparesLane: Bool
    private var lastID = 0

    init(lanes: Int, groupLimit: Int) {
        waiting = TurnQueue(groupLimit: groupLimit)
        sparesLane = groupLimit < lanes
        idleLanes = Array((0..<lanes).reversed())
    }

    var waitingCount: Int { waiting.count }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    /// Adds a job. Returns an idle lane, which the caller must wake; nil if no lane is idle.
    mutating func submit(_ job: Job, priority: Int, atHead: Bool) -> Int? {
        waiting.add(job.id, job, priority: priority, group: job.group, atHead: atHead)
        return idleLanes.popLast()
    }

    /// Records the end of the lane's last job, if it was one of a group. Removes and returns the job whose turn it is.
    /// Marks the lane idle and returns nil if there is none. If this was the last idle lane, jobs of groups with
    /// running jobs do not get it, and those of other groups do whatever their priority, because nothing would wake the
    /// lane for them later.
    mutating func next(for lane: Int, afterJobOf group: String?) -> Job? {
        waiting.end(group)
        if let job = waiting.popFirst(skipsRunningGroups: sparesLane && idleLanes.isEmpty) { return job }
        idleLanes.append(lane)
        return nil
    }

    /// Changes the priority of a waiting job.
    mutating func setPriority(_ priority: Int, of id: Int) { waiting.move(id, to: priority) }

    /// Removes a waiting job. Returns nil if the job has started or ended, or was never submitted.
    mutating func remove(_ id: Int) -> Job? { waiting.remove(id) }
}
