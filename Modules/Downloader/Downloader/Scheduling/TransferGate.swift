import AlcedoCore
import AlcedoRuntime

/// The slots of transfers. A ``DownloadSchedule`` decides which transfer begins next, and the tasks of the transfers
/// wait here until it is their turn.
///
/// A transfer keeps its slot until its task has ended, also if it has no waiters left, so that the limit is never
/// exceeded.
final class TransferGate: Sendable {
    private struct Wait: Sendable {
        var continuation: CheckedContinuation<Void, any Error>
        /// Whether the transfer has begun before.
        var isRetry: Bool
    }

    private struct State: Sendable {
        var servers: DownloadSchedule
        var files = DownloadSchedule(
            limit: TransferGate.fileLimit, hostLimit: TransferGate.fileLimit, order: .firstInFirstOut, rate: nil)
        /// The transfers that may begin and whose tasks do not know it yet.
        var begun: Set<Int> = []
        var waiting: [Int: Wait] = [:]
        /// Whether the downloader has been released.
        var isClosed = false
        var hasTimer = false
        var timer: Task<Void, Never>?

        /// Begins transfers. Returns the continuations to resume and, if the rate delays other transfers, the time
        /// after which to call this method again.
        mutating func begin(at now: Duration) -> (begun: [CheckedContinuation<Void, any Error>], delay: Duration?) {
            var continuations: [CheckedContinuation<Void, any Error>] = []
            func begin(_ id: Int) {
                if let wait = waiting.removeValue(forKey: id) {
                    continuations.append(wait.continuation)
                } else if !isClosed {
                    begun.insert(id)
                }
            }
            while case .begin(let id) = files.next(at: now) { begin(id) }
            while true {
                switch servers.next(at: now) {
                case .begin(let id): begin(id)
                case .wait(let delay): return (continuations, delay)
                case .nothing: return (continuations, nil)
                }
            }
        }
    }

    /// The maximum number of concurrent transfers of local files. It is small, so that the first files are read quickly
    /// to their end.
    private static var fileLimit: Int { 4 }

    private let state: Locked<State>
    private let clock: any TimeSource
    private let taskExecutor: (any TaskExecutor)?

    init(_ configuration: DownloaderConfiguration, clock: any TimeSource) {
        state = Locked(
            State(
                servers: DownloadSchedule(
                    limit: configuration.maxConcurrentDownloads,
                    hostLimit: configuration.maxConcurrentDownloadsPerHost, order: configuration.order,
                    rate: configuration.rate)))
        self.clock = clock
        taskExecutor = configuration.taskExecutor
    }

    /// The number of transfers from servers that have a slot, and the number of those that wait for one or pause before
    /// a retry.
    var counts: (running: Int, waiting: Int) { state.withLock { ($0.servers.runningCount, $0.servers.waitingCount) } }

    /// The number of transfers from servers that pause before a retry and do not wait for a slot yet.
    var backingOffCount: Int { state.withLock { $0.servers.backingOffCount } }

    /// Whether transfers from servers do not begin. Running ones continue, but their retries wait.
    var isPaused: Bool {
        get { state.withLock { $0.servers.isPaused } }
        set { update { $0.servers.isPaused = newValue } }
    }

    /// Adds a transfer, whose task then calls ``withSlot(_:_:)``. Its place follows the priority.
    ///
    /// - Parameters:
    ///   - id: The number of the transfer, which must be unique.
    ///   - queue: The queue in which the transfer waits.
    ///   - priority: The priority of the transfer.
    func add(_ id: Int, to queue: TransferQueue, _ priority: PriorityHandle) {
        if case .unlimited = queue { return state.withLock { _ = $0.begun.insert(id) } }
        update { state in
            switch queue {
            case .server(let host): state.servers.add(id, host: host, priority: priority.value)
            case .files: state.files.add(id, host: "", priority: priority.value)
            case .unlimited: break
            }
        }
        guard !state.withLock({ $0.begun.contains(id) }) else { return }
        priority.level.observe { [weak self] level in self?.reprioritize(id, PriorityHandle(level: level)) }
        reprioritize(id, priority)
    }

    /// Moves a waiting transfer to the place of its priority.
    private func reprioritize(_ id: Int, _ priority: PriorityHandle) {
        update { state in
            // The priority is read under the lock, so that the last caller applies the latest value.
            state.servers.setPriority(priority.value, of: id)
            state.files.setPriority(priority.value, of: id)
        }
    }

    /// Runs the body of a transfer that was added, when it has a slot, and releases the slot. Throws
    /// `CancellationError` if the task is canceled before.
    func withSlot<Value: Sendable>(_ id: Int, _ body: () async throws -> Value) async throws -> Value {
        defer {
            update { state in
                state.servers.end(id)
                state.files.end(id)
            }
        }
        // No cancellation handler is around the body: it would make every suspension of the body slower.
        try await waitForSlot(id)
        return try await body()
    }

    /// Releases the slot of a running transfer, pauses, waits for the network, then waits for a slot again, with the
    /// priority of then. Without a network, the transfer has no slot until ``regainSlot(_:_:)``. Throws
    /// `CancellationError` if the task is canceled.
    ///
    /// - Parameters:
    ///   - id: The number of the transfer.
    ///   - pause: The time to pause.
    ///   - network: The wait for the network. Default: nil, for none.
    ///   - priority: The priority of the transfer.
    /// - Returns: Whether the network is available; true without a wait.
    @discardableResult
    func backOff(
        _ id: Int, for pause: Duration, until network: NetworkWait? = nil, _ priority: PriorityHandle
    ) async throws -> Bool {
        update { $0.servers.backOff(id) }
        // Without a network, the transfer usually ends, and must not wait for the transfers that run.
        let hasNetwork = try await withTaskCancellationHandler {
            try await clock.sleep(for: pause)
            return try await network?.run() ?? true
        } onCancel: {
            endWait(id)
        }
        guard hasNetwork else { return false }
        try await waitForSlot(id, retrying: priority)
        return true
    }

    /// Waits for a slot if ``backOff(_:for:until:_:)`` has returned without one. Throws `CancellationError` if the task
    /// is canceled.
    func regainSlot(_ id: Int, _ priority: PriorityHandle) async throws {
        guard state.withLock({ $0.servers.isBackingOff(id) }) else { return }
        try await waitForSlot(id, retrying: priority)
    }

    /// Ends the waits of transfers that have not begun, and the pause.
    func close() {
        var waits: [Wait] = []
        update { state in
            (state.isClosed, state.servers.isPaused) = (true, false)
            waits = state.waiting.values.filter { !$0.isRetry }
            state.waiting = state.waiting.filter { $0.value.isRetry }
        }
        for wait in waits { wait.continuation.resume(throwing: CancellationError()) }
    }

    /// Waits until a transfer may begin. With a priority, it returns to the queue first. Throws `CancellationError` if
    /// the task is canceled, and takes the transfer out of the queue.
    private func waitForSlot(_ id: Int, retrying priority: PriorityHandle? = nil) async throws {
        // Most transfers need not wait.
        let mayBegin = state.withLock { state in
            priority == nil ? state.begun.remove(id) != nil : !state.servers.contains(id)
        }
        if !mayBegin {
            let observer = priority?.level.observe { [weak self] in self?.reprioritize(id, PriorityHandle(level: $0)) }
            defer { if let observer { priority?.level.removeObserver(observer) } }
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    update { state in
                        if state.begun.remove(id) != nil {
                            continuation.resume()
                        } else if state.isClosed, priority == nil {
                            continuation.resume(throwing: CancellationError())
                        } else {
                            state.waiting[id] = Wait(continuation: continuation, isRetry: priority != nil)
                            if let priority { state.servers.requeue(id, priority: priority.value) }
                        }
                    }
                    // A cancellation that came before the continuation was stored had nothing to resume.
                    if Task.isCancelled { endWait(id) }
                }
            } onCancel: {
                endWait(id)
            }
        }
        try Task.checkCancellation()
    }

    /// Takes a transfer whose task is canceled out of the queue. A running transfer has a slot until its body ends.
    private func endWait(_ id: Int) {
        var wait: Wait?
        update { state in
            wait = state.waiting.removeValue(forKey: id)
            state.servers.abandon(id)
            state.files.abandon(id)
        }
        wait?.continuation.resume(throwing: CancellationError())
    }

    /// Changes the state, then begins the transfers that the schedules select. If the rate limit delays others, a timer
    /// calls this method again; one timer serves all.
    private func update(_ change: (inout State) -> Void) {
        let now = clock.uptime
        let (begun, delay, timer) = state.withLock { state in
            change(&state)
            let (begun, delay) = state.begin(at: now)
            return (begun, delay, state.servers.waitingCount == 0 ? state.timer : nil)
        }
        for continuation in begun { continuation.resume() }
        timer?.cancel()
        guard let delay else { return }
        let hasTimer = state.withLock { state in
            defer { state.hasTimer = true }
            return state.hasTimer
        }
        guard !hasTimer else { return }
        let task = Task(executorPreference: taskExecutor) { [self] in
            // A timer for which nothing waits is canceled, and `sleep` then throws early.
            try? await clock.sleep(for: delay)
            update { ($0.hasTimer, $0.timer) = (false, nil) }
        }
        let isNeeded = state.withLock { state in
            if state.hasTimer { state.timer = task }
            return state.servers.waitingCount > 0
        }
        if !isNeeded { task.cancel() }
    }
}
