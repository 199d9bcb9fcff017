import Alcedo
import FoundationEssentials

/// A request that is being answered: waiting without a thread, until its answer is there or its client is not.
final class Exchange: Sendable {
    enum Outcome: Sendable {
        case reply(Reply)
        case gone
    }

    private struct State: Sendable {
        var isWaiting = false
        var task: Task<Void, Never>?
        var outcome: Outcome?
        /// What went out.
        var sent: (status: Int, byteCount: Int)?
    }

    let number: UInt64
    let head: RequestHead
    let begin = ContinuousClock.now
    /// Goes on with the suspended request. Called once, and only for one that waits: any other may be over at any time.
    private let resume: @Sendable () -> Void
    private let state = Locked(State())

    init(number: UInt64, head: RequestHead, resume: @escaping @Sendable () -> Void) {
        self.number = number
        self.head = head
        self.resume = resume
    }

    /// To be called when the request has been suspended.
    func start(_ work: @escaping @Sendable () async -> Reply) {
        let isSettled = state.withLock { state in
            state.isWaiting = true
            return state.outcome != nil
        }
        guard !isSettled else { return resume() }
        let task = Task { settle(.reply(await work())) }
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

    /// What is being sent.
    var sent: (status: Int, byteCount: Int)? { state.withLock { $0.sent } }

    func willSend(_ reply: Reply) {
        let count = head.isHead || reply.status == 304 ? 0 : reply.body.count
        state.withLock { $0.sent = (reply.status, count) }
    }
}
