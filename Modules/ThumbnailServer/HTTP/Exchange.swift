import Alcedo
import AlcedoRuntime
import FoundationEssentials

/// A request that is being answered: waiting without a thread, until its answer is there or its client is not.
final class Exchange: Sendable {
    enum Outcome: Sendable {
        case response(ServerResponse)
        case disconnected
    }

    private struct State: Sendable {
        var isWaiting = false
        var task: Task<Void, Never>?
        var outcome: Outcome?
        /// What went out, and since when.
        var sent: (status: Int, byteCount: Int)?
        var sendingSince: ContinuousClock.Instant?
        var isOver = false
    }

    let number: UInt64
    let head: RequestHead
    let begin = ContinuousClock.now
    /// Goes on with the suspended request. Called once, and only for one that waits: any other may be over at any time.
    private let resume: @Sendable () -> Void
    /// Ends the connection. Called only before the request is over.
    private let close: @Sendable () -> Void
    /// Runs the work; nil is Swift's own executor.
    private let taskExecutor: (any TaskExecutor)?
    private let state = Locked(State())

    init(
        number: UInt64, head: RequestHead, close: @escaping @Sendable () -> Void,
        resume: @escaping @Sendable () -> Void, taskExecutor: (any TaskExecutor)? = nil
    ) {
        self.number = number
        self.head = head
        self.close = close
        self.resume = resume
        self.taskExecutor = taskExecutor
    }

    /// Whether an answer to it has no body, whatever there is to be sent.
    func hasNoBody(_ response: ServerResponse) -> Bool { head.isHead || response.status == 304 }

    /// To be called when the request has been suspended. Work that nobody waits for any more does not run, and is let go.
    func start(_ operation: @escaping @Sendable () async -> ServerResponse) {
        let isSettled = state.withLock { state in
            state.isWaiting = true
            return state.outcome != nil
        }
        guard !isSettled else { return resume() }
        let task = Task(executorPreference: taskExecutor) { self.settle(.response(await operation())) }
        let isLate = state.withLock { state in
            guard state.outcome == nil else { return true }
            state.task = task
            return false
        }
        if isLate { task.cancel() }
    }

    /// Ends the waiting, or what would become one. The work has nobody to work for then. Only the first time counts.
    func settle(_ outcome: Outcome) {
        let (isDue, task) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            guard state.outcome == nil else { return (false, nil) }
            state.outcome = outcome
            defer { state.task = nil }
            return (state.isWaiting, state.task)
        }
        task?.cancel()
        if isDue { resume() }
    }

    /// Nil while it waits.
    var outcome: Outcome? { state.withLock { $0.outcome } }

    func willSend(_ response: ServerResponse) {
        let count = hasNoBody(response) ? 0 : response.body.count
        state.withLock { state in
            state.sent = (response.status, count)
            state.sendingSince = .now
            // Whoever sends the body holds it.
            state.outcome = .response(ServerResponse(status: response.status))
        }
    }

    /// Ends the connection when its client has not taken the answer within `limit`.
    func closeIfSlow(_ now: ContinuousClock.Instant, limit: Duration) {
        state.withLock { state in
            guard !state.isOver, let since = state.sendingSince, now - since > limit else { return }
            // Under the lock: when the request is over, the socket may be another connection's.
            close()
        }
    }

    /// The request is over. Returns what was sent of an answer, or was to be.
    func end() -> (status: Int, byteCount: Int)? {
        state.withLock { state in
            state.isOver = true
            return state.sent
        }
    }
}

/// All requests that are not over.
final class ExchangeTable: Sendable {
    private struct State: Sendable {
        var exchanges: [UInt64: Exchange] = [:]
        var lastNumber: UInt64 = 0
    }

    private let state = Locked(State())

    /// A number that no other request has, and that is not 0.
    func makeNumber() -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    subscript(number: UInt64) -> Exchange? { state.withLock { $0.exchanges[number] } }

    var all: [Exchange] { state.withLock { Array($0.exchanges.values) } }

    func add(_ exchange: Exchange) { state.withLock { $0.exchanges[exchange.number] = exchange } }

    func remove(_ exchange: Exchange) { state.withLock { $0.exchanges[exchange.number] = nil } }
}
