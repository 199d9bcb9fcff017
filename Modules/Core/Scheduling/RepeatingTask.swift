import AlcedoRuntime

/// Work that is done again and again, from the first time that somebody asks for it until this is let go of.
package final class RepeatingTask: Sendable {
    private struct State: Sendable {
        var task: Task<Void, Never>?
        var isOver = false
    }

    private let state = Locked(State())
    private let interval: Duration
    private let clock: any TimeSource
    private let taskExecutor: (any TaskExecutor)?

    /// - Parameters:
    ///   - interval: From the end of one time to the next, and before the first; with nought or less it is never done.
    ///   - clock: Measures the interval.
    ///   - taskExecutor: Runs the work. Default: nil, Swift's own executor.
    package init(every interval: Duration, clock: any TimeSource, taskExecutor: (any TaskExecutor)? = nil) {
        self.interval = interval
        self.clock = clock
        self.taskExecutor = taskExecutor
    }

    deinit { stop() }

    /// Begins, unless it has begun.
    ///
    /// - Parameter work: Returns whether it wants to be done again. Must not hold what holds this.
    package func start(_ work: @escaping @Sendable () async -> Bool) {
        state.withLock { state in
            guard interval > .zero, state.task == nil, !state.isOver else { return }
            state.task = Task(executorPreference: taskExecutor) { [clock, interval] in
                while (try? await clock.sleep(for: interval)) != nil {
                    guard await work() else { return }
                }
            }
        }
    }

    /// Whether it has begun. It may have ended since.
    package var hasBegun: Bool { state.withLock { $0.task != nil } }

    /// Ends it, for good.
    package func stop() {
        state.withLock { state in
            state.isOver = true
            state.task?.cancel()
        }
    }
}
