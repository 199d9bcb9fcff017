import Alcedo

/// Writes what was answered already, and lets no more of it wait than there may be: a store that is slow holds up nobody.
final class StoreBacklog: Sendable {
    private struct State: Sendable {
        var count = 0
        var byteCount = 0
        var dropped = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let countLimit: Int
    private let byteLimit: Int
    private let state = Locked(State())

    /// - Parameter byteLimit: Most bytes that wait; one piece that has more is taken when there is no other.
    init(countLimit: Int = 256, byteLimit: Int = 32 << 20) {
        (self.countLimit, self.byteLimit) = (countLimit, byteLimit)
    }

    /// How many wait, or are being written.
    var count: Int { state.withLock { $0.count } }

    /// How many there was no room for.
    var dropped: Int { state.withLock { $0.dropped } }

    /// Runs `write`, unless too much waits.
    ///
    /// - Parameter byteCount: What it holds meanwhile.
    func add(_ byteCount: Int, _ write: @escaping @Sendable () async -> Void) {
        let isTaken = state.withLock { state in
            guard state.count == 0 || (state.count < countLimit && state.byteCount + byteCount <= byteLimit) else {
                state.dropped += 1
                return false
            }
            state.count += 1
            state.byteCount += byteCount
            return true
        }
        guard isTaken else { return }
        Task {
            await write()
            finished(byteCount)
        }
    }

    /// Returns when nothing waits.
    func waitUntilEmpty() async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                if state.count > 0 { state.waiters.append(continuation) }
                return state.count == 0
            }
            if isEmpty { continuation.resume() }
        }
    }

    private func finished(_ byteCount: Int) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.count -= 1
            state.byteCount -= byteCount
            guard state.count == 0 else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
