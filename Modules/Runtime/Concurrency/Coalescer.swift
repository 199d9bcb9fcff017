import Synchronization

/// A coalescer, which runs equal work once for any number of waiters.
///
/// Each waiter receives the outcome and every update after it joined. A canceled waiter leaves at once with
/// `CancellationError`. When the last waiter has left, the work is canceled, and a later request for it starts it
/// again. The work has the highest priority of its waiters. ``CoalescerState`` makes the decisions under the lock;
/// everything else happens outside it. The code is inlinable, so that other modules compile it for their types: without
/// that, lookups of generic types take a tenth of the time of a load.
///
/// Waiters whose work uses different sources (another URL or other header fields) share a success, but not a failure
/// that the source causes. Such a failure is delivered to the waiters of that source. An outcome that belongs to an
/// owner is delivered to the waiters with that owner. The work of the first remaining waiter is then tried for all
/// remaining waiters.
@usableFromInline
package final class Coalescer<Key: Hashable & Sendable, Update: Sendable, Value: Sendable>: Sendable {
    @usableFromInline
    package typealias Report = @Sendable (Update) -> Void
    @usableFromInline
    package typealias Body = @Sendable (_ report: @escaping Report) async throws -> Value
    /// A body that also receives the priority of the work and its task.
    @usableFromInline
    package typealias PrioritizedBody =
        @Sendable (_ report: @escaping Report, _ priority: AdjustablePriority, _ task: SharedTask) async throws -> Value

    @usableFromInline typealias State = CoalescerState<Key, Update, Value>

    @usableFromInline let state = Locked(State())
    @usableFromInline let order = ResumptionOrder()
    @usableFromInline let taskExecutor: (any TaskExecutor)?
    @usableFromInline let isOfSource: @Sendable (any Error) -> Bool
    @usableFromInline let isOfOwner: @Sendable (Result<Value, any Error>) -> Bool

    /// Creates a coalescer without work.
    ///
    /// - Parameters:
    ///   - taskExecutor: The executor that runs the work. With nil, work begins on the thread of its first waiter if
    ///     that one permits it, which avoids a switch to another thread, and continues on Swift's default executor
    ///     after its first suspension. Default: nil.
    ///   - isOfSource: Returns whether a failure is caused by the source, so that a waiter with another source may
    ///     succeed. Default: returns false for every failure.
    ///   - isOfOwner: Returns whether an outcome is only for waiters with the source and the owner of the work.
    ///     Default: returns false for every outcome.
    @inlinable
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
    @inlinable
    package func value(
        for key: Key, onUpdate: Report? = nil, _ body: @escaping Body
    ) async throws -> Value {
        try await value(for: key, priority: AdjustablePriority(0), onUpdate: onUpdate) { report, _, _ in
            try await body(report)
        }
    }

    /// Returns the outcome of `body`, or of equal work that is in progress.
    ///
    /// - Parameters:
    ///   - key: The key that equal work shares.
    ///   - ticket: The ticket of this waiter. Default: a new one.
    ///   - source: The source that `body` uses. Default: nil, no source.
    ///   - isCancelable: Whether ``cancel(where:)`` finds this waiter. Has no effect with `task`. Default: false.
    ///   - task: The task of other shared work, in which this method is called. If this waiter begins the work, the
    ///     work runs in it: it begins at once, and needs no task of its own. Both coalescers must have the same
    ///     executor. Default: nil.
    ///   - priority: The priority of the work for this waiter.
    ///   - onUpdate: Called with each update of the work. Default: nil.
    ///   - isImmediate: Whether work without an executor may begin on this thread. This waiter cannot leave before the
    ///     work has suspended, so the work must not block. Default: true.
    ///   - onBegin: Called with the priority of the work on this thread if this waiter begins the work, before the
    ///     work begins. Default: does nothing.
    ///   - body: The work. It runs if no equal work is in progress, or if the work in progress fails because of another
    ///     source or has an outcome for another owner.
    /// - Throws: The error of the work, `CancellationError` if the task is canceled, or the error of a shutdown.
    @inlinable
    package func value(
        for key: Key, ticket: CoalescerTicket = CoalescerTicket(), from source: CoalescerSource? = nil,
        isCancelable: Bool = false, within task: SharedTask? = nil, priority: AdjustablePriority,
        onUpdate: Report? = nil, isImmediate: Bool = true,
        onBegin: (AdjustablePriority) -> Void = { _ in }, _ body: @escaping PrioritizedBody
    ) async throws -> Value {
        try Task.checkCancellation()
        let observer = priority.observe { priority in
            self.state.withLock { $0.reprioritize(id: ticket.id) { priority.value } }?.make()
        }
        defer {
            priority.removeObserver(observer)
            order.didResume()
        }
        if let task {
            let outcome = Outcome<Value>()
            let waiter = State.Waiter(onUpdate: onUpdate, source: source, body: body, complete: outcome.set)
            task.beginInner { self.leave(ticket) }
            if let start = join(key, ticket.id, waiter, within: task, { priority.value }, onBegin) {
                // The outer work may have lost its last waiter before this one joined.
                if task.isAbandoned { leave(ticket) }
                await run(start, body)
                task.endInner()
                return try outcome.value()
            }
            task.endInner()
            return try await withTaskCancellationHandler {
                try await outcome.wait()
            } onCancel: {
                leave(ticket)
            }
        }
        return try await withTaskCancellationHandler {
            // The continuation is resumed exactly once, because each waiter receives exactly one outcome.
            try await withUnsafeThrowingContinuation { continuation in
                let waiter = State.Waiter(
                    onUpdate: onUpdate, source: source, isCancelable: isCancelable, body: body
                ) {
                    self.order.willResume()
                    continuation.resume(with: $0)
                }
                if let start = join(key, ticket.id, waiter, { priority.value }, onBegin) {
                    begin(start, body, isImmediate)
                }
                // A cancellation before the join found no waiter to remove.
                if Task.isCancelled { leave(ticket) }
            }
        } onCancel: {
            leave(ticket)
        }
    }

    /// Starts `body`, or joins equal work that is in progress, for callers outside of a task.
    ///
    /// - Parameters:
    ///   - key: The key that equal work shares.
    ///   - ticket: The ticket of this waiter, with which it can leave or change its priority.
    ///   - priority: The priority of the work for this waiter.
    ///   - onUpdate: Called with each update of the work; nil for none.
    ///   - onBegin: Called as for ``value(for:ticket:from:priority:onUpdate:isImmediate:onBegin:_:)``.
    ///   - body: The work.
    ///   - completion: Called once with the outcome, from any thread, possibly before this method returns.
    @inlinable
    package func join(
        _ key: Key, ticket: CoalescerTicket, priority: Int, onUpdate: Report?,
        onBegin: (AdjustablePriority) -> Void, _ body: @escaping PrioritizedBody,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let waiter = State.Waiter(onUpdate: onUpdate, body: body, complete: completion)
        if let start = join(key, ticket.id, waiter, { priority }, onBegin) { begin(start, body, false) }
    }

    /// Completes a waiter with `CancellationError`. Does nothing if it has received its outcome, or is unknown.
    @inlinable
    package func leave(_ ticket: CoalescerTicket) { leave(ticket.id) }

    @inlinable
    func leave(_ id: Int) {
        guard let removal = state.withLock({ $0.leave(id: id) }) else { return }
        removal.waiter.complete(.failure(CancellationError()))
        removal.abandonedTask?.abandon()
        removal.priorityChange?.make()
    }

    /// Changes the priority of a waiter. Does nothing if it has received its outcome, or is unknown.
    package func setPriority(_ priority: Int, of ticket: CoalescerTicket) {
        state.withLock { $0.reprioritize(id: ticket.id) { priority } }?.make()
    }

    /// The number of pieces of work that have not ended, including those without waiters.
    package var runningCount: Int { state.withLock { $0.runningCount } }

    /// The number of callers that wait.
    package var waiterCount: Int { state.withLock { $0.waiterCount } }

    /// The number of callers that wait for a key.
    package func waiterCount(for key: Key) -> Int { state.withLock { $0.waiterCount(key) } }

    /// The number of callers that ``cancel(where:)`` can cancel.
    package var cancelableCount: Int { state.withLock { $0.cancelableWaiters { _ in true }.count } }

    /// Cancels the cancelable waiters with a source that satisfies a condition. They receive `CancellationError`.
    ///
    /// - Parameter isIncluded: The condition, which is evaluated under the lock.
    package func cancel(where isIncluded: (CoalescerSource) -> Bool) {
        for id in state.withLock({ $0.cancelableWaiters(where: isIncluded) }) { leave(id) }
    }

    /// Cancels all work. Present waiters receive `error`.
    package func cancelAll(throwing error: any Error) { end(state.withLock { $0.removeAll() }, error) }

    /// Cancels all work. Present and future waiters receive `error`. Returns when the work has ended.
    package func shutDown(throwing error: any Error) async {
        let ended = state.withLock { $0.shutDown(error) }
        end(ended, error)
        await withCheckedContinuation { continuation in
            if !state.withLock({ $0.observeEnd(continuation) }) { continuation.resume() }
        }
    }

    private func end(_ ended: (waiters: [State.Waiter], tasks: [SharedTask]), _ error: any Error) {
        for task in ended.tasks { task.cancel() }
        for waiter in ended.waiters { waiter.complete(.failure(error)) }
    }

    /// Adds a waiter. Returns the work that it must begin; nil if there is none.
    @inlinable
    func join(
        _ key: Key, _ id: Int, _ waiter: State.Waiter, within task: SharedTask? = nil, _ priority: () -> Int,
        _ onBegin: (AdjustablePriority) -> Void
    ) -> State.Start? {
        let (start, change, end) = state.withLock { state in
            if let end = state.end { return (nil as State.Start?, nil as State.PriorityChange?, end as (any Error)?) }
            let (start, change) = state.join(key, id: id, waiter: waiter, within: task, priority: priority)
            return (start, change, nil)
        }
        if let end { waiter.complete(.failure(end)) }
        change?.make()
        if let start { onBegin(start.priority) }
        return start
    }

    /// Begins the work of a flight in a task of its own.
    @inlinable
    func begin(_ start: State.Start, _ body: @escaping PrioritizedBody, _ isImmediate: Bool) {
        let operation = { @Sendable () async in await self.run(start, body) }
        let task =
            isImmediate && taskExecutor == nil
            ? Task.immediate(operation: operation) : Task(executorPreference: taskExecutor, operation: operation)
        start.task.begin(task)
    }

    /// Runs an attempt of a flight, and begins the next one if the outcome is not for all who remain.
    @inlinable
    func run(_ start: State.Start, _ body: @escaping PrioritizedBody) async {
        let flight = start.flight
        let report: Report = { update in
            for listener in self.state.withLock({ $0.listeners(flight) }) { listener(update) }
        }
        let outcome: Result<Value, any Error>
        var audience = State.Audience.everyone
        do {
            outcome = .success(try await body(report, start.priority, start.task))
        } catch {
            outcome = .failure(error)
            if isOfSource(error) { audience = .source }
        }
        if isOfOwner(outcome) { audience = .owner }
        let completion = state.withLock { $0.finish(flight, for: audience) }
        completion.priorityChange?.make()
        for waiter in completion.waiters { waiter.complete(outcome) }
        for observer in completion.ended { observer.resume() }
        if let next = completion.next, let task = completion.nextTask {
            begin((flight, start.priority, task), next, false)
        }
    }
}

/// The outcome of a wait, which one task may receive before or after it arrives.
@usableFromInline
final class Outcome<Value: Sendable>: Sendable {
    @usableFromInline
    struct State: Sendable {
        @usableFromInline var outcome: Result<Value, any Error>?
        @usableFromInline var continuation: UnsafeContinuation<Value, any Error>?

        @inlinable
        init() {}
    }

    @usableFromInline let state = Locked(State())
    @usableFromInline let order = ResumptionOrder()

    @inlinable
    init() {}

    @inlinable
    func set(_ outcome: Result<Value, any Error>) {
        order.willResume()
        let continuation = state.withLock { state in
            state.outcome = outcome
            return state.continuation
        }
        continuation?.resume(with: outcome)
    }

    /// Returns the outcome of a wait that has ended.
    @inlinable
    func value() throws -> Value {
        guard let outcome = state.withLock({ $0.outcome }) else { throw CancellationError() }
        return try outcome.get()
    }

    @inlinable
    func wait() async throws -> Value {
        defer { order.didResume() }
        return try await withUnsafeThrowingContinuation { continuation in
            let outcome = state.withLock { state in
                state.continuation = continuation
                return state.outcome
            }
            if let outcome { continuation.resume(with: outcome) }
        }
    }
}

/// The number of one waiter of a ``Coalescer``. It is unique in the process, and later ones are greater.
@usableFromInline
package struct CoalescerTicket: Hashable, Sendable {
    private static let lastID = Atomic(0)

    @usableFromInline package let id: Int

    /// Creates a ticket that equals no other.
    @usableFromInline
    package init() { id = Self.lastID.add(1, ordering: .relaxed).newValue }
}
