/// Who holds how many bytes of a ``ByteBudget``, and who waits. Decides only: the budget acts outside its lock.
struct ByteBudgetState: Sendable {
    struct Waiter: Sendable {
        var id: Int
        var byteCount: Int
        /// Called once, with an error or with none. Not under the lock.
        var resume: @Sendable (Result<Void, any Error>) -> Void
    }

    let limit: Int
    /// Bytes held. Above the limit only while a single reservation holds them.
    private(set) var reserved = 0
    /// Reservations held.
    private(set) var holders = 0
    private var waiting: [[Waiter]]
    private var lastID = 0

    /// - Parameter limit: Below nought counts as nought: every reservation then goes alone.
    init(limit: Int) {
        self.limit = max(0, limit)
        waiting = Array(repeating: [], count: LoadPriority.allCases.count)
    }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    /// Takes the bytes if they are free and nobody waits who is as urgent or more so.
    mutating func take(_ byteCount: Int, priority: LoadPriority) -> Bool {
        guard waiting[priority.rawValue...].allSatisfy(\.isEmpty), fits(byteCount) else { return false }
        hold(byteCount)
        return true
    }

    mutating func wait(_ waiter: Waiter, priority: LoadPriority) { waiting[priority.rawValue].append(waiter) }

    /// Gives bytes back. Returns those who have theirs now.
    mutating func release(_ byteCount: Int) -> [Waiter] {
        reserved -= byteCount
        holders -= 1
        return admit()
    }

    /// Removes one who still waits, nil when there is none such, and says who has their bytes because of it.
    mutating func remove(_ id: Int) -> (removed: Waiter, admitted: [Waiter])? {
        for level in waiting.indices {
            if let index = waiting[level].firstIndex(where: { $0.id == id }) {
                let waiter = waiting[level].remove(at: index)
                return (waiter, admit())
            }
        }
        return nil
    }

    /// Lets in the more urgent first, equals in the order they came. Who does not fit holds up all behind, or the small
    /// would keep the large waiting for ever.
    private mutating func admit() -> [Waiter] {
        var admitted: [Waiter] = []
        for level in waiting.indices.reversed() {
            while let first = waiting[level].first {
                guard fits(first.byteCount) else { return admitted }
                hold(first.byteCount)
                admitted.append(waiting[level].removeFirst())
            }
        }
        return admitted
    }

    private func fits(_ byteCount: Int) -> Bool { holders == 0 || byteCount <= limit - reserved }

    private mutating func hold(_ byteCount: Int) {
        reserved += byteCount
        holders += 1
    }
}
