import AlcedoCore

/// Work that nobody waits for, as a rule: one at a time for each key, and no more than a number altogether. What does
/// not fit is not done.
final class BackgroundWork: Sendable {
    private struct State {
        var keys: Set<ImageKey> = []
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let limit: Int
    private let state = Locked(State())

    init(limit: Int) { self.limit = limit }

    func start(_ key: ImageKey, _ work: @escaping @Sendable () async -> Void) {
        let isStarted = state.withLock { state in
            state.keys.count < limit && state.keys.insert(key).inserted
        }
        guard isStarted else { return }
        Task {
            await work()
            end(key)
        }
    }

    /// Returns when nothing is under way.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if !state.keys.isEmpty { state.waiters.append(continuation) }
                return state.keys.isEmpty
            }
            if isIdle { continuation.resume() }
        }
    }

    private func end(_ key: ImageKey) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.keys.remove(key)
            guard state.keys.isEmpty else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
