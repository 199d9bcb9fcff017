/// Who waits for which work, and how urgently. Decides only: never awaits, never calls out.
struct CoalescerState<Work: Hashable & Sendable, Update: Sendable, Value: Sendable>: Sendable {
    typealias Body =
        @Sendable (_ report: @escaping @Sendable (Update) -> Void, _ priority: AdjustablePriority) async throws -> Value

    struct Waiter: Sendable {
        var continuation: CheckedContinuation<Value, any Error>
        var onUpdate: (@Sendable (Update) -> Void)?
        /// The source that its own work asks; nil where the work asks none.
        var source: CoalescerSource?
        var body: Body
    }

    /// Work that begins.
    struct Start: Sendable {
        var flight: Int
        var priority: AdjustablePriority
    }

    /// The end of an attempt.
    struct Landing: Sendable {
        /// The waiters that get its outcome, in the order they came.
        var waiters: [Waiter] = []
        /// The next attempt, for the waiters that are left.
        var next: Body?
        var priorityChange: PriorityChange?
    }

    /// What the priority of some work is to become. Changes are numbered, because they are made outside the lock.
    struct PriorityChange: Sendable {
        var priority: AdjustablePriority
        var value: Int
        var version: Int

        func make() { priority.set(value, version: version) }
    }

    struct Departure: Sendable {
        var waiter: Waiter
        /// The work, when nobody waits for it any more.
        var abandonedTask: Task<Void, Never>?
        var priorityChange: PriorityChange?
    }

    private struct Seat: Sendable {
        var waiter: Waiter
        var priority: Int
    }

    private struct Flight: Sendable {
        var id: Int
        let priority: AdjustablePriority
        /// The source of the attempt that runs.
        var source: CoalescerSource?
        /// By the numbers of those who wait, which grow.
        var seats: [Int: Seat] = [:]
        /// How many wait at each priority.
        var counts: [Int: Int] = [:]
        var version = 0

        init(id: Int, source: CoalescerSource?, priority: Int) {
            self.id = id
            self.source = source
            self.priority = AdjustablePriority(priority)
        }

        mutating func add(_ id: Int, _ seat: Seat) {
            seats[id] = seat
            counts[seat.priority, default: 0] += 1
        }

        mutating func remove(_ id: Int) -> Seat? {
            guard let seat = seats.removeValue(forKey: id) else { return nil }
            let count = (counts[seat.priority] ?? 0) - 1
            counts[seat.priority] = count > 0 ? count : nil
            return seat
        }

        /// The priority of the most urgent.
        mutating func priorityChange() -> PriorityChange? {
            guard let highest = counts.keys.max() else { return nil }
            version += 1
            return PriorityChange(priority: priority, value: highest, version: version)
        }
    }

    /// Work that has not ended, whether anybody waits for it or not. Its task is known a little later.
    private struct Running: Sendable {
        var task: Task<Void, Never>?
    }

    private var flights: [Work: Flight] = [:]
    /// By the numbers of their flights.
    private var running: [Int: Running] = [:]
    private var lastID = 0
    /// What everyone gets who comes from then on.
    private(set) var end: (any Error)?

    var runningCount: Int { running.count }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    /// Adds a waiter, whose priority is asked for here, under the lock. Returns a new flight when the caller has to start
    /// the work, and else how its priority changes.
    mutating func join(
        _ work: Work, id: Int, waiter: Waiter, priority: () -> Int
    ) -> (start: Start?, change: PriorityChange?) {
        let priority = priority()
        guard flights[work] == nil else {
            flights[work]?.add(id, Seat(waiter: waiter, priority: priority))
            return (nil, flights[work]?.priorityChange())
        }
        var flight = Flight(id: makeID(), source: waiter.source, priority: priority)
        flight.add(id, Seat(waiter: waiter, priority: priority))
        flights[work] = flight
        running[flight.id] = Running()
        return (Start(flight: flight.id, priority: flight.priority), nil)
    }

    /// Remembers the task of a flight. Returns true when everyone has left already.
    mutating func started(_ work: Work, flight: Int, task: Task<Void, Never>) -> Bool {
        running[flight]?.task = task
        guard flights[work]?.id == flight else { return true }
        return false
    }

    /// Takes a waiter's new priority over, which is asked for here, under the lock; nil when it has gone.
    mutating func reprioritize(_ work: Work, id: Int, to priority: () -> Int) -> PriorityChange? {
        guard let seat = flights[work]?.remove(id) else { return nil }
        flights[work]?.add(id, Seat(waiter: seat.waiter, priority: priority()))
        return flights[work]?.priorityChange()
    }

    /// Removes a waiter; nil when it has gone or has its outcome.
    mutating func leave(_ work: Work, id: Int) -> Departure? {
        guard let seat = flights[work]?.remove(id) else { return nil }
        guard flights[work]?.seats.isEmpty == true else {
            return Departure(waiter: seat.waiter, priorityChange: flights[work]?.priorityChange())
        }
        let abandoned = flights.removeValue(forKey: work).flatMap { running[$0.id]?.task }
        return Departure(waiter: seat.waiter, abandonedTask: abandoned)
    }

    func listeners(_ work: Work, flight: Int) -> [@Sendable (Update) -> Void] {
        guard let found = flights[work], found.id == flight else { return [] }
        return found.seats.values.compactMap { $0.waiter.onUpdate }
    }

    /// Ends an attempt, and with it the flight, unless other waiters have work of their own to try. An abandoned flight
    /// has no waiters.
    ///
    /// - Parameter isOfSource: Whether the attempt failed because of the source that it asked. Waiters with another
    ///   source then stay, and the work of the first of them is the next attempt.
    mutating func finish(_ work: Work, flight: Int, isOfSource: Bool = false) -> Landing {
        guard let found = flights[work], found.id == flight else {
            running[flight] = nil
            return Landing()
        }
        var landing = Landing()
        var source: CoalescerSource?
        for (id, seat) in found.seats.sorted(by: { $0.key < $1.key }) {
            if isOfSource, seat.waiter.source != found.source {
                guard landing.next == nil else { continue }
                (landing.next, source) = (seat.waiter.body, seat.waiter.source)
            } else {
                landing.waiters.append(seat.waiter)
                _ = flights[work]?.remove(id)
            }
        }
        if landing.next != nil {
            flights[work]?.source = source
            landing.priorityChange = flights[work]?.priorityChange()
        } else {
            running[flight] = nil
            flights[work] = nil
        }
        return landing
    }

    /// Ends all flights, for good. Returns who waited, and the work that goes on, what was abandoned earlier with it.
    mutating func shutDown(_ error: any Error) -> (waiters: [Waiter], tasks: [Task<Void, Never>]) {
        end = error
        defer { flights = [:] }
        let seats = flights.values.flatMap { Array($0.seats) }.sorted { $0.key < $1.key }
        return (seats.map { $0.value.waiter }, running.values.compactMap(\.task))
    }
}
