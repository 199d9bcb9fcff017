import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime

/// The outcome of a validation of a stored response, for all requests that share it.
enum Revalidation: Sendable {
    /// The stored response is current, and has a new head, by this 304.
    case confirmed(StoredResponse, by: HTTPResponse, isStored: Bool)
    /// The server sent another response, whose body only one of the requests can read.
    case replaced(SingleUseResponse)

    /// A response for the first request that takes it.
    final class SingleUseResponse: Sendable {
        private let response: Locked<HTTPResponse?>

        init(_ response: HTTPResponse) { self.response = Locked(response) }

        /// - Parameter isConditional: Whether the caller has a copy of its own. Who has none gets no 304.
        func take(isConditional: Bool) -> HTTPResponse? {
            response.withLock { response in
                guard isConditional || response?.head.status != 304 else { return nil }
                return response.take()
            }
        }
    }
}

/// Revalidations that no request waits for: one for each key at a time, a limited number at once, each for a limited
/// time. Further ones wait in a queue, and are not done when the queue is full.
final class BackgroundRevalidations: Sendable {
    typealias Operation = @Sendable () async -> Void

    private struct Job: Sendable {
        var key: ImageKey
        var operation: Operation
    }

    private struct State {
        /// The keys of the revalidations that run or wait.
        var keys: Set<ImageKey> = []
        var running = 0
        var queue = WaiterQueue<Job>()
        var lastID = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let limit: Int
    private let maximumQueueCount: Int
    private let timeLimit: Duration
    private let clock: any TimeSource
    private let taskExecutor: (any TaskExecutor)?
    private let state = Locked(State())

    /// - Parameters:
    ///   - limit: The maximum number at once; with 0 none is ever done.
    ///   - maximumQueueCount: The maximum number that wait.
    ///   - timeLimit: The maximum duration of one revalidation, from its start; it is cancelled then.
    ///   - clock: The clock that measures it.
    ///   - taskExecutor: Runs the revalidations. Default: nil, Swift's own executor.
    init(
        limit: Int, maximumQueueCount: Int = 1_000, timeLimit: Duration, clock: any TimeSource,
        taskExecutor: (any TaskExecutor)? = nil
    ) {
        self.limit = limit
        self.maximumQueueCount = maximumQueueCount
        self.timeLimit = timeLimit
        self.clock = clock
        self.taskExecutor = taskExecutor
    }

    func start(_ key: ImageKey, _ operation: @escaping Operation) {
        let job = Job(key: key, operation: operation)
        let isStarted = state.withLock { state in
            guard limit > 0, state.running < limit || state.queue.count < maximumQueueCount,
                state.keys.insert(key).inserted
            else { return false }
            guard state.running < limit else {
                state.lastID += 1
                state.queue.add(state.lastID, job, priority: .normal)
                return false
            }
            state.running += 1
            return true
        }
        guard isStarted else { return }
        Task(executorPreference: taskExecutor) {
            var next: Job? = job
            while let job = next {
                await self.run(job.operation)
                next = self.end(job.key)
            }
        }
    }

    /// Returns when the operation has ended, which is cancelled at its time limit.
    private func run(_ operation: @escaping Operation) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask(operation: operation)
            group.addTask { [clock, timeLimit] in try? await clock.sleep(for: timeLimit) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Returns when no revalidation runs or waits.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if !state.keys.isEmpty { state.waiters.append(continuation) }
                return state.keys.isEmpty
            }
            if isIdle { continuation.resume() }
        }
    }

    /// Returns the revalidation that takes the place of the one that has ended.
    private func end(_ key: ImageKey) -> Job? {
        let (next, waiters) = state.withLock { state in
            state.keys.remove(key)
            let next = state.queue.popFirst()?.element
            if next == nil { state.running -= 1 }
            guard state.keys.isEmpty else { return (next, [CheckedContinuation<Void, Never>]()) }
            defer { state.waiters = [] }
            return (next, state.waiters)
        }
        for waiter in waiters { waiter.resume() }
        return next
    }
}

extension HTTPBody {
    /// Receives the body without keeping it, for the sake of the caches on the way. A body of more than `limit` bytes
    /// is cancelled.
    ///
    /// - Parameter declaredCount: The length that the head declares; nil when it declares none.
    /// - Throws: The transport's error, or `CancellationError`.
    func receive(limit: Int, declaredCount: Int?) async throws {
        var left = limit
        guard declaredCount ?? 0 <= left else { return cancel() }
        for try await piece in self {
            guard piece.count <= left else { return cancel() }
            left -= piece.count
        }
    }
}
