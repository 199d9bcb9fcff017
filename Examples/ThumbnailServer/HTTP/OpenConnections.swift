import Alcedo

/// Counts the connections there are, for who waits until there is none.
final class OpenConnections: Sendable {
    private struct State: Sendable {
        var count = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    func began() { state.withLock { $0.count += 1 } }

    func ended() {
        let waiters = state.withLock { state in
            state.count -= 1
            return state.count == 0 ? Self.takeWaiters(&state) : []
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when there is none, or the time is up.
    func waitUntilNone(for limit: Duration) async {
        let alarm = Task {
            try? await Task.sleep(for: limit)
            for waiter in state.withLock({ Self.takeWaiters(&$0) }) { waiter.resume() }
        }
        await withCheckedContinuation { continuation in
            let isNone = state.withLock { state in
                if state.count > 0 { state.waiters.append(continuation) }
                return state.count == 0
            }
            if isNone { continuation.resume() }
        }
        alarm.cancel()
    }

    private static func takeWaiters(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
        defer { state.waiters = [] }
        return state.waiters
    }
}
