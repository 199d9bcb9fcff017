import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime

/// The outcome of a validation of a stored response, for all requests that share the validation.
enum Revalidation: Sendable {
    /// A 304 confirmed the stored response, given here with its updated head. `isStored` is whether the update is
    /// stored.
    case confirmed(StoredResponse, by: HTTPResponse, isStored: Bool)
    /// The server sent another response. Only one of the requests can read its body.
    case replaced(SingleUseResponse)

    /// A response for the first request that takes it.
    final class SingleUseResponse: Sendable {
        private let response: Locked<HTTPResponse?>

        init(_ response: HTTPResponse) { self.response = Locked(response) }

        /// Returns the response if no other request has taken it; otherwise nil.
        ///
        /// - Parameter isConditional: Whether the caller has a copy of its own. A caller without a copy cannot use a
        ///   304 and receives nil.
        func take(isConditional: Bool) -> HTTPResponse? {
            response.withLock { response in
                guard isConditional || response?.head.status != 304 else { return nil }
                return response.take()
            }
        }
    }
}

/// Revalidations that run in the background, a limited number at the same time, each for a limited time. Further
/// revalidations wait in a queue, and are dropped when the queue is full. A revalidation is also dropped if one with
/// the same key runs or waits.
final class BackgroundRevalidations: Sendable {
    typealias Operation = @Sendable () async -> Void

    private struct Job: Sendable {
        var key: ImageKey
        var operation: Operation
    }

    private struct State {
        /// The keys of the running and waiting revalidations.
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

    /// Creates a queue without revalidations.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of concurrent revalidations. With 0, none runs.
    ///   - maximumQueueCount: The maximum number of waiting revalidations. Default: 1,000.
    ///   - timeLimit: The maximum duration of one revalidation, from its start. It is then canceled.
    ///   - clock: The clock that measures the time limit.
    ///   - taskExecutor: The executor of the revalidations. Default: nil, Swift's default executor.
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

    /// Runs the operation until it ends, and cancels it at the time limit.
    private func run(_ operation: @escaping Operation) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask(operation: operation)
            group.addTask { [clock, timeLimit] in try? await clock.sleep(for: timeLimit) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Waits until no revalidation runs or waits in the queue.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if !state.keys.isEmpty { state.waiters.append(continuation) }
                return state.keys.isEmpty
            }
            if isIdle { continuation.resume() }
        }
    }

    /// Removes a revalidation that has ended, and returns the next one from the queue; nil if the queue is empty. After
    /// the last one, resumes the callers of ``wait()``.
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
    /// Reads the body to its end and discards the bytes, so that a source that copies the body for the store receives
    /// all of them. A body of more than `limit` bytes is canceled.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes to read.
    ///   - declaredCount: The length that the head declares; nil if it declares none.
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
