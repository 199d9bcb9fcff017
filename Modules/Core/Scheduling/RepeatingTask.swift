import AlcedoRuntime

/// Work that is repeated at an interval until the task is stopped or released, or the work returns false.
package final class RepeatingTask: Sendable {
    private struct State: Sendable {
        var task: Task<Void, Never>?
        var isStopped = false
    }

    private let state = Locked(State())
    private let interval: Duration
    private let clock: any TimeSource
    private let taskExecutor: (any TaskExecutor)?

    /// Creates a task that has not started.
    ///
    /// - Parameters:
    ///   - interval: The time before the first run, and from the end of a run to the next. With zero or less, the work
    ///     never runs.
    ///   - clock: The clock that measures the interval.
    ///   - taskExecutor: The executor of the work. Default: nil, for Swift's default executor.
    package init(every interval: Duration, clock: any TimeSource, taskExecutor: (any TaskExecutor)? = nil) {
        self.interval = interval
        self.clock = clock
        self.taskExecutor = taskExecutor
    }

    deinit { stop() }

    /// Starts the task, unless it has started before or was stopped.
    ///
    /// - Parameter work: A closure that performs the work and returns whether it should run again. It must not retain
    ///   an owner of this task.
    package func start(_ work: @escaping @Sendable () async -> Bool) {
        state.withLock { state in
            guard interval > .zero, state.task == nil, !state.isStopped else { return }
            state.task = Task(executorPreference: taskExecutor) { [clock, interval] in
                while (try? await clock.sleep(for: interval)) != nil {
                    guard await work() else { return }
                }
            }
        }
    }

    /// Whether the task has started. It may have ended since.
    package var hasBegun: Bool { state.withLock { $0.task != nil } }

    /// Stops the task permanently.
    package func stop() {
        state.withLock { state in
            state.isStopped = true
            state.task?.cancel()
        }
    }
}
