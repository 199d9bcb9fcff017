/// Who holds how many bytes of a ``ByteBudget``, and who waits. Decides only: the budget acts outside its lock.
struct ByteBudgetState: Sendable {
    struct Waiter: Sendable {
        var id: Int
        var byteCount: Int
        /// Called once, with an error or with none. Not under the lock.
        var resume: @Sendable (Result<Void, any Error>) -> Void
    }

    let limit: Int
    /// Bytes held. Above the limit only while a single reservation holds them, or when they were overdrawn.
    private(set) var reserved = 0
    /// Reservations held.
    private(set) var reservationCount = 0
    private var waiting = WaiterQueue<Waiter>()
    private var lastID = 0

    /// - Parameter limit: Below nought counts as nought: every reservation then goes alone.
    init(limit: Int) { self.limit = max(0, limit) }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    /// Takes the bytes if they are free and nobody waits who is as urgent or more so.
    mutating func tryReserve(_ byteCount: Int, priority: Int) -> Bool {
        if let first = waiting.first(), first.priority >= priority { return false }
        guard fits(byteCount) else { return false }
        reserve(byteCount)
        return true
    }

    /// Takes the bytes whether they are free or not.
    mutating func reserveUnconditionally(_ byteCount: Int) { reserve(byteCount) }

    mutating func wait(_ waiter: Waiter, priority: Int) {
        waiting.add(waiter.id, waiter, priority: priority)
    }

    /// Gives one who waits another priority. Returns those who have their bytes because of it.
    mutating func setPriority(_ priority: Int, of id: Int) -> [Waiter] {
        waiting.move(id, to: priority) ? admit() : []
    }

    /// Gives bytes back. Returns those who have theirs now.
    mutating func release(_ byteCount: Int) -> [Waiter] {
        reserved -= byteCount
        reservationCount -= 1
        return admit()
    }

    /// Removes one who still waits, nil when there is none such, and says who has their bytes because of it.
    mutating func remove(_ id: Int) -> (removed: Waiter, admitted: [Waiter])? {
        guard let waiter = waiting.remove(id) else { return nil }
        return (waiter, admit())
    }

    /// Lets in the more urgent first, equals in the order they came. Who does not fit holds up all behind, or the small
    /// would keep the large waiting for ever.
    private mutating func admit() -> [Waiter] {
        var admitted: [Waiter] = []
        while let first = waiting.first()?.element, fits(first.byteCount), waiting.remove(first.id) != nil {
            reserve(first.byteCount)
            admitted.append(first)
        }
        return admitted
    }

    private func fits(_ byteCount: Int) -> Bool { reservationCount == 0 || byteCount <= limit - reserved }

    private mutating func reserve(_ byteCount: Int) {
        reserved += byteCount
        reservationCount += 1
    }
}
