/// Decides which job runs next on which lane. Decides only: the executor acts outside its lock.
struct JobQueue: Sendable {
    private var waiting = WaitingLine<Job>()
    private var idleLanes: [Int]
    private var lastID = 0

    init(lanes: Int) {
        idleLanes = Array((0..<lanes).reversed())
    }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    /// Adds a job and returns the lane that has to be woken for it, if one is idle.
    mutating func submit(_ job: Job, priority: LoadPriority, atHead: Bool) -> Int? {
        waiting.add(job.id, job, priority: priority, atHead: atHead)
        return idleLanes.popLast()
    }

    /// Returns the most urgent job, or marks the lane idle when there is none.
    mutating func next(for lane: Int) -> Job? {
        if let first = waiting.popFirst() { return first.element }
        idleLanes.append(lane)
        return nil
    }

    /// Gives a job that still waits another priority.
    mutating func setPriority(_ priority: LoadPriority, of id: Int) { waiting.move(id, to: priority) }

    /// Removes a job that still waits; nil when it has begun, ended, or was never submitted.
    mutating func remove(_ id: Int) -> Job? { waiting.remove(id) }
}
