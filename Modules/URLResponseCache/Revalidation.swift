import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime

/// What came of asking whether a stored answer holds, for everyone who asked at the same time.
enum Revalidation: Sendable {
    /// It holds, and has a new head, by this 304.
    case confirmed(StoredResponse, by: HTTPResponse, isStored: Bool)
    /// Something else was answered, which one of those who asked may have.
    case answered(Claim)

    /// Gives a value to the first who asks for it.
    final class Claim: Sendable {
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

/// Work that nobody waits for: once for each key at a time, no more than a number at once, and each for a limited time.
/// The rest waits its turn, and what finds a full line is not done.
final class BackgroundWork: Sendable {
    typealias Work = @Sendable () async -> Void

    private struct Job: Sendable {
        var key: ImageKey
        var work: Work
    }

    private struct State {
        /// Of what is under way or waits.
        var keys: Set<ImageKey> = []
        var running = 0
        var line = WaiterQueue<Job>()
        var count = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let limit: Int
    private let lineLimit: Int
    private let timeLimit: Duration
    private let clock: any TimeSource
    private let taskExecutor: (any TaskExecutor)?
    private let state = Locked(State())

    /// - Parameters:
    ///   - limit: Most at once; with 0 nothing is ever done.
    ///   - lineLimit: Most that wait.
    ///   - timeLimit: The maximum duration of one work, from its start; it is cancelled then.
    ///   - clock: The clock that measures it.
    ///   - taskExecutor: Runs the work. Default: nil, Swift's own executor.
    init(
        limit: Int, lineLimit: Int = 1_000, timeLimit: Duration, clock: any TimeSource,
        taskExecutor: (any TaskExecutor)? = nil
    ) {
        self.limit = limit
        self.lineLimit = lineLimit
        self.timeLimit = timeLimit
        self.clock = clock
        self.taskExecutor = taskExecutor
    }

    func start(_ key: ImageKey, _ work: @escaping Work) {
        let job = Job(key: key, work: work)
        let isStarted = state.withLock { state in
            guard limit > 0, state.running < limit || state.line.count < lineLimit, state.keys.insert(key).inserted
            else { return false }
            guard state.running < limit else {
                state.count += 1
                state.line.add(state.count, job, priority: .normal)
                return false
            }
            state.running += 1
            return true
        }
        guard isStarted else { return }
        Task(executorPreference: taskExecutor) {
            var next: Job? = job
            while let job = next {
                await self.run(job.work)
                next = self.end(job.key)
            }
        }
    }

    /// Returns when the work has ended, which is cancelled at its time limit.
    private func run(_ work: @escaping Work) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask(operation: work)
            group.addTask { [clock, timeLimit] in try? await clock.sleep(for: timeLimit) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Returns when nothing is under way.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if !state.keys.isEmpty { state.waiters.append(continuation) }
                return state.keys.isEmpty
            }
            if isIdle { continuation.resume() }
        }
    }

    /// Returns what goes on in the place of the one that has ended.
    private func end(_ key: ImageKey) -> Job? {
        let (next, waiters) = state.withLock { state in
            state.keys.remove(key)
            let next = state.line.popFirst()?.element
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
