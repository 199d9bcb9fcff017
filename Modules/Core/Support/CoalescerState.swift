/// Who waits for which work. Decides only: never awaits, never calls out.
struct CoalescerState<Key: Hashable & Sendable, Update: Sendable, Value: Sendable>: Sendable {
    struct Waiter: Sendable {
        var continuation: CheckedContinuation<Value, any Error>
        var onUpdate: (@Sendable (Update) -> Void)?
    }

    struct Departure: Sendable {
        var waiter: Waiter
        /// The work, when nobody waits for it any more.
        var abandonedTask: Task<Void, Never>?
    }

    private struct Flight: Sendable {
        var id: Int
        var waiters: [(id: Int, waiter: Waiter)]
        var task: Task<Void, Never>?
    }

    private var flights: [Key: Flight] = [:]
    private var lastID = 0

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    /// Adds a waiter. Returns the number of a new flight when the caller has to start the work.
    mutating func join(_ key: Key, id: Int, waiter: Waiter) -> Int? {
        guard flights[key] == nil else {
            flights[key]?.waiters.append((id, waiter))
            return nil
        }
        let flight = makeID()
        flights[key] = Flight(id: flight, waiters: [(id, waiter)])
        return flight
    }

    /// Remembers the task of a flight. Returns true when everyone has left already.
    mutating func started(_ key: Key, flight: Int, task: Task<Void, Never>) -> Bool {
        guard flights[key]?.id == flight else { return true }
        flights[key]?.task = task
        return false
    }

    /// Removes a waiter; nil when it has gone or has its outcome.
    mutating func leave(_ key: Key, id: Int) -> Departure? {
        guard var flight = flights[key], let index = flight.waiters.firstIndex(where: { $0.id == id }) else {
            return nil
        }
        let waiter = flight.waiters.remove(at: index).waiter
        guard flight.waiters.isEmpty else {
            flights[key] = flight
            return Departure(waiter: waiter)
        }
        flights[key] = nil
        return Departure(waiter: waiter, abandonedTask: flight.task)
    }

    func listeners(_ key: Key, flight: Int) -> [@Sendable (Update) -> Void] {
        guard let found = flights[key], found.id == flight else { return [] }
        return found.waiters.compactMap(\.waiter.onUpdate)
    }

    /// Ends a flight and returns who waited for it; nobody when it was abandoned.
    mutating func finish(_ key: Key, flight: Int) -> [Waiter] {
        guard let found = flights[key], found.id == flight else { return [] }
        flights[key] = nil
        return found.waiters.map(\.waiter)
    }
}
