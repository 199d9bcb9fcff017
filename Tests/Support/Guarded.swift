import AlcedoCore
import AlcedoRuntime

/// A value that tests and fakes record things in from any thread, and whose changes tests can wait for.
package final class Guarded<Value: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let isMet: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var value: Value
        var waiters: [Int: Waiter] = [:]
        var lastID = 0
    }

    private let state: Locked<State>

    package init(_ value: Value) { state = Locked(State(value: value)) }

    package var value: Value { state.withLock { $0.value } }

    /// Changes the value, then resumes the waiters whose condition it meets.
    @discardableResult
    package func change<Result: Sendable>(_ change: (inout Value) -> Result) -> Result {
        let (result, waiters) = state.withLock { state in
            let result = change(&state.value)
            guard !state.waiters.isEmpty else { return (result, [Waiter]()) }
            let met = state.waiters.filter { $0.value.isMet(state.value) }
            for id in met.keys { state.waiters[id] = nil }
            return (result, Array(met.values))
        }
        for waiter in waiters { waiter.continuation.resume() }
        return result
    }

    /// Returns once the value meets a condition, now or after a change.
    ///
    /// - Parameter isMet: Called under the lock of the value.
    /// - Throws: `CancellationError` if the task is cancelled first.
    package func wait(until isMet: @escaping @Sendable (Value) -> Bool) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isMet = state.withLock { state in
                    guard !isMet(state.value) else { return true }
                    state.waiters[id] = Waiter(isMet: isMet, continuation: continuation)
                    return false
                }
                if isMet { return continuation.resume() }
                // A cancellation before the waiter was registered found none to resume.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func cancel(_ id: Int) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.continuation.resume(throwing: CancellationError())
    }
}
