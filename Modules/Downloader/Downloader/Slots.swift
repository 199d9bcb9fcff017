import AlcedoCore

/// Lets a fixed number of tasks go on at once; the others wait, the more urgent first.
final class Slots: Sendable {
    private struct Waiter: Sendable {
        var id: Int
        var priority: LoadPriority
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var free: Int
        var waiters: [Waiter] = []
        var lastID = 0
    }

    private let state: Locked<State>

    init(count: Int) { state = Locked(State(free: count)) }

    /// Returns when a slot is the caller's; it must give it back.
    ///
    /// - Throws: `CancellationError`; then there is no slot to give back.
    func acquire(_ priority: LoadPriority) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiter = Waiter(id: id, priority: priority, continuation: continuation)
                let isFree = state.withLock { state in
                    guard state.free == 0 else {
                        state.free -= 1
                        return true
                    }
                    state.waiters.append(waiter)
                    return false
                }
                if isFree { return continuation.resume() }
                // A cancellation before the waiter was in place found nobody to wake.
                if Task.isCancelled { leave(id) }
            }
        } onCancel: {
            leave(id)
        }
    }

    func release() {
        let next = state.withLock { state -> Waiter? in
            guard let best = state.waiters.map(\.priority).max(),
                let index = state.waiters.firstIndex(where: { $0.priority == best })
            else {
                state.free += 1
                return nil
            }
            return state.waiters.remove(at: index)
        }
        next?.continuation.resume()
    }

    private func leave(_ id: Int) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiters.remove(at: index)
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }
}
