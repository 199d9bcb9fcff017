import AlcedoCore

/// Which transfers there are, who waits for each, and which of them may begin. Decides only: never awaits, never calls
/// out.
///
/// Equal requests share a transfer; its priority is that of its most urgent waiter. The last waiter that leaves takes
/// the transfer with it; its work has its slot until it has ended, so that no more than the limit is ever done.
struct TransferTable<Key: Hashable & Sendable, Request: Sendable, Waiter: Sendable>: Sendable {
    /// A transfer that is to begin, or to continue after a backoff.
    struct Beginning: Sendable {
        var id: Int
        var isFirst: Bool
        /// That of its first waiter.
        var request: Request
    }

    /// A waiter that has left, with the task that no waiter is left for.
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
        /// The one it is there for, until that one leaves.
        var first: Int?
        var priorities = PriorityCounts()
    }

    /// Files that are read at once: so that those which are needed first come first, and whole.
    private static var fileLimit: Int { 4 }

    private var schedule: DownloadSchedule
    private var files = DownloadSchedule(
        limit: Self.fileLimit, hostLimit: Self.fileLimit, order: .firstInFirstOut, rate: nil)
    private var ids: [Key: Int] = [:]
    private var transfers: [Int: Transfer] = [:]
    private var entries: [Int: WaiterEntry] = [:]
    /// Those who wait for a transfer beside its first; none for most. Apart from the transfers, which are small so, and
    /// read and written as a whole.
    private var joinedWaiters: [Int: Set<Int>] = [:]
    /// The tasks of the transfers that have begun and not ended, of abandoned ones too; nil where it is not known yet.
    private var tasks: [Int: Task<Void, Never>?] = [:]
    /// Transfers that need no slot and have not begun.
    private var unlimited: [Int] = []
    private var lastID = 0
    private var hasTimer = false
    private var timer: Task<Void, Never>?
    /// From then on nobody is let in.
    private(set) var isShutDown = false

    init(schedule: DownloadSchedule) { self.schedule = schedule }

    var runningCount: Int { schedule.runningCount }
    var waitingCount: Int { schedule.waitingCount }
    var backingOffCount: Int { schedule.backingOffCount }
    var waiterCount: Int { entries.count }
    var isEmpty: Bool { transfers.isEmpty }

    /// Whether it is shut down and all tasks have ended, that of abandoned transfers too.
    var hasEnded: Bool { isShutDown && tasks.isEmpty }

    var isPaused: Bool {
        get { schedule.isPaused }
        set { schedule.isPaused = newValue }
    }

    /// Adds a waiter, and a transfer unless an equal one is there.
    ///
    /// - Parameters:
    ///   - id: A number of no other waiter, greater than those of earlier ones.
    ///   - queue: Where it waits for a slot.
    ///   - request: That of the transfer, when it is new.
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

    /// Removes a waiter; nil when it has gone or has its outcome.
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

    /// Changes the priority of a waiter. Returns whether it still waits.
    @discardableResult
    mutating func setPriority(_ priority: LoadPriority, of id: Int) -> Bool {
        guard var entry = entries[id] else { return false }
        change(entry.priority, to: priority, of: entry.transfer)
        entry.priority = priority
        entries[id] = entry
        return true
    }

    /// Names the transfers that begin now, and how long to wait before asking again when a rate holds others back.
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

    /// Stores the task of a transfer. Returns whether no waiter is left.
    mutating func attach(_ task: Task<Void, Never>, to id: Int) -> Bool {
        if tasks[id] != nil { tasks.updateValue(task, forKey: id) }
        return transfers[id] == nil
    }

    /// Gives the slot of a transfer back, until it is requeued.
    mutating func backOff(_ id: Int) { schedule.backOff(id) }

    /// Lets a transfer that backs off wait for a slot again, with the priority that its waiters have by now.
    mutating func requeue(_ id: Int) {
        if let priority = transfers[id]?.priorities.highest { schedule.requeue(id, priority: priority) }
    }

    /// Those who wait for a transfer and are wanted, in the order they came.
    func waiters(of id: Int, where isWanted: (Waiter) -> Bool = { _ in true }) -> [Waiter] {
        let first = transfers[id]?.first.flatMap { entries[$0]?.waiter }
        guard let joined = joinedWaiters[id] else {
            // For most there is nobody else, and nobody wanted: this is asked at each step of the progress.
            guard let first, isWanted(first) else { return [] }
            return [first]
        }
        let others = joined.sorted().compactMap { entries[$0]?.waiter }
        return ((first.map { [$0] } ?? []) + others).filter(isWanted)
    }

    /// Call this when the task of a transfer has ended. Returns who waited for it; nobody when it was abandoned.
    mutating func finish(_ id: Int) -> [Waiter] {
        defer {
            tasks[id] = nil
            schedule.end(id)
            files.end(id)
        }
        return end(id)
    }

    /// Ends all transfers. Returns the waiters, and the tasks that still run: of those that were abandoned before, and the
    /// timer's too.
    mutating func removeAll() -> (waiters: [Waiter], tasks: [Task<Void, Never>]) {
        let running = tasks.values.compactMap(\.self) + [timer].compactMap(\.self)
        let waiters = transfers.keys.sorted().flatMap { end($0) }
        return (waiters, running)
    }

    mutating func shutDown() { isShutDown = true }

    /// Records that a timer runs. Returns false when one does already.
    mutating func setTimer() -> Bool {
        defer { hasTimer = true }
        return !hasTimer
    }

    /// Stores the task that waits for the delay.
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
        // A later one may have the key by now.
        if ids[transfer.key] == id { ids[transfer.key] = nil }
        schedule.abandon(id)
        files.abandon(id)
        return transfer
    }

    /// Replaces the priority of a waiter, or adds or removes one; the transfer has the highest.
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

/// The number of waiters with each priority, without an allocation.
private struct PriorityCounts: Sendable {
    private var counts = SIMD8<UInt32>()

    /// The highest priority of a waiter.
    var highest: LoadPriority? { LoadPriority.allCases.last { counts[Self.index(of: $0)] > 0 } }

    mutating func add(_ priority: LoadPriority) { counts[Self.index(of: priority)] += 1 }

    mutating func remove(_ priority: LoadPriority) {
        let index = Self.index(of: priority)
        if counts[index] > 0 { counts[index] -= 1 }
    }

    private static func index(of priority: LoadPriority) -> Int { priority.level - LoadPriority.veryLow.level }
}
