/// The task of a piece of shared work. Other shared work that the work begins and awaits may run in it, too.
///
/// Others may join that inner work. So a task whose work has lost its last waiter continues until the inner work has
/// none left either, or has ended.
@usableFromInline
package final class SharedTask: Sendable {
    private struct State: Sendable {
        var task: Task<Void, Never>?
        var isAbandoned = false
        var isCanceled = false
        /// Lets the work leave the inner work, of which it is a waiter; nil if none is in progress.
        var leaveInner: (@Sendable () -> Void)?
    }

    private let outer: SharedTask?
    private let state = Locked(State())

    /// Creates the task of work that runs in the task of `outer`, or in one of its own.
    @usableFromInline
    init(within outer: SharedTask? = nil) { self.outer = outer }

    /// Records the task, which is canceled if it was canceled before.
    @usableFromInline
    func begin(_ task: Task<Void, Never>) {
        let isCanceled = state.withLock { state in
            state.task = task
            return state.isCanceled
        }
        if isCanceled { task.cancel() }
    }

    /// Records that the work has no waiters left. Cancels the task, unless others wait for the inner work.
    @usableFromInline
    func abandon() {
        let leaveInner = state.withLock { state in
            state.isAbandoned = true
            return state.leaveInner
        }
        if let leaveInner { leaveInner() } else { cancel() }
    }

    func cancel() {
        if let outer { return outer.cancel() }
        let task = state.withLock { state in
            state.isCanceled = true
            return state.task
        }
        task?.cancel()
    }

    /// Whether the work has no waiters left.
    @usableFromInline var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// Records that the work is about to begin or to join inner work.
    @usableFromInline
    func beginInner(leave: @escaping @Sendable () -> Void) { state.withLock { $0.leaveInner = leave } }

    /// Records that the inner work has ended, or runs in another task. Cancels the task if nobody waits for its own
    /// work.
    @usableFromInline
    func endInner() {
        let isAbandoned = state.withLock { state in
            state.leaveInner = nil
            return state.isAbandoned
        }
        if isAbandoned { cancel() }
    }
}
