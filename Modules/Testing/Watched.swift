import AlcedoCore
import AlcedoRuntime

/// A value behind a lock, with changes that tasks can wait for.
///
/// Conditions run outside the lock, so a condition may access the owner of the value.
package final class Watched<Value: Sendable>: Sendable {
    package typealias Condition = @Sendable (Value) -> Bool

    private struct Waiter {
        let isMet: Condition
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var value: Value
        var version = 0
        var isClosed = false
        var lastID = 0
        var waiters: [Int: Waiter] = [:]
    }

    private let state: Locked<State>

    package init(_ value: Value) { state = Locked(State(value: value)) }

    package var value: Value { state.withLock { $0.value } }

    /// Changes the value, then resumes the waiters whose condition is now met. Returns the result of `change`.
    @discardableResult
    package func update<Result: Sendable>(_ change: (inout Value) -> Result) -> Result {
        let (result, value, waiters) = state.withLock { state in
            let result = change(&state.value)
            state.version += 1
            return (result, state.value, state.waiters)
        }
        for (id, waiter) in waiters where waiter.isMet(value) { finish(id, .success(())) }
        return result
    }

    /// Returns once the value meets the condition, now or after a change.
    ///
    /// - Throws: `CancellationError` when the task is canceled or the value is closed first.
    package func waitUntil(_ isMet: @escaping Condition) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                register(id, Waiter(isMet: isMet, continuation: continuation))
                // A cancellation before the waiter was registered has resumed nothing.
                if Task.isCancelled { finish(id, .failure(CancellationError())) }
            }
        } onCancel: {
            finish(id, .failure(CancellationError()))
        }
    }

    /// Resumes every waiter, current and future, whose condition is not met, with `CancellationError`.
    package func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            return state.waiters
        }
        for id in waiters.keys { finish(id, .failure(CancellationError())) }
    }

    private func register(_ id: Int, _ waiter: Waiter) {
        while true {
            let (value, version, isClosed) = state.withLock { ($0.value, $0.version, $0.isClosed) }
            if waiter.isMet(value) { return waiter.continuation.resume() }
            if isClosed { return waiter.continuation.resume(throwing: CancellationError()) }
            let isRegistered = state.withLock { state in
                // If the value has changed while the condition was evaluated, the condition is evaluated again.
                guard state.version == version, !state.isClosed else { return false }
                state.waiters[id] = waiter
                return true
            }
            if isRegistered { return }
        }
    }

    private func finish(_ id: Int, _ result: Result<Void, any Error>) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.continuation.resume(with: result)
    }
}
