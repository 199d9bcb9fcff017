/// A budget of bytes that concurrent operations share. A reservation that does not fit waits, without blocking a
/// thread.
///
/// Reservations of higher priority are granted first and, within a priority, in the order of arrival. A waiter is never
/// overtaken by one of equal or lower priority, except that groups take turns: one with reservations goes after those
/// that have none (``TurnQueue``), and one at the maximum of ``GroupShare`` has no turn. A reservation that exceeds the
/// whole budget is granted when nothing else is reserved. ``ByteBudgetState`` makes the decisions under the lock;
/// everything else happens outside it.
package final class ByteBudget: Sendable {
    /// The part of a budget that one group may use.
    package struct GroupShare: Sendable {
        /// The maximum number of granted reservations of one group. Values below one count as one.
        package let maxReservations: Int
        /// The number of bytes that must stay free when a group that has a reservation receives a further one.
        package let spareByteCount: Int

        /// Creates a share. By default, one group may use the whole budget.
        package init(maxReservations: Int = .max, spareByteCount: Int = 0) {
            (self.maxReservations, self.spareByteCount) = (max(1, maxReservations), spareByteCount)
        }
    }

    private let state: Locked<ByteBudgetState>

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes reserved at the same time. With zero or less, one reservation at a time
    ///     is granted.
    ///   - groupShare: The part that one group may use. Default: the whole budget.
    package init(limit: Int, groupShare: GroupShare = GroupShare()) {
        state = Locked(ByteBudgetState(limit: limit, groupShare: groupShare))
    }

    package var reservedByteCount: Int { state.withLock { $0.reserved } }

    /// Waits for the bytes and runs `body` while they are reserved.
    ///
    /// - Parameters:
    ///   - byteCount: The number of bytes. Values below zero count as zero.
    ///   - priority: The priority of the reservation. Default: 0.
    ///   - group: The group whose reservations take turns with those of others. Default: nil, none.
    ///   - body: The operation that needs the bytes.
    /// - Throws: The error of `body`, or `CancellationError` if the task is canceled before the bytes are reserved.
    package func withReservation<Value: Sendable>(
        of byteCount: Int, priority: AdjustablePriority = AdjustablePriority(0), group: String? = nil,
        _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        try await reserve(byteCount, priority: priority, group: group)
        defer { release(byteCount, group: group) }
        return try await body()
    }

    /// Waits for the bytes and reserves them until ``release(_:group:)`` is called with the same number and group.
    /// Values below zero count as zero.
    ///
    /// - Throws: `CancellationError` if the task is canceled before the bytes are reserved.
    package func reserve(_ byteCount: Int, priority: AdjustablePriority, group: String? = nil) async throws {
        let byteCount = max(0, byteCount)
        let id = state.withLock { $0.makeID() }
        try await priority.observing {
            self.resume(self.state.withLock { $0.setPriority(priority.value, of: id) })
        } _: {
            try await reserve(byteCount, id, priority, group)
        }
    }

    /// Runs `body` while the bytes are reserved, if they are available immediately and no operation of the same or a
    /// higher priority goes first. Otherwise, returns nil without running it. The default priority is 0, without a
    /// group. Values below zero count as zero.
    ///
    /// Never waits, so that it can be called from a blocking thread. Throws the error of `body`.
    package func withReservationNow<Value>(
        of byteCount: Int, priority: Int = 0, group: String? = nil, _ body: () throws -> Value
    ) rethrows -> Value? {
        let byteCount = max(0, byteCount)
        guard reserveNow(byteCount, priority: priority, group: group) else { return nil }
        defer { release(byteCount, group: group) }
        return try body()
    }

    /// Reserves the bytes until ``release(_:group:)`` is called with the same number, if they are available immediately
    /// and no operation waits for bytes. Returns whether they are reserved. Values below zero count as zero.
    package func reserveNow(_ byteCount: Int) -> Bool {
        reserveNow(max(0, byteCount), priority: .min / 2, group: nil)
    }

    /// Reserves bytes that are already in use, even if they exceed the budget, until ``release(_:group:)`` is called
    /// with the same number. A later reservation waits until it fits in the rest of the budget. Values below zero count
    /// as zero.
    package func reserveUnconditionally(_ byteCount: Int, group: String? = nil) {
        resume(state.withLock { $0.reserveUnconditionally(max(0, byteCount), group: group) })
    }

    private func reserveNow(_ byteCount: Int, priority: Int, group: String?) -> Bool {
        let admitted = state.withLock { $0.tryReserve(byteCount, priority: priority, group: group) }
        resume(admitted ?? [])
        return admitted != nil
    }

    private func reserve(
        _ byteCount: Int, _ id: Int, _ priority: AdjustablePriority, _ group: String?
    ) async throws {
        try Task.checkCancellation()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiter = ByteBudgetState.Waiter(id: id, byteCount: byteCount, group: group) {
                    continuation.resume(with: $0)
                }
                let admitted = state.withLock { state -> [ByteBudgetState.Waiter] in
                    let priority = priority.value
                    if let others = state.tryReserve(byteCount, priority: priority, group: group) {
                        return [waiter] + others
                    }
                    state.wait(waiter, priority: priority)
                    return []
                }
                resume(admitted)
                // A cancellation before this point found no waiter to remove.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func cancel(_ id: Int) {
        guard let change = state.withLock({ $0.remove(id) }) else { return }
        change.removed.resume(.failure(CancellationError()))
        resume(change.admitted)
    }

    /// Releases bytes that were reserved with a `reserve` function, for the same group, and grants the reservations
    /// that fit now. Values below zero count as zero.
    package func release(_ byteCount: Int, group: String? = nil) {
        resume(state.withLock { $0.release(max(0, byteCount), group: group) })
    }

    private func resume(_ admitted: [ByteBudgetState.Waiter]) {
        for waiter in admitted { waiter.resume(.success(())) }
    }
}
