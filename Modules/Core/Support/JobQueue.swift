/// One piece of waiting work of a ``BlockingExecutor``. Exactly one of the two closures is called, once.
struct Job: Sendable {
    var id: Int
    var run: @Sendable () -> Void
    var cancel: @Sendable () -> Void
}

/// Decides which job runs next on which lane. Decides only: the executor acts outside its lock.
struct JobQueue: Sendable {
    private var waiting: [[Job]]
    private var idleLanes: [Int]
    private var lastID = 0

    init(lanes: Int) {
        waiting = Array(repeating: [], count: LoadPriority.allCases.count)
        idleLanes = Array((0..<lanes).reversed())
    }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    /// Adds a job and returns the lane that has to be woken for it, if one is idle.
    mutating func submit(_ job: Job, priority: LoadPriority) -> Int? {
        waiting[priority.rawValue].append(job)
        return idleLanes.popLast()
    }

    /// Returns the most urgent job, or marks the lane idle when there is none.
    mutating func next(for lane: Int) -> Job? {
        for level in waiting.indices.reversed() where !waiting[level].isEmpty {
            return waiting[level].removeFirst()
        }
        idleLanes.append(lane)
        return nil
    }

    /// Removes a job that still waits; nil when it has begun, ended, or was never submitted.
    mutating func remove(_ id: Int) -> Job? {
        for level in waiting.indices {
            if let index = waiting[level].firstIndex(where: { $0.id == id }) {
                return waiting[level].remove(at: index)
            }
        }
        return nil
    }
}
