import AlcedoCore

/// Which transfers there are, who waits for each, and which of them may begin. Decides only: never awaits, never calls
/// out.
///
/// Equal requests share a transfer; its priority is that of its most urgent waiter. The last waiter that leaves takes
/// the transfer with it; its work has its slot until it has ended, so that no more than the limit is ever done.
struct TransferTable<Key: Hashable & Sendable, Order: Sendable, Waiter: Sendable>: Sendable {
    /// A transfer that is to begin, or to go on after a rest.
    struct Beginning: Sendable {
        var id: Int
        var isFirst: Bool
        /// What the first of its waiters asked for.
        var order: Order
    }

    /// A waiter that is gone, with the work that nobody waits for any more.
    struct Departure: Sendable {
        var waiter: Waiter
        var abandonedTask: Task<Void, Never>?
    }

    private struct Seat: Sendable {
        var waiter: Waiter
        var priority: LoadPriority
        var transfer: Int
    }

    private struct Transfer: Sendable {
        var key: Key
        var order: Order
        /// The one it is there for, until that one leaves.
        var first: Int?
        var wishes = PriorityCounts()
    }

    /// Files that are read at once: so that those which are needed first come first, and whole.
    private static var fileLimit: Int { 4 }

    private var schedule: DownloadSchedule
    private var files = DownloadSchedule(
        limit: Self.fileLimit, hostLimit: Self.fileLimit, order: .firstInFirstOut, rate: nil)
    private var ids: [Key: Int] = [:]
    private var transfers: [Int: Transfer] = [:]
    private var seats: [Int: Seat] = [:]
    /// Those who wait for a transfer beside its first; none for most. Apart from the transfers, which are small so, and
    /// read and written as a whole.
    private var crowds: [Int: Set<Int>] = [:]
    /// The work of the transfers that have begun and not ended, of abandoned ones too; nil where it is not known yet.
    private var work: [Int: Task<Void, Never>?] = [:]
    /// Transfers that need no slot and have not begun.
    private var free: [Int] = []
    private var lastID = 0
    private var hasTimer = false
    private var timer: Task<Void, Never>?
    /// From then on nobody is let in.
    private(set) var isShutDown = false

    init(schedule: DownloadSchedule) { self.schedule = schedule }

    var runningCount: Int { schedule.runningCount }
    var waitingCount: Int { schedule.waitingCount }
    var restingCount: Int { schedule.restingCount }
    var waiterCount: Int { seats.count }
    var isEmpty: Bool { transfers.isEmpty }

    /// Whether it is shut down and all work has ended, that of abandoned transfers too.
    var hasEnded: Bool { isShutDown && work.isEmpty }

    var isPaused: Bool {
        get { schedule.isPaused }
        set { schedule.isPaused = newValue }
    }

    /// Adds a waiter, and a transfer unless an equal one is there.
    ///
    /// - Parameters:
    ///   - id: A number of no other waiter, greater than those of earlier ones.
    ///   - line: Where it waits for a slot.
    ///   - order: What to do, when the transfer is new.
    mutating func join(
        _ key: Key, _ order: Order, _ line: TransferLine, id: Int, priority: LoadPriority, _ waiter: Waiter
    ) {
        let number: Int
        if let known = ids[key] {
            number = known
            crowds[known, default: []].insert(id)
        } else {
            lastID += 1
            number = lastID
            ids[key] = number
            transfers[number] = Transfer(key: key, order: order, first: id)
            switch line {
            case .server(let host): schedule.add(number, host: host, priority: priority)
            case .files: files.add(number, host: "", priority: priority)
            case .nowhere: free.append(number)
            }
        }
        seats[id] = Seat(waiter: waiter, priority: priority, transfer: number)
        change(nil, to: priority, of: number)
    }

    /// Removes a waiter; nil when it has gone or has its outcome.
    mutating func leave(_ id: Int) -> Departure? {
        guard let seat = seats.removeValue(forKey: id) else { return nil }
        let number = seat.transfer
        if var transfer = transfers[number], transfer.first == id {
            transfer.first = nil
            transfers[number] = transfer
        } else {
            crowds[number]?.remove(id)
            if crowds[number]?.isEmpty == true { crowds[number] = nil }
        }
        guard transfers[number]?.first == nil, crowds[number] == nil else {
            change(seat.priority, to: nil, of: number)
            return Departure(waiter: seat.waiter)
        }
        _ = remove(number)
        return Departure(waiter: seat.waiter, abandonedTask: work[number] ?? nil)
    }

    /// Changes what a waiter thinks of its transfer's urgency. Returns whether it still waits.
    @discardableResult
    mutating func setPriority(_ priority: LoadPriority, of id: Int) -> Bool {
        guard var seat = seats[id] else { return false }
        change(seat.priority, to: priority, of: seat.transfer)
        seat.priority = priority
        seats[id] = seat
        return true
    }

    /// Names the transfers that begin now, and how long to wait before asking again when a rate holds others back.
    mutating func begin(at now: Duration) -> (beginnings: [Beginning], delay: Duration?) {
        var beginnings: [Beginning] = []
        func note(_ id: Int) {
            guard let transfer = transfers[id] else { return }
            beginnings.append(Beginning(id: id, isFirst: work[id] == nil, order: transfer.order))
            if work[id] == nil { work.updateValue(nil, forKey: id) }
        }
        for id in free { note(id) }
        free = []
        while case .begin(let id) = files.next(at: now) { note(id) }
        while true {
            switch schedule.next(at: now) {
            case .begin(let id): note(id)
            case .wait(let delay): return (beginnings, delay)
            case .nothing: return (beginnings, nil)
            }
        }
    }

    /// Remembers the work of a transfer. Returns whether nobody waits for it any more.
    mutating func attach(_ task: Task<Void, Never>, to id: Int) -> Bool {
        if work[id] != nil { work.updateValue(task, forKey: id) }
        return transfers[id] == nil
    }

    /// Gives the slot of a transfer back, until it asks for another.
    mutating func rest(_ id: Int) { schedule.rest(id) }

    /// Lets a transfer that rests wait for a slot again, as urgent as its waiters are by now.
    mutating func comeBack(_ id: Int) {
        if let priority = transfers[id]?.wishes.highest { schedule.comeBack(id, priority: priority) }
    }

    /// Those who wait for a transfer and are wanted, in the order they came.
    func waiters(of id: Int, where isWanted: (Waiter) -> Bool = { _ in true }) -> [Waiter] {
        let first = transfers[id]?.first.flatMap { seats[$0]?.waiter }
        guard let crowd = crowds[id] else {
            // For most there is nobody else, and nobody wanted: this is asked at each step of the progress.
            guard let first, isWanted(first) else { return [] }
            return [first]
        }
        let others = crowd.sorted().compactMap { seats[$0]?.waiter }
        return ((first.map { [$0] } ?? []) + others).filter(isWanted)
    }

    /// To be told when the work of a transfer has ended. Returns who waited for it; nobody when it was abandoned.
    mutating func finish(_ id: Int) -> [Waiter] {
        defer {
            work[id] = nil
            schedule.end(id)
            files.end(id)
        }
        return end(id)
    }

    /// Ends all transfers. Returns who waited, and the work that goes on: of those that were abandoned before, and the
    /// timer's too.
    mutating func removeAll() -> (waiters: [Waiter], tasks: [Task<Void, Never>]) {
        let tasks = work.values.compactMap(\.self) + [timer].compactMap(\.self)
        let waiters = transfers.keys.sorted().flatMap { end($0) }
        return (waiters, tasks)
    }

    mutating func shutDown() { isShutDown = true }

    /// Notes that someone looks again when the delay is over. Returns false when someone does already.
    mutating func setTimer() -> Bool {
        defer { hasTimer = true }
        return !hasTimer
    }

    /// Remembers the work that waits for the delay.
    mutating func attachTimer(_ task: Task<Void, Never>) { if hasTimer { timer = task } }

    mutating func clearTimer() { (hasTimer, timer) = (false, nil) }

    private mutating func end(_ id: Int) -> [Waiter] {
        let waiters = waiters(of: id)
        let crowd = crowds[id] ?? []
        if let first = remove(id)?.first { seats[first] = nil }
        for seat in crowd { seats[seat] = nil }
        return waiters
    }

    private mutating func remove(_ id: Int) -> Transfer? {
        guard let transfer = transfers.removeValue(forKey: id) else { return nil }
        crowds[id] = nil
        // A later one may have the key by now.
        if ids[transfer.key] == id { ids[transfer.key] = nil }
        schedule.abandon(id)
        files.abandon(id)
        return transfer
    }

    /// One wishes for another priority, no longer, or from now on; the transfer has the highest wish.
    private mutating func change(_ old: LoadPriority?, to new: LoadPriority?, of id: Int) {
        guard var transfer = transfers[id] else { return }
        let before = transfer.wishes.highest
        if let new { transfer.wishes.add(new) }
        if let old { transfer.wishes.remove(old) }
        transfers[id] = transfer
        guard let highest = transfer.wishes.highest, let before, highest != before else { return }
        schedule.move(id, to: highest)
        files.move(id, to: highest)
    }
}

/// How many wish for each priority, without an allocation.
private struct PriorityCounts: Sendable {
    private var counts = SIMD8<UInt32>()

    /// The highest that anybody wishes for.
    var highest: LoadPriority? { LoadPriority.allCases.last { counts[Self.index(of: $0)] > 0 } }

    mutating func add(_ priority: LoadPriority) { counts[Self.index(of: priority)] += 1 }

    mutating func remove(_ priority: LoadPriority) {
        let index = Self.index(of: priority)
        if counts[index] > 0 { counts[index] -= 1 }
    }

    private static func index(of priority: LoadPriority) -> Int { priority.level - LoadPriority.veryLow.level }
}
