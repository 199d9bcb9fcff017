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
    private let groupShare: ByteBudget.GroupShare
    private var waiting: TurnQueue<Waiter>
    private var lastID = 0

    /// Creates a state without reservations. With a limit of zero or less, one reservation at a time is granted. By
    /// default, one group may use the whole budget.
    init(limit: Int, groupShare: ByteBudget.GroupShare = ByteBudget.GroupShare()) {
        self.limit = max(0, limit)
        self.groupShare = groupShare
        waiting = TurnQueue(groupLimit: groupShare.maxReservations)
    }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    /// Reserves the bytes if they fit and no waiter of the same or a higher priority goes first. Waiters whose group
    /// has reservations do not go before a group that has none. Returns the waiters whose reservations are granted as a
    /// result, or nil if the bytes are not reserved.
    mutating func tryReserve(_ byteCount: Int, priority: Int, group: String? = nil) -> [Waiter]? {
        guard !waiting.hasWaiter(before: priority, group: group), fits(byteCount, group) else { return nil }
        return reserveUnconditionally(byteCount, group: group)
    }

    /// Reserves the bytes even if they do not fit. Returns the waiters whose reservations are granted as a result: when
    /// the group had the first waiter, another group may now go first.
    mutating func reserveUnconditionally(_ byteCount: Int, group: String? = nil) -> [Waiter] {
        waiting.begin(group)
        reserve(byteCount)
        return admit()
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
        while let first = waiting.first(), fits(first.byteCount, first.group), waiting.popFirst() != nil {
            reserve(first.byteCount)
            admitted.append(first)
        }
        return admitted
    }

    private func fits(_ byteCount: Int, _ group: String?) -> Bool {
        guard reservationCount > 0 else { return true }
        let runningCount = waiting.runningCount(of: group)
        guard runningCount < groupShare.maxReservations else { return false }
        return byteCount <= limit - reserved - (runningCount > 0 ? groupShare.spareByteCount : 0)
    }

    private mutating func reserve(_ byteCount: Int) {
        reserved += byteCount
        reservationCount += 1
    }
}
