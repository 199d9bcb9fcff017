import AlcedoCore

/// What a source, its tokens and its thread share: who observes, and whether a thread runs.
///
/// Handlers are called, and let go, outside the lock.
final class MemoryPressureHub: Sendable {
    typealias Handler = @Sendable (MemoryPressure) -> Void

    private struct State {
        var handlers: [Int: Handler] = [:]
        var lastID = 0
        /// Stops the thread that runs; nil when none does.
        var stop: StopSignal?
        var level = MemoryPressure.normal
    }

    private let state = Locked(State())
    private let run: @Sendable (StopSignal, @escaping (MemoryPressure) -> Void) -> Void

    /// - Parameter run: Watches until the signal is raised, and reports levels. Called on a thread of its own.
    init(run: @escaping @Sendable (StopSignal, @escaping (MemoryPressure) -> Void) -> Void) { self.run = run }

    func observe(_ handler: @escaping Handler) -> MemoryPressureToken {
        let (id, isFirst) = state.withLock { state in
            state.lastID += 1
            state.handlers[state.lastID] = handler
            return (state.lastID, state.stop == nil)
        }
        if isFirst { start() }
        return MemoryPressureToken(hub: self, id: id)
    }

    func remove(_ id: Int) {
        let (handler, stop) = state.withLock { state in
            let handler = state.handlers.removeValue(forKey: id)
            guard state.handlers.isEmpty else { return (handler, StopSignal?.none) }
            state.level = .normal
            return (handler, state.stop.take())
        }
        stop?.raise()
        _ = consume handler
    }

    private func start() {
        // Without a descriptor left nothing is reported; the next observer tries again.
        guard let stop = StopSignal() else { return }
        let isWanted = state.withLock { state in
            guard state.stop == nil, !state.handlers.isEmpty else { return false }
            state.stop = stop
            return true
        }
        guard isWanted else { return }
        // The executor goes with its only piece of work, and its thread with it.
        let executor = BlockingExecutor(name: "alcedo.memory-pressure", width: 1)
        Task.detached {
            try? await executor.run { self.run(stop) { self.report($0, from: stop) } }
        }
    }

    private func report(_ level: MemoryPressure, from stop: StopSignal) {
        let ids = state.withLock { state -> [Int] in
            // A thread that was stopped has no say any more.
            guard state.stop === stop, state.level != level else { return [] }
            state.level = level
            return state.handlers.keys.sorted()
        }
        for id in ids {
            // Looked up again each time: the last handler may have ended this observation.
            let handler = state.withLock { $0.handlers[id] }
            handler?(level)
        }
    }
}
