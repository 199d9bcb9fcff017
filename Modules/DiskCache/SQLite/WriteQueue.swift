import AlcedoCore

/// The requested writes, in the order of their requests. It performs no I/O.
///
/// A lookup finds the result of a waiting write before the database contains that result. Each caller waits for its
/// write, so the queue has at most one write per caller, and searching it is fast.
struct WriteQueue: Sendable {
    enum Write: Sendable {
        case store(CachedData, ImageKey)
        case remove(ImageKey)
        case removeResource(ResourceKey)
        case removeAll
    }

    /// The outcome of a write. For a removal of a key or of a resource, it is the number of removed entries. For any
    /// other write, it is zero. For a failed write, it is the error.
    typealias Outcome = Result<Int, any Error>

    /// The state of a key after the waiting writes.
    enum Lookup: Sendable {
        case entry(CachedData)
        case absent
        /// No waiting write concerns the key. The database decides.
        case unknown
    }

    private struct QueuedWrite: Sendable {
        var ticket: Int
        var write: Write
        /// The outcome of a performed write, until its caller takes it; nil while the write waits. One caller may
        /// perform the writes of others.
        var outcome: Outcome?
    }

    private var queue: [QueuedWrite] = []

    /// The ticket of the last requested write, or zero before the first. Writes are done in the order of their tickets.
    private(set) var latestTicket = 0

    /// Adds a write. Returns the ticket of the write.
    mutating func add(_ write: Write) -> Int {
        latestTicket += 1
        queue.append(QueuedWrite(ticket: latestTicket, write: write))
        return latestTicket
    }

    /// Returns whether a store is among the waiting writes up to a ticket.
    func hasStores(upTo ticket: Int) -> Bool {
        queue.contains { queued in
            guard case .store = queued.write else { return false }
            return queued.outcome == nil && queued.ticket <= ticket
        }
    }

    /// Returns the first waiting write if its ticket is at most `ticket`; otherwise, returns nil. The write continues
    /// to wait.
    func next(upTo ticket: Int) -> (ticket: Int, write: Write)? {
        guard let first = queue.first(where: { $0.outcome == nil }), first.ticket <= ticket else { return nil }
        return (first.ticket, first.write)
    }

    /// Records the outcome of a write. Does nothing if the write was withdrawn, because no caller takes its outcome.
    mutating func finish(_ ticket: Int, _ outcome: Outcome) {
        if let index = queue.firstIndex(where: { $0.ticket == ticket }) { queue[index].outcome = outcome }
    }

    /// Removes a write from the queue, and returns its outcome. If the write has no outcome yet, this withdraws it. If
    /// another caller is already performing the write, the write still takes effect.
    mutating func take(_ ticket: Int) -> Outcome? {
        queue.firstIndex { $0.ticket == ticket }.flatMap { queue.remove(at: $0).outcome }
    }

    func lookUp(for key: ImageKey) -> Lookup {
        for queued in queue.reversed() where queued.outcome == nil {
            switch queued.write {
            case .store(let entry, key): return .entry(entry)
            case .remove(key), .removeResource(key.resource), .removeAll: return .absent
            default: continue
            }
        }
        return .unknown
    }
}
