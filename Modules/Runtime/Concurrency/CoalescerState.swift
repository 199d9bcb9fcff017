/// The state of a coalescer: the waiters of each piece of shared work, by its key. It only makes decisions: it neither
/// suspends nor calls other components.
struct CoalescerState<Key: Hashable & Sendable, Update: Sendable, Value: Sendable>: Sendable {
    typealias Body =
        @Sendable (_ report: @escaping @Sendable (Update) -> Void, _ priority: AdjustablePriority) async throws -> Value

    struct Waiter: Sendable {
        var continuation: CheckedContinuation<Value, any Error>
        var onUpdate: (@Sendable (Update) -> Void)?
        /// The source that the waiter's own work uses; nil if it uses none.
        var source: CoalescerSource?
        /// Whether the waiter can be canceled by its source.
        var isCancelable = false
        var body: Body
        var priority = 0
    }

    /// Work to start.
    struct Start: Sendable {
        var flight: Int
        var priority: AdjustablePriority
    }

    /// The result of ending an attempt, for the coalescer to act on.
    struct Completion: Sendable {
        /// The waiters that receive the outcome, in the order of arrival.
        var waiters: [Waiter] = []
        /// The work of the next attempt, for the remaining waiters; nil if there are none.
        var next: Body?
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
        var abandonedTask: Task<Void, Never>?
        var priorityChange: PriorityChange?
    }

    /// A piece of shared work that waiters can join: one or more attempts, each with the body of one waiter.
    private struct Flight: Sendable {
        var id: Int
        let priority: AdjustablePriority
        /// The source of the attempt in progress.
        var source: CoalescerSource?
        /// The waiters by their increasing numbers.
        var waiters: [Int: Waiter] = [:]
        /// The number of waiters of each priority.
        var counts: [Int: Int] = [:]
        var version = 0

        init(id: Int, source: CoalescerSource?, priority: Int) {
            self.id = id
            self.source = source
            self.priority = AdjustablePriority(priority)
        }

        mutating func add(_ id: Int, _ waiter: Waiter) {
            waiters[id] = waiter
            counts[waiter.priority, default: 0] += 1
        }

        mutating func remove(_ id: Int) -> Waiter? {
            guard let waiter = waiters.removeValue(forKey: id) else { return nil }
            let count = (counts[waiter.priority] ?? 0) - 1
            counts[waiter.priority] = count > 0 ? count : nil
            return waiter
        }

        /// The waiters in the order of arrival. A single waiter, the most frequent case, is not sorted.
        var waitersInOrder: [(key: Int, value: Waiter)] {
            waiters.count > 1 ? waiters.sorted { $0.key < $1.key } : Array(waiters)
        }

        /// Returns a change to the highest priority of the waiters; nil if there are none.
        mutating func priorityChange() -> PriorityChange? {
            guard let highest = counts.keys.max() else { return nil }
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

    /// Work that has not ended, with or without waiters. Its task is set shortly after it starts.
    private struct Running: Sendable {
        var task: Task<Void, Never>?
    }

    private var flights: [Key: Flight] = [:]
    /// The work that has not ended, by the number of its flight.
    private var running: [Int: Running] = [:]
    private var lastID = 0
    /// The error that all waiters receive after a shutdown.
    private(set) var end: (any Error)?
    /// The callers of a shutdown.
    private var observersOfEnd: [CheckedContinuation<Void, Never>] = []

    var runningCount: Int { running.count }

    /// Returns the keys and numbers of the waiters that can be canceled by a source that satisfies a condition.
    func cancelableWaiters(where isIncluded: (CoalescerSource) -> Bool) -> [(key: Key, id: Int)] {
        flights.flatMap { key, flight in
            flight.waiters.filter { $0.value.isCancelable && $0.value.source.map(isIncluded) == true }
                .map { (key, $0.key) }
        }
    }

    func waiterCount(_ key: Key) -> Int { flights[key]?.waiters.count ?? 0 }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    /// Adds a waiter to the flight of its key, and reads its priority under the lock. Returns a new flight if the
    /// caller must start the work; otherwise returns the change of the work's priority.
    mutating func join(
        _ key: Key, id: Int, waiter: Waiter, priority: () -> Int
    ) -> (start: Start?, change: PriorityChange?) {
        var waiter = waiter
        waiter.priority = priority()
        guard flights[key] == nil else {
            flights[key]?.add(id, waiter)
            return (nil, flights[key]?.priorityChange())
        }
        var flight = Flight(id: makeID(), source: waiter.source, priority: waiter.priority)
        flight.add(id, waiter)
        flights[key] = flight
        running[flight.id] = Running()
        return (Start(flight: flight.id, priority: flight.priority), nil)
    }

    /// Records the task of a flight. Returns true if the flight has no waiters left or has ended. The caller must then
    /// cancel the task.
    mutating func started(_ key: Key, flight: Int, task: Task<Void, Never>) -> Bool {
        running[flight]?.task = task
        guard flights[key]?.id == flight else { return true }
        return false
    }

    /// Updates the priority of a waiter, and reads it under the lock. Returns nil if the waiter has left.
    mutating func reprioritize(_ key: Key, id: Int, to priority: () -> Int) -> PriorityChange? {
        guard var waiter = flights[key]?.remove(id) else { return nil }
        waiter.priority = priority()
        flights[key]?.add(id, waiter)
        return flights[key]?.priorityChange()
    }

    /// Removes a waiter. Returns nil if it has left or has received its outcome.
    mutating func leave(_ key: Key, id: Int) -> Removal? {
        guard let waiter = flights[key]?.remove(id) else { return nil }
        guard flights[key]?.waiters.isEmpty == true else {
            return Removal(waiter: waiter, priorityChange: flights[key]?.priorityChange())
        }
        let abandoned = flights.removeValue(forKey: key).flatMap { running[$0.id]?.task }
        return Removal(waiter: waiter, abandonedTask: abandoned)
    }

    func listeners(_ key: Key, flight: Int) -> [@Sendable (Update) -> Void] {
        guard let found = flights[key], found.id == flight else { return [] }
        // A key path of a generic type would be created again by each call, which takes longer than all the rest.
        return found.waiters.values.compactMap { $0.onUpdate }
    }

    /// Ends an attempt, and also its flight unless there is a next attempt. Returns an empty completion if the flight
    /// has been abandoned. Waiters that the outcome does not concern remain, and the work of the first of them is the
    /// next attempt.
    mutating func finish(_ key: Key, flight: Int, for audience: Audience = .everyone) -> Completion {
        guard let found = flights[key], found.id == flight else {
            return Completion(ended: remove(flight))
        }
        var completion = Completion()
        guard audience != .everyone else {
            flights[key] = nil
            completion.waiters = found.waitersInOrder.map { $0.value }
            completion.ended = remove(flight)
            return completion
        }
        var source: CoalescerSource?
        for (id, waiter) in found.waitersInOrder {
            if !audience.includes(waiter.source, of: found.source) {
                guard completion.next == nil else { continue }
                (completion.next, source) = (waiter.body, waiter.source)
            } else {
                completion.waiters.append(waiter)
                _ = flights[key]?.remove(id)
            }
        }
        if completion.next != nil {
            flights[key]?.source = source
            completion.priorityChange = flights[key]?.priorityChange()
        } else {
            flights[key] = nil
            completion.ended = remove(flight)
        }
        return completion
    }

    /// Removes work that has ended. Returns the callers of a shutdown if it was the last.
    private mutating func remove(_ flight: Int) -> [CheckedContinuation<Void, Never>] {
        running[flight] = nil
        guard running.isEmpty else { return [] }
        defer { observersOfEnd = [] }
        return observersOfEnd
    }

    /// Adds a caller of a shutdown. Returns false if all work has ended.
    mutating func observeEnd(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
        guard !running.isEmpty else { return false }
        observersOfEnd.append(continuation)
        return true
    }

    /// Ends all flights permanently. Returns the waiters and the tasks of all work in progress, including abandoned
    /// work.
    mutating func shutDown(_ error: any Error) -> (waiters: [Waiter], tasks: [Task<Void, Never>]) {
        end = error
        defer { flights = [:] }
        let waiters = flights.values.flatMap { Array($0.waiters) }.sorted { $0.key < $1.key }
        return (waiters.map(\.value), running.values.compactMap(\.task))
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
