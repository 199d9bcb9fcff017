/// The reservations and the waiters of a ``ByteBudget``. It only makes decisions; the budget acts on them outside its
/// lock.
struct ByteBudgetState: Sendable {
    struct Waiter: Sendable {
        var id: Int
        var byteCount: Int
        /// The group whose reservations take turns with those of others; nil for none.
        var group: String?
        /// Called once, outside the lock, with success or an error.
        var resume: @Sendable (Result<Void, any Error>) -> Void
    }

    let limit: Int
    /// The number of bytes reserved. It exceeds the limit only if a single reservation does, or after an unconditional
    /// reservation.
    private(set) var reserved = 0
    private(set) var reservationCount = 0
    private var waiting = TurnQueue<Waiter>()
    private var lastID = 0

    /// Creates a state without reservations. With a limit of zero or less, one reservation at a time is granted.
    init(limit: Int) { self.limit = max(0, limit) }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    /// Reserves the bytes if they fit and no waiter of the same or a higher priority goes first. Returns whether they
    /// are reserved. Waiters whose group has reservations do not go before a group that has none.
    mutating func tryReserve(_ byteCount: Int, priority: Int, group: String? = nil) -> Bool {
        guard !waiting.hasWaiter(before: priority, group: group), fits(byteCount) else { return false }
        waiting.begin(group)
        reserve(byteCount)
        return true
    }

    /// Reserves the bytes even if they do not fit.
    mutating func reserveUnconditionally(_ byteCount: Int, group: String? = nil) {
        waiting.begin(group)
        reserve(byteCount)
    }

    mutating func wait(_ waiter: Waiter, priority: Int) {
        waiting.add(waiter.id, waiter, priority: priority, group: waiter.group)
    }

    /// Changes the priority of a waiter. Returns the waiters whose reservations are granted as a result.
    mutating func setPriority(_ priority: Int, of id: Int) -> [Waiter] {
        waiting.move(id, to: priority) ? admit() : []
    }

    /// Releases bytes. Returns the waiters whose reservations are granted as a result.
    mutating func release(_ byteCount: Int, group: String? = nil) -> [Waiter] {
        reserved -= byteCount
        reservationCount -= 1
        waiting.end(group)
        return admit()
    }

    /// Removes a waiter. Returns it with the waiters whose reservations are granted as a result; nil if it is not in
    /// the queue.
    mutating func remove(_ id: Int) -> (removed: Waiter, admitted: [Waiter])? {
        guard let waiter = waiting.remove(id) else { return nil }
        return (waiter, admit())
    }

    /// Grants the reservations of the first waiters that fit, and returns these waiters. A waiter that does not fit
    /// blocks all waiters behind it. Otherwise, small reservations could delay a large one forever.
    private mutating func admit() -> [Waiter] {
        var admitted: [Waiter] = []
        while let first = waiting.first(), fits(first.byteCount), waiting.popFirst() != nil {
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
