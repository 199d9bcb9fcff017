import AlcedoCore

/// A table of the transfers and their waiters, which decides which transfers may begin. It only decides: it starts no
/// tasks and never awaits.
///
/// Equal requests share a transfer, which has the highest priority of its waiters. When the last waiter leaves, the
/// transfer is removed. A running task keeps its slot until it has ended, so that the limit is never exceeded.
struct TransferTable<Key: Hashable & Sendable, Request: Sendable, Waiter: Sendable>: Sendable {
    /// A transfer that is to begin, or to continue after a backoff.
    struct Beginning: Sendable {
        var id: Int
        var isFirst: Bool
        /// The request of the transfer's first waiter.
        var request: Request
    }

    /// A waiter that was removed, and the task of its transfer if no other waiter is left.
    struct RemovedWaiter: Sendable {
        var waiter: Waiter
        var abandonedTask: Task<Void, Never>?
    }

    private struct WaiterEntry: Sendable {
        var waiter: Waiter
        var priority: LoadPriority
        var transfer: Int
    }

    private struct Transfer: Sendable {
        var key: Key
        var request: Request
        /// The waiter that created the transfer; nil after it has left.
        var first: Int?
        var priorities = PriorityCounts()
    }

    /// The maximum number of concurrent transfers of local files. It is small, so that the first files are read quickly
    /// to their end.
    private static var fileLimit: Int { 4 }

    private var schedule: DownloadSchedule
    private var files = DownloadSchedule(
        limit: Self.fileLimit, hostLimit: Self.fileLimit, order: .firstInFirstOut, rate: nil)
    private var ids: [Key: Int] = [:]
    private var transfers: [Int: Transfer] = [:]
    private var entries: [Int: WaiterEntry] = [:]
    /// The waiters that joined an existing transfer, by transfer. Most transfers have none. The waiters are stored
    /// apart from the transfers, so that a transfer, which is read and written as a whole, stays small.
    private var joinedWaiters: [Int: Set<Int>] = [:]
    /// The tasks of the transfers that have begun and not ended, including abandoned ones. A value is nil until the
    /// task is attached.
    private var tasks: [Int: Task<Void, Never>?] = [:]
    /// The transfers that need no slot and have not begun.
    private var unlimited: [Int] = []
    private var lastID = 0
    private var hasTimer = false
    private var timer: Task<Void, Never>?
    /// Whether the table has been shut down. The caller must not add waiters after that.
    private(set) var isShutDown = false

    init(schedule: DownloadSchedule) { self.schedule = schedule }

    var runningCount: Int { schedule.runningCount }
    var waitingCount: Int { schedule.waitingCount }
    var backingOffCount: Int { schedule.backingOffCount }
    var waiterCount: Int { entries.count }
    var isEmpty: Bool { transfers.isEmpty }

    /// Whether the table is shut down and all tasks have ended, including those of abandoned transfers.
    var hasEnded: Bool { isShutDown && tasks.isEmpty }

    var isPaused: Bool {
        get { schedule.isPaused }
        set { schedule.isPaused = newValue }
    }

    /// Adds a waiter, and a transfer unless an equal one exists.
    ///
    /// - Parameters:
    ///   - key: The identity of the transfer.
    ///   - request: The request of the transfer, used if the transfer is new.
    ///   - queue: The queue in which a new transfer waits for a slot.
    ///   - id: The number of the waiter, which must be unique.
    ///   - priority: The priority of the waiter.
    ///   - waiter: The waiter.
    mutating func join(
        _ key: Key, _ request: Request, _ queue: TransferQueue, id: Int, priority: LoadPriority, _ waiter: Waiter
    ) {
        let number: Int
        if let known = ids[key] {
            number = known
            joinedWaiters[known, default: []].insert(id)
        } else {
            lastID += 1
            number = lastID
            ids[key] = number
            transfers[number] = Transfer(key: key, request: request, first: id)
            switch queue {
            case .server(let host): schedule.add(number, host: host, priority: priority)
            case .files: files.add(number, host: "", priority: priority)
            case .unlimited: unlimited.append(number)
            }
        }
        entries[id] = WaiterEntry(waiter: waiter, priority: priority, transfer: number)
        change(nil, to: priority, of: number)
    }

    /// Removes a waiter, and its transfer if this was the last waiter. Returns nil if the table does not contain the
    /// waiter.
    mutating func leave(_ id: Int) -> RemovedWaiter? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        let number = entry.transfer
        if var transfer = transfers[number], transfer.first == id {
            transfer.first = nil
            transfers[number] = transfer
        } else {
            joinedWaiters[number]?.remove(id)
            if joinedWaiters[number]?.isEmpty == true { joinedWaiters[number] = nil }
        }
        guard transfers[number]?.first == nil, joinedWaiters[number] == nil else {
            change(entry.priority, to: nil, of: number)
            return RemovedWaiter(waiter: entry.waiter)
        }
        _ = remove(number)
        return RemovedWaiter(waiter: entry.waiter, abandonedTask: tasks[number] ?? nil)
    }

    /// Changes the priority of a waiter. Returns whether the table contains the waiter.
    @discardableResult
    mutating func setPriority(_ priority: LoadPriority, of id: Int) -> Bool {
        guard var entry = entries[id] else { return false }
        change(entry.priority, to: priority, of: entry.transfer)
        entry.priority = priority
        entries[id] = entry
        return true
    }

    /// Returns the transfers that begin or continue now, and counts them as running. If the rate delays others, also
    /// returns the time after which to call this method again.
    mutating func begin(at now: Duration) -> (beginnings: [Beginning], delay: Duration?) {
        var beginnings: [Beginning] = []
        func begin(_ id: Int) {
            guard let transfer = transfers[id] else { return }
            beginnings.append(Beginning(id: id, isFirst: tasks[id] == nil, request: transfer.request))
            if tasks[id] == nil { tasks.updateValue(nil, forKey: id) }
        }
        for id in unlimited { begin(id) }
        unlimited = []
        while case .begin(let id) = files.next(at: now) { begin(id) }
        while true {
            switch schedule.next(at: now) {
            case .begin(let id): begin(id)
            case .wait(let delay): return (beginnings, delay)
            case .nothing: return (beginnings, nil)
            }
        }
    }

    /// Stores the task of a transfer. Returns whether the transfer has ended or has no waiters left.
    mutating func attach(_ task: Task<Void, Never>, to id: Int) -> Bool {
        if tasks[id] != nil { tasks.updateValue(task, forKey: id) }
        return transfers[id] == nil
    }

    /// Releases the slot of a transfer until it is requeued.
    mutating func backOff(_ id: Int) { schedule.backOff(id) }

    /// Puts a transfer that backs off into the queue again, with the highest priority of its waiters.
    mutating func requeue(_ id: Int) {
        guard let priority = transfers[id]?.priorities.highest else { return }
        if schedule.contains(id) { schedule.requeue(id, priority: priority) } else { unlimited.append(id) }
    }

    /// Returns the waiters of a transfer that satisfy a condition: the one that created the transfer, then the others
    /// by number.
    func waiters(of id: Int, where isWanted: (Waiter) -> Bool = { _ in true }) -> [Waiter] {
        let first = transfers[id]?.first.flatMap { entries[$0]?.waiter }
        guard let joined = joinedWaiters[id] else {
            // Fast path for a single waiter, because this is called for every progress step.
            guard let first, isWanted(first) else { return [] }
            return [first]
        }
        let others = joined.sorted().compactMap { entries[$0]?.waiter }
        return ((first.map { [$0] } ?? []) + others).filter(isWanted)
    }

    /// Removes a transfer whose task has ended, and returns its waiters. An abandoned transfer has none.
    mutating func finish(_ id: Int) -> [Waiter] {
        defer {
            tasks[id] = nil
            schedule.end(id)
            files.end(id)
        }
        return end(id)
    }

    /// Removes all transfers. Returns their waiters and the stored tasks, including those of abandoned transfers and of
    /// the timer.
    mutating func removeAll() -> (waiters: [Waiter], tasks: [Task<Void, Never>]) {
        let running = tasks.values.compactMap(\.self) + [timer].compactMap(\.self)
        let waiters = transfers.keys.sorted().flatMap { end($0) }
        return (waiters, running)
    }

    mutating func shutDown() { isShutDown = true }

    /// Records that a timer runs. Returns false if one was running already.
    mutating func setTimer() -> Bool {
        defer { hasTimer = true }
        return !hasTimer
    }

    /// Stores the task of the timer. Does nothing if the timer has ended.
    mutating func attachTimer(_ task: Task<Void, Never>) { if hasTimer { timer = task } }

    mutating func clearTimer() { (hasTimer, timer) = (false, nil) }

    private mutating func end(_ id: Int) -> [Waiter] {
        let waiters = waiters(of: id)
        let joined = joinedWaiters[id] ?? []
        if let first = remove(id)?.first { entries[first] = nil }
        for waiter in joined { entries[waiter] = nil }
        return waiters
    }

    private mutating func remove(_ id: Int) -> Transfer? {
        guard let transfer = transfers.removeValue(forKey: id) else { return nil }
        joinedWaiters[id] = nil
        // A key that belongs to another transfer is kept.
        if ids[transfer.key] == id { ids[transfer.key] = nil }
        schedule.abandon(id)
        files.abandon(id)
        return transfer
    }

    /// Changes, adds or removes the priority of a waiter. The transfer gets the highest priority of all its waiters.
    private mutating func change(_ old: LoadPriority?, to new: LoadPriority?, of id: Int) {
        guard var transfer = transfers[id] else { return }
        let before = transfer.priorities.highest
        if let new { transfer.priorities.add(new) }
        if let old { transfer.priorities.remove(old) }
        transfers[id] = transfer
        guard let highest = transfer.priorities.highest, let before, highest != before else { return }
        schedule.setPriority(highest, of: id)
        files.setPriority(highest, of: id)
    }
}

/// The number of waiters with each priority, stored without an allocation.
private struct PriorityCounts: Sendable {
    private var counts = SIMD8<UInt32>()

    /// The highest priority of all waiters; nil if there are none.
    var highest: LoadPriority? { LoadPriority.allCases.last { counts[Self.index(of: $0)] > 0 } }

    mutating func add(_ priority: LoadPriority) { counts[Self.index(of: priority)] += 1 }

    mutating func remove(_ priority: LoadPriority) {
        let index = Self.index(of: priority)
        if counts[index] > 0 { counts[index] -= 1 }
    }

    private static func index(of priority: LoadPriority) -> Int { priority.level - LoadPriority.veryLow.level }
}
