/// The state of a coalescer: the waiters of each piece of shared work, by its key. It only makes decisions: it neither
/// suspends nor calls other components.
@usableFromInline
struct CoalescerState<Key: Hashable & Sendable, Update: Sendable, Value: Sendable>: Sendable {
    @usableFromInline
    typealias Body =
        @Sendable (
            _ report: @escaping @Sendable (Update) -> Void, _ priority: AdjustablePriority, _ task: SharedTask
        ) async throws -> Value

    @usableFromInline
    struct Waiter: Sendable {
        @usableFromInline var onUpdate: (@Sendable (Update) -> Void)?
        /// The source that the waiter's own work uses; nil if it uses none.
        @usableFromInline var source: CoalescerSource?
        /// Whether the waiter can be canceled by its source.
        @usableFromInline var isCancelable = false
        @usableFromInline var body: Body
        /// Receives the outcome, once.
        @usableFromInline var complete: @Sendable (Result<Value, any Error>) -> Void
        @usableFromInline var priority = 0

        @inlinable
        init(
            onUpdate: (@Sendable (Update) -> Void)? = nil, source: CoalescerSource? = nil, isCancelable: Bool = false,
            body: @escaping Body, complete: @escaping @Sendable (Result<Value, any Error>) -> Void
        ) {
            (self.onUpdate, self.source, self.isCancelable) = (onUpdate, source, isCancelable)
            (self.body, self.complete) = (body, complete)
        }
    }

    /// Work to start.
    @usableFromInline
    typealias Start = (flight: Int, priority: AdjustablePriority, task: SharedTask)

    /// The result of ending an attempt, for the coalescer to act on.
    @usableFromInline
    struct Completion: Sendable {
        /// The waiters that receive the outcome, in the order of arrival.
        @usableFromInline var waiters: [Waiter] = []
        /// The work of the next attempt, for the remaining waiters; nil if there are none.
        @usableFromInline var next: Body?
        /// The task of the next attempt.
        @usableFromInline var nextTask: SharedTask?
        @usableFromInline var priorityChange: PriorityChange?
        /// The callers of a shutdown that waited for this work as the last.
        @usableFromInline var ended: [CheckedContinuation<Void, Never>] = []

        @inlinable
        init() {}
    }

    /// A new priority for a piece of work. Changes are numbered, because they are applied outside the lock.
    @usableFromInline
    struct PriorityChange: Sendable {
        @usableFromInline var priority: AdjustablePriority
        @usableFromInline var value: Int
        @usableFromInline var version: Int

        @inlinable
        init(priority: AdjustablePriority, value: Int, version: Int) {
            (self.priority, self.value, self.version) = (priority, value, version)
        }

        @inlinable
        func make() { priority.set(value, version: version) }
    }

    /// A waiter that has left, and the task of the work if no waiter is left.
    @usableFromInline
    typealias Removal = (waiter: Waiter, abandonedTask: SharedTask?, priorityChange: PriorityChange?)

    /// A piece of shared work that has not ended: one or more attempts, each with the body of one waiter. Waiters can
    /// join it as long as it has waiters.
    @usableFromInline
    struct Flight: Sendable {
        @usableFromInline let key: Key
        @usableFromInline let priority: AdjustablePriority
        /// The source of the attempt in progress.
        @usableFromInline var source: CoalescerSource?
        /// The waiter that began the work; nil after it has left. Most work has no other waiters.
        @usableFromInline var first: Waiter?
        /// The waiters that joined later, by their numbers.
        @usableFromInline var others: [Int: Waiter] = [:]
        /// The number of these waiters with each priority.
        @usableFromInline var counts: [Int: Int] = [:]
        @usableFromInline var version = 0
        /// The task of the attempt in progress.
        @usableFromInline var task: SharedTask

        @inlinable
        init(key: Key, first: Waiter, task: SharedTask) {
            (self.key, self.first, self.task) = (key, first, task)
            (priority, source) = (AdjustablePriority(first.priority), first.source)
        }

        @inlinable var isAbandoned: Bool { first == nil && others.isEmpty }

        /// The waiters that joined later, in the order of arrival.
        @inlinable var later: [(key: Int, value: Waiter)] { others.isEmpty ? [] : others.sorted { $0.key < $1.key } }

        @inlinable
        mutating func add(_ id: Int, _ waiter: Waiter) {
            others[id] = waiter
            counts[waiter.priority, default: 0] += 1
        }

        @inlinable
        mutating func remove(_ id: Int) -> Waiter? {
            guard let waiter = others.removeValue(forKey: id) else { return nil }
            let count = (counts[waiter.priority] ?? 0) - 1
            counts[waiter.priority] = count > 0 ? count : nil
            return waiter
        }

        mutating func removeAll() { (first, others, counts) = (nil, [:], [:]) }

        /// Returns a change to the highest priority of the waiters; nil if there are none.
        @inlinable
        mutating func priorityChange() -> PriorityChange? {
            guard let highest = [first?.priority, counts.keys.max()].compactMap(\.self).max() else { return nil }
            version += 1
            return PriorityChange(priority: priority, value: highest, version: version)
        }
    }

    /// The waiters that an outcome concerns.
    @usableFromInline
    enum Audience: Sendable {
        case everyone
        /// The waiters with the source of the attempt.
        case source
        /// The waiters with the source of the attempt and its owner.
        case owner

        @inlinable
        func includes(_ waiter: CoalescerSource?, of attempt: CoalescerSource?) -> Bool {
            switch self {
            case .everyone: true
            case .source: waiter?.identity == attempt?.identity
            case .owner: waiter == attempt
            }
        }
    }

    /// The numbers of the flights that waiters can join.
    @usableFromInline var open: [Key: Int] = [:]
    /// The work that has not ended. A flight has the number of the waiter that began it.
    @usableFromInline var flights: [Int: Flight] = [:]
    /// The flights of the waiters that joined others.
    @usableFromInline var joined: [Int: Int] = [:]
    /// The error that all waiters receive after a shutdown.
    @usableFromInline var end: (any Error)?
    /// The callers of a shutdown.
    @usableFromInline var observersOfEnd: [CheckedContinuation<Void, Never>] = []

    @inlinable
    init() {}

    var runningCount: Int { flights.count }
    var waiterCount: Int { joined.count + flights.values.count { $0.first != nil } }

    /// Returns the numbers of the waiters that can be canceled by a source that satisfies a condition.
    func cancelableWaiters(where isIncluded: (CoalescerSource) -> Bool) -> [Int] {
        waiters().filter { $0.waiter.isCancelable && $0.waiter.source.map(isIncluded) == true }.map(\.id)
    }

    func waiterCount(_ key: Key) -> Int {
        guard let flight = open[key].flatMap({ flights[$0] }) else { return 0 }
        return flight.others.count + (flight.first == nil ? 0 : 1)
    }

    /// Adds a waiter to the flight of its key, and reads its priority under the lock. Returns a new flight if the
    /// caller must start the work, in the given task or one of its own; otherwise returns the change of the work's
    /// priority. A number is used for one waiter only.
    @inlinable
    mutating func join(
        _ key: Key, id: Int, waiter: Waiter, within task: SharedTask? = nil, priority: () -> Int
    ) -> (start: Start?, change: PriorityChange?) {
        var waiter = waiter
        waiter.priority = priority()
        if let known = open[key] {
            joined[id] = known
            flights[known]?.add(id, waiter)
            return (nil, flights[known]?.priorityChange())
        }
        let flight = Flight(key: key, first: waiter, task: SharedTask(within: task))
        open[key] = id
        flights[id] = flight
        return ((id, flight.priority, flight.task), nil)
    }

    /// Updates the priority of a waiter, and reads it under the lock. Returns nil if the waiter has left.
    @inlinable
    mutating func reprioritize(id: Int, to priority: () -> Int) -> PriorityChange? {
        let number = joined[id] ?? id
        if number != id, var waiter = flights[number]?.remove(id) {
            waiter.priority = priority()
            flights[number]?.add(id, waiter)
        } else if number == id, flights[id]?.first != nil {
            flights[id]?.first?.priority = priority()
        } else {
            return nil
        }
        return flights[number]?.priorityChange()
    }

    /// Removes a waiter. Returns nil if it has left or has received its outcome.
    @inlinable
    mutating func leave(id: Int) -> Removal? {
        let number = joined.removeValue(forKey: id) ?? id
        guard var flight = flights.removeValue(forKey: number) else { return nil }
        defer { flights[number] = flight }
        let waiter = number == id ? flight.first.take() : flight.remove(id)
        guard let waiter else { return nil }
        guard flight.isAbandoned else { return (waiter, nil, flight.priorityChange()) }
        open[flight.key] = nil
        return (waiter, flight.task, nil)
    }

    @inlinable
    func listeners(_ flight: Int) -> [@Sendable (Update) -> Void] {
        guard let found = flights[flight] else { return [] }
        let first = found.first?.onUpdate
        // A key path of a generic type would be created again by each call, which takes longer than all the rest.
        return (first.map { [$0] } ?? []) + found.later.compactMap { $0.value.onUpdate }
    }

    /// Ends an attempt, and also its flight unless there is a next attempt. Returns an empty completion if the flight
    /// has been abandoned. Waiters that the outcome does not concern remain, and the work of the first of them is the
    /// next attempt.
    @inlinable
    mutating func finish(_ flight: Int, for audience: Audience = .everyone) -> Completion {
        var completion = Completion()
        guard var found = flights.removeValue(forKey: flight) else { return completion }
        let isOpen = !found.isAbandoned
        let source = found.source
        var next: Waiter?
        func isDone(_ waiter: Waiter) -> Bool {
            guard audience.includes(waiter.source, of: source) else {
                next = next ?? waiter
                return false
            }
            completion.waiters.append(waiter)
            return true
        }
        if let first = found.first, isDone(first) { found.first = nil }
        for (id, waiter) in found.later where isDone(waiter) {
            _ = found.remove(id)
            joined[id] = nil
        }
        if let next {
            // The first waiter, in whose task an attempt may run, has its outcome.
            let task = SharedTask()
            (found.source, found.task) = (next.source, task)
            (completion.next, completion.nextTask) = (next.body, task)
            completion.priorityChange = found.priorityChange()
            flights[flight] = found
        } else {
            // The key of abandoned work may be that of other work by now.
            if isOpen { open[found.key] = nil }
            completion.ended = takeObserversOfEnd()
        }
        return completion
    }

    /// Adds a caller of a shutdown. Returns false if all work has ended.
    mutating func observeEnd(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
        guard !flights.isEmpty else { return false }
        observersOfEnd.append(continuation)
        return true
    }

    /// Removes all waiters. Returns them in the order of arrival, and the tasks of all work in progress, including
    /// abandoned work.
    mutating func removeAll() -> (waiters: [Waiter], tasks: [SharedTask]) {
        let removed = waiters().sorted { $0.id < $1.id }
        (open, joined) = ([:], [:])
        for number in flights.keys {
            flights[number]?.removeAll()
        }
        return (removed.map { $0.waiter }, flights.values.map { $0.task })
    }

    /// Ends all flights permanently, as ``removeAll()`` does. Later waiters receive the error.
    mutating func shutDown(_ error: any Error) -> (waiters: [Waiter], tasks: [SharedTask]) {
        end = error
        return removeAll()
    }

    private func waiters() -> [(id: Int, waiter: Waiter)] {
        flights.flatMap { number, flight in
            (flight.first.map { [(number, $0)] } ?? []) + flight.others.map { ($0.key, $0.value) }
        }
    }

    /// Returns the callers of a shutdown if no work is left.
    @inlinable
    mutating func takeObserversOfEnd() -> [CheckedContinuation<Void, Never>] {
        guard flights.isEmpty else { return [] }
        defer { observersOfEnd = [] }
        return observersOfEnd
    }
}

/// The identity of the source that a piece of work uses. Sources that may give different responses have different
/// identities.
///
/// Sources with equal identities may still lead to different responses if the work changes them while it runs. Their
/// owners then say who may receive the value.
@usableFromInline
package struct CoalescerSource: Equatable, Sendable {
    /// A value of any type, compared with others.
    @usableFromInline
    package struct Identity: Equatable, Sendable {
        package let value: any Hashable & Sendable

        init(_ value: some Hashable & Sendable) { self.value = value }

        @usableFromInline
        package static func == (a: Self, b: Self) -> Bool { AnyHashable(a.value) == AnyHashable(b.value) }
    }

    @usableFromInline package let identity: Identity
    private let owner: Identity?

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - identity: The identity.
    ///   - owner: The owner of changes that the work makes to the source; nil for none. Default: nil.
    package init(_ identity: some Hashable & Sendable, owner: (some Hashable & Sendable)? = Int?.none) {
        self.identity = Identity(identity)
        self.owner = owner.map { Identity($0) }
    }
}
