/// A queue of waiters, ordered by priority, in which groups take turns within a priority.
///
/// A group whose work is running goes after the groups and waiters that have none. Otherwise, the group whose last turn
/// was first goes first. Within a group, the order is that of a ``WaiterQueue``. A waiter without a group has its own
/// turn, in the order of arrival, so that a queue of such waiters is a ``WaiterQueue``.
///
/// The queue counts the running work of each group: ``popFirst()`` and ``begin(_:)`` add to it, and ``end(_:)``
/// subtracts from it. A group that runs at the limit has no turn. It keeps its waiters until one of its work ends.
///
/// All operations are O(log *n*), amortized.
struct TurnQueue<Member: Sendable>: Sendable {
    private enum Entry: Sendable {
        case waiter(Member)
        case group(String)
    }

    private struct Group: Sendable {
        /// The number of the group in the order. It is below zero, while those of waiters are not.
        let id: Int
        var waiters = WaiterQueue<Member>()
        var runningCount = 0
    }

    private let groupLimit: Int
    private var order = WaiterQueue<Entry>()
    /// The groups with waiters or running work.
    private var groups: [String: Group] = [:]
    /// The groups of the waiters that have one, by waiter.
    private var groupOfWaiter: [Int: String] = [:]
    private var lastGroupID = 0
    private(set) var count = 0

    /// Creates a queue.
    ///
    /// - Parameter groupLimit: The maximum amount of running work of one group. Values below 1 count as 1. Default: no
    ///   limit.
    init(groupLimit: Int = .max) { self.groupLimit = max(1, groupLimit) }

    /// Adds a waiter behind those of its priority and group, or before them if `atHead` is true. `id` must not be in
    /// the queue, and not be negative.
    mutating func add(_ id: Int, _ element: Member, priority: Int, group: String? = nil, atHead: Bool = false) {
        count += 1
        guard let group else {
            order.add(id, .waiter(element), priority: Self.level(priority), atHead: atHead)
            return
        }
        groupOfWaiter[id] = group
        makeGroup(group)
        groups[group]?.waiters.add(id, element, priority: priority, atHead: atHead)
        updateTurn(of: group)
    }

    /// Changes the priority of a waiter but not its order of arrival. Returns whether the waiter is in the queue.
    @discardableResult
    mutating func move(_ id: Int, to priority: Int) -> Bool {
        guard let group = groupOfWaiter[id] else { return order.move(id, to: Self.level(priority)) }
        groups[group]?.waiters.move(id, to: priority)
        updateTurn(of: group)
        return true
    }

    /// Removes and returns a waiter. Returns nil if it is not in the queue.
    mutating func remove(_ id: Int) -> Member? {
        let removed: Member?
        if let group = groupOfWaiter.removeValue(forKey: id) {
            removed = groups[group]?.waiters.remove(id)
            updateTurn(of: group)
        } else if case .waiter(let element) = order.remove(id) {
            removed = element
        } else {
            removed = nil
        }
        if removed != nil { count -= 1 }
        return removed
    }

    /// Returns the waiter whose turn it is, without removing it; nil if no waiter has a turn.
    mutating func first() -> Member? {
        switch order.first()?.element {
        case .waiter(let element): element
        case .group(let group): groups[group]?.waiters.first()?.element
        case nil: nil
        }
    }

    /// Returns the amount of running work of a group; zero without a group.
    func runningCount(of group: String?) -> Int { group.flatMap { groups[$0] }?.runningCount ?? 0 }

    /// Whether a waiter goes before a new one of a priority and a group.
    mutating func hasWaiter(before priority: Int, group: String?) -> Bool {
        guard let first = order.first() else { return false }
        return first.priority >= Self.level(priority, isRunning: runningCount(of: group) > 0)
    }

    /// Removes and returns the waiter whose turn it is, and counts its work as running. Returns nil if no waiter has a
    /// turn.
    ///
    /// - Parameter skipsRunningGroups: Whether groups with running work have no turn. Default: false.
    mutating func popFirst(skipsRunningGroups: Bool = false) -> Member? {
        var skipped: [WaiterQueue<Entry>.First] = []
        defer { for first in skipped { order.put(back: first) } }
        while let first = order.popFirst() {
            switch first.element {
            case .waiter(let element):
                count -= 1
                return element
            case .group(let group) where skipsRunningGroups && runningCount(of: group) > 0:
                skipped.append(first)
            case .group(let group):
                // A group in the order has a waiter.
                let waiter = groups[group]?.waiters.popFirst()
                if let waiter {
                    count -= 1
                    groupOfWaiter[waiter.id] = nil
                    groups[group]?.runningCount += 1
                }
                updateTurn(of: group)
                return waiter?.element
            }
        }
        return nil
    }

    /// Counts work of a group as running that has not waited. Has no effect without a group.
    mutating func begin(_ group: String?) {
        guard let group else { return }
        makeGroup(group)
        groups[group]?.runningCount += 1
        updateTurn(of: group)
    }

    /// Counts running work of a group as ended. Has no effect without a group.
    mutating func end(_ group: String?) {
        guard let group, groups[group] != nil else { return }
        groups[group]?.runningCount -= 1
        updateTurn(of: group)
    }

    private mutating func makeGroup(_ group: String) {
        guard groups[group] == nil else { return }
        lastGroupID += 1
        groups[group] = Group(id: -lastGroupID)
    }

    /// Puts a group into the order if it may have a turn, behind those that wait already, and otherwise removes it.
    private mutating func updateTurn(of group: String) {
        guard let id = groups[group]?.id, let runningCount = groups[group]?.runningCount else { return }
        guard let first = groups[group]?.waiters.first() else {
            _ = order.remove(id)
            if runningCount <= 0 { groups[group] = nil }
            return
        }
        guard runningCount < groupLimit else {
            _ = order.remove(id)
            return
        }
        let level = Self.level(first.priority, isRunning: runningCount > 0)
        if !order.move(id, to: level) { order.add(id, .group(group), priority: level) }
    }

    /// Returns the priority in the order.
    private static func level(_ priority: Int, isRunning: Bool = false) -> Int { 2 * priority + (isRunning ? 0 : 1) }
}
