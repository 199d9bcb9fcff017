/// The state of a coalescer: the waiters of each piece of shared work, by its key. It only makes decisions: it neither
/// suspends nor calls other components.
struct CoalescerState<Key: Hashable & Sendable, Update: Sendable, Value: Sendable>: Sendable {
    typealias Body =
        @Sendable (
            _ report: @escaping @Sendable (Update) -> Void, _ priority: AdjustablePriority, _ task: SharedTask
        ) async throws -> Value

    struct Waiter: Sendable {
        var onUpdate: (@Sendable (Update) -> Void)?
        /// The source that the waiter's own work uses; nil if it uses none.
        var source: CoalescerSource?
        /// Whether the waiter can be canceled by its source.
        var isCancelable = false
        var body: Body
        /// Receives the outcome, once.
        var complete: @Sendable (Result<Value, any Error>) -> Void
        var priority = 0
        var flight = 0
    }

    /// Work to start.
    struct Start: Sendable {
        var flight: Int
        var priority: AdjustablePriority
        var task: SharedTask
    }

    /// The result of ending an attempt, for the coalescer to act on.
    struct Completion: Sendable {
        /// The waiters that receive the outcome, in the order of arrival.
        var waiters: [Waiter] = []
        /// The work of the next attempt, for the remaining waiters; nil if there are none.
        var next: Body?
        /// The task of the next attempt.
        var nextTask: SharedTask?
        var priorityChange: PriorityChange?
        /// The callers of a shutdown that waited for this work as the last.
        var ended: [CheckedContinuation<Void, Never>] = []
    }

    /// A new priority for a piece of work. Changes are numbered, because they are applied outside the lock.
    struct PriorityChange: Sendable {
        var priority: AdjustablePriority
        var value: Int
        var version: Int

        func make() { priority.set(value, version: version) }
    }

    struct Removal: Sendable {
        var waiter: Waiter
        /// The task of the work if no waiter is left.
        var abandonedTask: SharedTask?
        var priorityChange: PriorityChange?
    }

    /// A piece of shared work that has not ended: one or more attempts, each with the body of one waiter. Waiters can
    /// join it as long as it has waiters.
    private struct Flight: Sendable {
        let key: Key
        let priority: AdjustablePriority
        /// The source of the attempt in progress.
        var source: CoalescerSource?
        /// The number and the priority of the waiter that began the work; nil after it has left. Most work has no other
        /// waiters.
        var first: (id: Int, priority: Int)?
        /// The numbers of the waiters that joined later.
        var others: Set<Int> = []
        /// The number of these waiters with each priority.
        var counts: [Int: Int] = [:]
        var version = 0
        /// The task of the attempt in progress.
        var task: SharedTask

        var isAbandoned: Bool { first == nil && others.isEmpty }

        /// The numbers of the waiters in the order of arrival.
        var waiters: [Int] { (first.map { [$0.id] } ?? []) + (others.isEmpty ? [] : others.sorted()) }

        mutating func add(_ id: Int, priority: Int) {
            others.insert(id)
            counts[priority, default: 0] += 1
        }

        mutating func remove(_ id: Int, priority: Int) {
            if first?.id == id { return first = nil }
            guard others.remove(id) != nil else { return }
            let count = (counts[priority] ?? 0) - 1
            counts[priority] = count > 0 ? count : nil
        }

        /// Returns a change to the highest priority of the waiters; nil if there are none.
        mutating func priorityChange() -> PriorityChange? {
            guard let highest = [first?.priority, counts.keys.max()].compactMap(\.self).max() else { return nil }
            version += 1
            return PriorityChange(priority: priority, value: highest, version: version)
        }
    }

    /// The waiters that an outcome concerns.
    enum Audience: Sendable {
        case everyone
        /// The waiters with the source of the attempt.
        case source
        /// The waiters with the source of the attempt and its owner.
        case owner

        fileprivate func includes(_ waiter: CoalescerSource?, of attempt: CoalescerSource?) -> Bool {
            switch self {
            case .everyone: true
            case .source: waiter?.identity == attempt?.identity
            case .owner: waiter == attempt
            }
        }
    }

    /// The numbers of the flights that waiters can join.
    private var open: [Key: Int] = [:]
    private var flights: [Int: Flight] = [:]
    private var waiters: [Int: Waiter] = [:]
    private var lastFlight = 0
    /// The error that all waiters receive after a shutdown.
    private(set) var end: (any Error)?
    /// The callers of a shutdown.
    private var observersOfEnd: [CheckedContinuation<Void, Never>] = []

    var runningCount: Int { flights.count }
    var waiterCount: Int { waiters.count }

    /// Returns the numbers of the waiters that can be canceled by a source that satisfies a condition.
    func cancelableWaiters(where isIncluded: (CoalescerSource) -> Bool) -> [Int] {
        waiters.filter { $0.value.isCancelable && $0.value.source.map(isIncluded) == true }.map(\.key)
    }

    func waiterCount(_ key: Key) -> Int { open[key].flatMap { flights[$0] }?.waiters.count ?? 0 }

    /// Adds a waiter to the flight of its key, and reads its priority under the lock. Returns a new flight if the
    /// caller must start the work, in the given task or one of its own; otherwise returns the change of the work's
    /// priority.
    mutating func join(
        _ key: Key, id: Int, waiter: Waiter, within task: SharedTask? = nil, priority: () -> Int
    ) -> (start: Start?, change: PriorityChange?) {
        var waiter = waiter
        waiter.priority = priority()
        if let known = open[key] {
            waiter.flight = known
            waiters[id] = waiter
            flights[known]?.add(id, priority: waiter.priority)
            return (nil, flights[known]?.priorityChange())
        }
        lastFlight += 1
        waiter.flight = lastFlight
        waiters[id] = waiter
        open[key] = lastFlight
        let flight = Flight(
            key: key, priority: AdjustablePriority(waiter.priority), source: waiter.source,
            first: (id, waiter.priority), task: SharedTask(within: task))
        flights[lastFlight] = flight
        return (Start(flight: lastFlight, priority: flight.priority, task: flight.task), nil)
    }

    /// Updates the priority of a waiter, and reads it under the lock. Returns nil if the waiter has left.
    mutating func reprioritize(id: Int, to priority: () -> Int) -> PriorityChange? {
        guard let waiter = waiters[id] else { return nil }
        let new = priority()
        waiters[id]?.priority = new
        if flights[waiter.flight]?.first?.id == id {
            flights[waiter.flight]?.first?.priority = new
        } else {
            flights[waiter.flight]?.remove(id, priority: waiter.priority)
            flights[waiter.flight]?.add(id, priority: new)
        }
        return flights[waiter.flight]?.priorityChange()
    }

    /// Removes a waiter. Returns nil if it has left or has received its outcome.
    mutating func leave(id: Int) -> Removal? {
        guard let waiter = remove(id) else { return nil }
        guard let flight = flights[waiter.flight], flight.isAbandoned else {
            return Removal(waiter: waiter, priorityChange: flights[waiter.flight]?.priorityChange())
        }
        open[flight.key] = nil
        return Removal(waiter: waiter, abandonedTask: flight.task)
    }

    func listeners(_ flight: Int) -> [@Sendable (Update) -> Void] {
        // A key path of a generic type would be created again by each call, which takes longer than all the rest.
        flights[flight]?.waiters.compactMap { waiters[$0]?.onUpdate } ?? []
    }

    /// Ends an attempt, and also its flight unless there is a next attempt. Returns an empty completion if the flight
    /// has been abandoned. Waiters that the outcome does not concern remain, and the work of the first of them is the
    /// next attempt.
    mutating func finish(_ flight: Int, for audience: Audience = .everyone) -> Completion {
        var completion = Completion()
        guard let found = flights[flight] else { return completion }
        var source: CoalescerSource?
        for id in found.waiters {
            guard let waiter = waiters[id] else { continue }
            if audience.includes(waiter.source, of: found.source) {
                completion.waiters.append(waiter)
                _ = remove(id)
            } else if completion.next == nil {
                (completion.next, source) = (waiter.body, waiter.source)
            }
        }
        if completion.next != nil {
            // The first waiter, in whose task an attempt may run, has its outcome.
            let task = SharedTask()
            flights[flight]?.source = source
            flights[flight]?.task = task
            completion.nextTask = task
            completion.priorityChange = flights[flight]?.priorityChange()
        } else {
            // The key of abandoned work may be that of other work by now.
            if !found.isAbandoned { open[found.key] = nil }
            flights[flight] = nil
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
        open = [:]
        return (waiters.keys.sorted().compactMap { remove($0) }, flights.values.map { $0.task })
    }

    /// Ends all flights permanently, as ``removeAll()`` does. Later waiters receive the error.
    mutating func shutDown(_ error: any Error) -> (waiters: [Waiter], tasks: [SharedTask]) {
        end = error
        return removeAll()
    }

    private mutating func remove(_ id: Int) -> Waiter? {
        guard let waiter = waiters.removeValue(forKey: id) else { return nil }
        flights[waiter.flight]?.remove(id, priority: waiter.priority)
        return waiter
    }

    /// Returns the callers of a shutdown if no work is left.
    private mutating func takeObserversOfEnd() -> [CheckedContinuation<Void, Never>] {
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
package struct CoalescerSource: Equatable, Sendable {
    /// A value of any type, compared with others.
    package struct Identity: Equatable, Sendable {
        package let value: any Hashable & Sendable

        init(_ value: some Hashable & Sendable) { self.value = value }

        package static func == (a: Self, b: Self) -> Bool { AnyHashable(a.value) == AnyHashable(b.value) }
    }

    package let identity: Identity
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
