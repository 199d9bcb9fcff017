/// Changes that have begun and not ended, wherever they run or wait, and who waits for them to end.
struct ChangesUnderWay: Sendable {
    typealias Waiter = CheckedContinuation<Void, Never>

    private var lastID = 0
    private var ids: Set<Int> = []
    private var waiters: [(lastID: Int, waiter: Waiter)] = []

    /// Returns the number of a change that begins, larger than all before it.
    mutating func begin() -> Int {
        lastID += 1
        ids.insert(lastID)
        return lastID
    }

    /// Returns those who have nothing to wait for any more when a change has ended.
    mutating func end(_ id: Int) -> [Waiter] {
        ids.remove(id)
        guard !waiters.isEmpty else { return [] }
        let first = ids.min() ?? .max
        let ready = waiters.filter { $0.lastID < first }
        waiters.removeAll { $0.lastID < first }
        return ready.map(\.waiter)
    }

    /// Lets somebody wait for the changes that have begun; there has to be one. What begins later does not keep him.
    mutating func add(_ waiter: Waiter) { waiters.append((lastID, waiter)) }

    var isEmpty: Bool { ids.isEmpty }
}
