/// Runs equal work once, however many wait for it.
///
/// Each waiter gets the one outcome and every update after it joined; a waiter that is cancelled leaves at once with
/// `CancellationError`; the work is cancelled when the last one has left. Work that is asked for again after that is
/// begun anew. ``CoalescerState`` decides under the lock; everything else happens outside it.
package final class Coalescer<Key: Hashable & Sendable, Update: Sendable, Value: Sendable>: Sendable {
    package typealias Work = @Sendable (_ report: @escaping @Sendable (Update) -> Void) async throws -> Value
    private typealias Waiter = CoalescerState<Key, Update, Value>.Waiter

    private let state = Locked(CoalescerState<Key, Update, Value>())

    package init() {}

    /// Returns the outcome of `work`, or of equal work that is under way.
    package func value(
        for key: Key, onUpdate: (@Sendable (Update) -> Void)? = nil, _ work: @escaping Work
    ) async throws -> Value {
        try Task.checkCancellation()
        let id = state.withLock { $0.makeID() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiter = Waiter(continuation: continuation, onUpdate: onUpdate)
                let flight = state.withLock { $0.join(key, id: id, waiter: waiter) }
                if let flight { start(key, flight: flight, work) }
                // A cancellation before the join found nobody to remove.
                if Task.isCancelled { leave(key, id: id) }
            }
        } onCancel: {
            leave(key, id: id)
        }
    }

    private func start(_ key: Key, flight: Int, _ work: @escaping Work) {
        let task = Task {
            let outcome: Result<Value, any Error>
            do {
                outcome = .success(
                    try await work { update in
                        for listener in self.state.withLock({ $0.listeners(key, flight: flight) }) { listener(update) }
                    })
            } catch {
                outcome = .failure(error)
            }
            for waiter in self.state.withLock({ $0.finish(key, flight: flight) }) {
                waiter.continuation.resume(with: outcome)
            }
        }
        let isAbandoned = state.withLock { $0.started(key, flight: flight, task: task) }
        if isAbandoned { task.cancel() }
    }

    private func leave(_ key: Key, id: Int) {
        guard let departure = state.withLock({ $0.leave(key, id: id) }) else { return }
        departure.waiter.continuation.resume(throwing: CancellationError())
        departure.abandonedTask?.cancel()
    }
}
