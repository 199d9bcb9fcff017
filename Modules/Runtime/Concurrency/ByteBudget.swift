/// A number of bytes that concurrent pieces of work share: what does not fit beside the others waits, without a thread.
///
/// The more urgent goes first, equals in the order they came; nobody overtakes one who waits and is as urgent. More
/// bytes than the whole budget are granted when nothing else is reserved, and then alone. ``ByteBudgetState`` decides
/// under the lock; everything else happens outside it.
package final class ByteBudget: Sendable {
    private let state: Locked<ByteBudgetState>

    /// - Parameter limit: Most bytes reserved at once. With nought or less every reservation goes alone.
    package init(limit: Int) { state = Locked(ByteBudgetState(limit: limit)) }

    /// Bytes reserved now.
    package var reservedByteCount: Int { state.withLock { $0.reserved } }

    /// Runs `body` while the bytes are reserved, after waiting for them.
    ///
    /// - Parameter byteCount: Below nought counts as nought.
    /// - Throws: What `body` throws, or `CancellationError` when the task is cancelled before the bytes are reserved.
    package func withReservation<Value: Sendable>(
        of byteCount: Int, priority: AdjustablePriority = AdjustablePriority(0),
        _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        try await reserve(byteCount, priority: priority)
        defer { release(byteCount) }
        return try await body()
    }

    /// Reserves the bytes, after waiting for them, until ``release(_:)`` gives back as many. Below nought counts as nought.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before the bytes are reserved.
    package func reserve(_ byteCount: Int, priority: AdjustablePriority) async throws {
        let byteCount = max(0, byteCount)
        let id = state.withLock { $0.makeID() }
        try await priority.observing {
            let admitted = self.state.withLock { $0.setPriority(priority.value, of: id) }
            for waiter in admitted { waiter.resume(.success(())) }
        } _: {
            try await reserve(byteCount, id, priority)
        }
    }

    /// Runs `body` while the bytes are reserved if they can be had at once; returns nil without running it otherwise.
    ///
    /// For work that is on a thread already: never waits. Throws what `body` throws.
    package func withReservationNow<Value>(
        of byteCount: Int, priority: Int = 0, _ body: () throws -> Value
    ) rethrows -> Value? {
        let byteCount = max(0, byteCount)
        guard state.withLock({ $0.tryReserve(byteCount, priority: priority) }) else { return nil }
        defer { release(byteCount) }
        return try body()
    }

    /// Reserves the bytes if they can be had at once, until ``release(_:)`` gives back as many. Below nought counts as
    /// nought.
    package func reserveNow(_ byteCount: Int) -> Bool {
        state.withLock { $0.tryReserve(max(0, byteCount), priority: .min) }
    }

    /// Reserves bytes that are there already, whether they fit or not, until ``release(_:)`` gives back as many: who comes
    /// later waits for them. Below nought counts as nought.
    package func reserveUnconditionally(_ byteCount: Int) {
        state.withLock { $0.reserveUnconditionally(max(0, byteCount)) }
    }

    private func reserve(_ byteCount: Int, _ id: Int, _ priority: AdjustablePriority) async throws {
        try Task.checkCancellation()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiter = ByteBudgetState.Waiter(id: id, byteCount: byteCount) { continuation.resume(with: $0) }
                let isReserved = state.withLock { state in
                    let priority = priority.value
                    let isReserved = state.tryReserve(byteCount, priority: priority)
                    if !isReserved { state.wait(waiter, priority: priority) }
                    return isReserved
                }
                if isReserved { waiter.resume(.success(())) }
                // A cancellation before this found nobody to remove.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func cancel(_ id: Int) {
        guard let change = state.withLock({ $0.remove(id) }) else { return }
        change.removed.resume(.failure(CancellationError()))
        for waiter in change.admitted { waiter.resume(.success(())) }
    }

    package func release(_ byteCount: Int) {
        for waiter in state.withLock({ $0.release(max(0, byteCount)) }) { waiter.resume(.success(())) }
    }
}
