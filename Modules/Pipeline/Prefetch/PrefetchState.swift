import AlcedoCore

/// What is to be prefetched, what runs, and what has become of the rest. Decides only: never awaits, never calls out.
struct PrefetchState: Sendable {
    /// A load that is to begin.
    struct Start: Sendable {
        var id: Int
        var request: ImageRequest
    }

    private struct Running: Sendable {
        var key: ImageKey
        var task: Task<Void, Never>?
    }

    typealias Watcher = CheckedContinuation<PrefetchReport, any Error>

    private let width: Int
    private let limit: Int
    private var waiting = WaitingLine<ImageRequest>()
    private var running: [Int: Running] = [:]
    private var ids: [ImageKey: Int] = [:]
    private var lastID = 0
    private var report = PrefetchReport()
    private var watchers: [Int: Watcher] = [:]
    var isPaused = false

    init(width: Int, limit: Int) { (self.width, self.limit) = (max(1, width), max(0, limit)) }

    var count: Int { ids.count }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    /// Adds what is not there yet. What there is no room for is skipped.
    mutating func add(_ requests: [ImageRequest]) {
        for request in requests where ids[request.unversionedKey] == nil {
            guard waiting.count < limit else {
                report.skipped.append(request)
                report.shorten(to: limit)
                continue
            }
            let id = makeID()
            ids[request.unversionedKey] = id
            waiting.add(id, request, priority: .normal)
        }
    }

    /// The loads that begin now.
    mutating func begin() -> [Start] {
        var starts: [Start] = []
        while !isPaused, running.count < width, let first = waiting.popFirst() {
            running[first.id] = Running(key: first.element.unversionedKey)
            starts.append(Start(id: first.id, request: first.element))
        }
        return starts
    }

    /// Remembers the work of a load. Returns whether nobody wants it any more.
    mutating func attach(_ task: Task<Void, Never>, to id: Int) -> Bool {
        guard running[id] != nil else { return true }
        running[id]?.task = task
        return false
    }

    /// Takes requests back. Returns the work that is to be cancelled.
    mutating func remove(_ requests: [ImageRequest]) -> [Task<Void, Never>] {
        requests.compactMap { request in
            guard let id = ids.removeValue(forKey: request.unversionedKey) else { return nil }
            _ = waiting.remove(id)
            return running.removeValue(forKey: id)?.task
        }
    }

    mutating func removeAll() -> [Task<Void, Never>] {
        defer { (ids, running) = ([:], [:]) }
        _ = waiting.removeAll()
        return running.values.compactMap(\.task)
    }

    /// Notes what has become of a load, unless nobody wants it any more.
    mutating func finish(_ id: Int, _ note: (inout PrefetchReport) -> Void) {
        guard let ended = running.removeValue(forKey: id) else { return }
        ids[ended.key] = nil
        note(&report)
        report.shorten(to: limit)
    }

    /// Has someone wait for the end.
    mutating func watch(_ id: Int, _ watcher: Watcher) { watchers[id] = watcher }

    /// Returns who waited.
    mutating func stopWatching(_ id: Int) -> Watcher? { watchers.removeValue(forKey: id) }

    /// Who waited for the end, when it has come, and what they get. The next report begins anew.
    mutating func settle() -> (watchers: [Watcher], report: PrefetchReport)? {
        guard ids.isEmpty, !watchers.isEmpty else { return nil }
        report.keepLast(limit)
        defer { (watchers, report) = ([:], PrefetchReport()) }
        return (Array(watchers.values), report)
    }
}
