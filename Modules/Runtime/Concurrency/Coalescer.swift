/// A coalescer, which runs equal work once for any number of waiters.
///
/// Each waiter receives the outcome and every update after it joined. A canceled waiter leaves at once with
/// `CancellationError`. When the last waiter has left, the work is canceled, and a later request for it starts it
/// again. The work has the highest priority of its waiters. ``CoalescerState`` makes the decisions under the lock;
/// everything else happens outside it.
///
/// Waiters whose work uses different sources (another URL or other header fields) share a success, but not a failure
/// that the source causes. Such a failure is delivered to the waiters of that source. An outcome that belongs to an
/// owner is delivered to the waiters with that owner. The work of the first remaining waiter is then tried for all
/// remaining waiters.
package final class Coalescer<Key: Hashable & Sendable, Update: Sendable, Value: Sendable>: Sendable {
    package typealias Report = @Sendable (Update) -> Void
    package typealias Body = @Sendable (_ report: @escaping Report) async throws -> Value
    /// A body that also receives the priority of the work.
    package typealias PrioritizedBody =
        @Sendable (_ report: @escaping Report, _ priority: AdjustablePriority) async throws -> Value

    private typealias State = CoalescerState<Key, Update, Value>

    private let state = Locked(State())
    private let order = ResumptionOrder()
    private let taskExecutor: (any TaskExecutor)?
    private let isOfSource: @Sendable (any Error) -> Bool
    private let isOfOwner: @Sendable (Result<Value, any Error>) -> Bool

    /// Creates a coalescer without work.
    ///
    /// - Parameters:
    ///   - taskExecutor: The executor that runs the work. Default: nil, Swift's default executor.
    ///   - isOfSource: Returns whether a failure is caused by the source, so that a waiter with another source may
    ///     succeed. Default: returns false for every failure.
    ///   - isOfOwner: Returns whether an outcome is only for waiters with the source and the owner of the work.
    ///     Default: returns false for every outcome.
    package init(
        taskExecutor: (any TaskExecutor)? = nil, isOfSource: @escaping @Sendable (any Error) -> Bool = { _ in false },
        isOfOwner: @escaping @Sendable (Result<Value, any Error>) -> Bool = { _ in false }
    ) {
        self.taskExecutor = taskExecutor
        self.isOfSource = isOfSource
        self.isOfOwner = isOfOwner
    }

    /// Returns the outcome of `body`, or of equal work that is in progress. The priority of this waiter is 0.
    ///
    /// - Throws: The error of the work, `CancellationError` if the task is canceled, or the error of a shutdown.
    package func value(
        for key: Key, onUpdate: Report? = nil, _ body: @escaping Body
    ) async throws -> Value {
        let id = state.withLock { $0.makeID() }
        return try await wait(for: key, id, nil, { 0 }, onUpdate) { report, _ in try await body(report) }
    }

    /// Returns the outcome of `body`, or of equal work that is in progress.
    ///
    /// - Parameters:
    ///   - key: The key that equal work shares.
    ///   - source: The source that `body` uses. Default: nil, no source.
    ///   - isCancelable: Whether ``cancel(where:)`` finds this waiter. Default: false.
    ///   - priority: The priority of the work for this waiter.
    ///   - onUpdate: Called with each update of the work. Default: nil.
    ///   - body: The work. It runs if no equal work is in progress, or if the work in progress fails because of another
    ///     source or has an outcome for another owner.
    /// - Throws: The error of the work, `CancellationError` if the task is canceled, or the error of a shutdown.
    package func value(
        for key: Key, from source: CoalescerSource? = nil, isCancelable: Bool = false, priority: AdjustablePriority,
        onUpdate: Report? = nil, _ body: @escaping PrioritizedBody
    ) async throws -> Value {
        let id = state.withLock { $0.makeID() }
        return try await priority.observing {
            self.state.withLock { $0.reprioritize(key, id: id) { priority.value } }?.make()
        } _: {
            try await wait(for: key, id, source, isCancelable: isCancelable, { priority.value }, onUpdate, body)
        }
    }

    /// The number of pieces of work that have not ended, including those without waiters.
    package var runningCount: Int { state.withLock { $0.runningCount } }

    /// The number of callers that wait for a key.
    package func waiterCount(for key: Key) -> Int { state.withLock { $0.waiterCount(key) } }

    /// The number of callers that ``cancel(where:)`` can cancel.
    package var cancelableCount: Int { state.withLock { $0.cancelableWaiters { _ in true }.count } }

    /// Cancels all work. Present and future waiters receive `error`. Returns when the work has ended.
    package func shutDown(throwing error: any Error) async {
        let (waiters, tasks) = state.withLock { $0.shutDown(error) }
        for task in tasks { task.cancel() }
        for waiter in waiters { waiter.continuation.resume(throwing: error) }
        for task in tasks { await task.value }
        // Work that was starting had no task yet. It is canceled when it has one.
        await withCheckedContinuation { continuation in
            if !state.withLock({ $0.observeEnd(continuation) }) { continuation.resume() }
        }
    }

    private func wait(
        for key: Key, _ id: Int, _ source: CoalescerSource?, isCancelable: Bool = false,
        _ priority: @Sendable () -> Int, _ onUpdate: Report?, _ body: @escaping PrioritizedBody
    ) async throws -> Value {
        try Task.checkCancellation()
        defer { order.didResume() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                join(
                    key, id,
                    State.Waiter(
                        continuation: continuation, onUpdate: onUpdate, source: source, isCancelable: isCancelable,
                        body: body), priority)
                // A cancellation before the join found no waiter to remove.
                if Task.isCancelled { leave(key, id) }
            }
        } onCancel: {
            leave(key, id)
        }
    }

    private func join(_ key: Key, _ id: Int, _ waiter: State.Waiter, _ priority: () -> Int) {
        let (start, change, end) = state.withLock { state in
            if let end = state.end { return (nil as State.Start?, nil as State.PriorityChange?, end as (any Error)?) }
            let (start, change) = state.join(key, id: id, waiter: waiter, priority: priority)
            return (start, change, nil)
        }
        if let end { return waiter.continuation.resume(throwing: end) }
        change?.make()
        if let start { begin(key, start, waiter.body) }
    }

    private func begin(_ key: Key, _ start: State.Start, _ first: @escaping PrioritizedBody) {
        let flight = start.flight
        let task = Task(executorPreference: taskExecutor) {
            let report: Report = { update in
                for listener in self.state.withLock({ $0.listeners(key, flight: flight) }) { listener(update) }
            }
            var next: PrioritizedBody? = first
            while let body = next {
                let outcome: Result<Value, any Error>
                var audience = State.Audience.everyone
                do {
                    outcome = .success(try await body(report, start.priority))
                } catch {
                    outcome = .failure(error)
                    if self.isOfSource(error) { audience = .source }
                }
                if self.isOfOwner(outcome) { audience = .owner }
                self.order.willResume()
                let completion = self.state.withLock { $0.finish(key, flight: flight, for: audience) }
                completion.priorityChange?.make()
                for waiter in completion.waiters { waiter.continuation.resume(with: outcome) }
                for observer in completion.ended { observer.resume() }
                next = completion.next
            }
        }
        let isAbandoned = state.withLock { $0.started(key, flight: flight, task: task) }
        if isAbandoned { task.cancel() }
    }

    /// Cancels the cancelable waiters with a source that satisfies a condition. They receive `CancellationError`.
    ///
    /// - Parameter isIncluded: The condition, which is evaluated under the lock.
    package func cancel(where isIncluded: (CoalescerSource) -> Bool) {
        for (key, id) in state.withLock({ $0.cancelableWaiters(where: isIncluded) }) { leave(key, id) }
    }

    private func leave(_ key: Key, _ id: Int) {
        guard let removal = state.withLock({ $0.leave(key, id: id) }) else { return }
        removal.waiter.continuation.resume(throwing: CancellationError())
        removal.abandonedTask?.cancel()
        removal.priorityChange?.make()
    }
}
