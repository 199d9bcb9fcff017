import Alcedo
import FoundationEssentials

/// A request that is being answered: waiting without a thread, until its answer is there or its client is not.
final class Exchange: Sendable {
    enum Outcome: Sendable {
        case reply(Reply)
        case gone
    }

    private struct State: Sendable {
        var task: Task<Void, Never>?
        var outcome: Outcome?
        /// What went out.
        var sent: (status: Int, byteCount: Int)?
    }

    let number: UInt64
    let head: RequestHead
    let begin = ContinuousClock.now
    /// Goes on with the suspended request. Called once, by whoever settles.
    private let resume: @Sendable () -> Void
    private let state = Locked(State())

    init(number: UInt64, head: RequestHead, resume: @escaping @Sendable () -> Void) {
        self.number = number
        self.head = head
        self.resume = resume
    }

    /// To be called when the request has been suspended.
    func start(_ work: @escaping @Sendable () async -> Reply) {
        let task = Task { settle(.reply(await work())) }
        let isLate = state.withLock { state in
            guard state.outcome == nil else { return true }
            state.task = task
            return false
        }
        if isLate { task.cancel() }
    }

    /// Ends the waiting, unless it has ended. The work has nobody to work for then.
    func settle(_ outcome: Outcome) {
        let (isFirst, task) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            guard state.outcome == nil else { return (false, nil) }
            state.outcome = outcome
            defer { state.task = nil }
            return (true, state.task)
        }
        guard isFirst else { return }
        task?.cancel()
        resume()
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
