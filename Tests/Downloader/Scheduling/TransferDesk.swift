import AlcedoCore

@testable import AlcedoDownloader

/// A reference to a table, for expectations that cannot change a value in place.
final class TransferDesk {
    typealias Table = TransferTable<String, String, String>

    private var table: Table
    private var lastWaiter = 0

    init(_ table: Table) { self.table = table }

    var isEmpty: Bool { table.isEmpty }
    var isShutDown: Bool { table.isShutDown }
    var hasEnded: Bool { table.hasEnded }
    var runningCount: Int { table.runningCount }
    var waitingCount: Int { table.waitingCount }
    func pause(_ isPaused: Bool) { table.isPaused = isPaused }

    func join(_ key: String, _ priority: LoadPriority, host: String?) -> Int {
        let id = makeID()
        let queue: TransferQueue = host.map { .server($0) } ?? .unlimited
        table.join(key, "get \(key)", queue, id: id, priority: priority, "waiter \(id) of \(key)")
        return id
    }

    func joinFile(_ key: String, _ priority: LoadPriority) -> Int {
        let id = makeID()
        table.join(key, key, .files, id: id, priority: priority, key)
        return id
    }

    private func makeID() -> Int {
        lastWaiter += 1
        return lastWaiter
    }

    func begin(at now: Duration) -> (beginnings: [Table.Beginning], delay: Duration?) { table.begin(at: now) }
    func leave(_ id: Int) -> Table.RemovedWaiter? { table.leave(id) }
    func setPriority(_ priority: LoadPriority, of id: Int) -> Bool { table.setPriority(priority, of: id) }
    func attach(_ task: Task<Void, Never>, to id: Int) -> Bool { table.attach(task, to: id) }
    func backOff(_ id: Int) { table.backOff(id) }
    func requeue(_ id: Int) { table.requeue(id) }
    func waiters(of id: Int) -> [String] { table.waiters(of: id) }
    func finish(_ id: Int) -> [String] { table.finish(id) }
    func removeAll() -> (waiters: [String], tasks: [Task<Void, Never>]) { table.removeAll() }
    func setTimer() -> Bool { table.setTimer() }
    func attachTimer(_ task: Task<Void, Never>) { table.attachTimer(task) }
    func clearTimer() { table.clearTimer() }
    func shutDown() { table.shutDown() }
}
