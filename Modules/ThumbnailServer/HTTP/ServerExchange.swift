import Alcedo
import AlcedoRuntime
import FoundationEssentials

/// A request and its response. While the request waits, it occupies no thread. The wait ends with a response or when
/// the client disconnects.
final class ServerExchange: Sendable {
    enum Outcome: Sendable {
        case response(ServerResponse)
        case disconnected
    }

    private struct State: Sendable {
        var isWaiting = false
        var task: Task<Void, Never>?
        var outcome: Outcome?
        /// The status and the body length of the response that is being sent.
        var sent: (status: Int, byteCount: Int)?
    }

    let number: UInt64
    let head: RequestHead
    /// The uptime at which the request began.
    let begin: Duration
    /// The closure that resumes the suspended request. Called at most once, and only while the request is suspended,
    /// because a request that is not suspended may already have ended.
    private let resume: @Sendable () -> Void
    /// The executor of the operation; nil for the default executor.
    private let taskExecutor: (any TaskExecutor)?
    private let state = Locked(State())

    init(
        number: UInt64, head: RequestHead, resume: @escaping @Sendable () -> Void,
        taskExecutor: (any TaskExecutor)? = nil, clock: any TimeSource = SystemClock()
    ) {
        self.number = number
        self.head = head
        self.resume = resume
        self.taskExecutor = taskExecutor
        begin = clock.uptime
    }

    /// Whether the response has no body because of the request's method or the response's status.
    func hasNoBody(_ response: ServerResponse) -> Bool { head.isHead || response.status == 304 }

    /// Starts the operation of a request. Call this method after the request has been suspended. If the exchange is
    /// already settled, the request is resumed and the operation does not run.
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

    /// Sets the outcome, cancels the operation and resumes the request if it is suspended. Only the first call has an
    /// effect.
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

    /// The outcome; nil while the request waits.
    var outcome: Outcome? { state.withLock { $0.outcome } }

    func willSend(_ response: ServerResponse) {
        let count = hasNoBody(response) ? 0 : response.body.count
        state.withLock { state in
            state.sent = (response.status, count)
            // The exchange no longer needs the body, which the sender now holds.
            state.outcome = .response(ServerResponse(status: response.status))
        }
    }

    /// The status and body length of the response whose sending has begun; nil if there is none.
    var sent: (status: Int, byteCount: Int)? { state.withLock { $0.sent } }
}

/// The requests that have not ended.
final class ServerExchangeTable: Sendable {
    private struct State: Sendable {
        var exchanges: [UInt64: ServerExchange] = [:]
        var lastNumber: UInt64 = 0
    }

    private let state = Locked(State())

    /// Returns a unique number above zero.
    func makeNumber() -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    var all: [ServerExchange] { state.withLock { Array($0.exchanges.values) } }

    func add(_ exchange: ServerExchange) { state.withLock { $0.exchanges[exchange.number] = exchange } }

    func remove(_ exchange: ServerExchange) { state.withLock { $0.exchanges[exchange.number] = nil } }
}
