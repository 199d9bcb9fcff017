import AlcedoCore

/// A queue of writes, in the order of their requests. It performs no I/O.
///
/// A lookup finds the result of a queued write before the database contains that result. Each caller waits for its
/// write, so the queue has at most one write per caller.
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

    /// The state of a key after the queued writes.
    enum Lookup: Sendable {
        case entry(CachedData)
        case absent
        /// The queue has no write that concerns the key. The database decides.
        case unknown
    }

    private struct QueuedWrite: Sendable {
        var ticket: Int
        var write: Write
    }

    private struct Latest: Sendable {
        var ticket: Int
        /// The stored entry, or nil if the write is a removal.
        var entry: CachedData?
    }

    private var lastTicket = 0
    private var queue: [QueuedWrite] = []
    /// The outcomes of writes that have been performed, until their callers take them. One caller may perform the
    /// writes of others.
    private var outcomes: [Int: Outcome] = [:]
    private var keys: [ImageKey: Latest] = [:]
    private var resources: [ResourceKey: Int] = [:]
    /// The ticket of the last queued removal of all entries, or zero if there is none.
    private var lastRemoveAll = 0

    /// The ticket of the last requested write, or zero before the first. Writes are done in the order of their tickets.
    var latestTicket: Int { lastTicket }

    /// Adds a write. Returns the ticket of the write, and whether the queue, including this write, contains a store.
    mutating func add(_ write: Write) -> (ticket: Int, stores: Bool) {
        lastTicket += 1
        queue.append(QueuedWrite(ticket: lastTicket, write: write))
        switch write {
        case .store(let entry, let key): keys[key] = Latest(ticket: lastTicket, entry: entry)
        case .remove(let key): keys[key] = Latest(ticket: lastTicket, entry: nil)
        case .removeResource(let resource): resources[resource] = lastTicket
        case .removeAll: lastRemoveAll = lastTicket
        }
        return (lastTicket, hasStores(upTo: lastTicket))
    }

    func hasStores(upTo ticket: Int) -> Bool {
        queue.contains { queued in
            guard case .store = queued.write else { return false }
            return queued.ticket <= ticket
        }
    }

    /// Returns the first write in the queue if its ticket is at most `ticket`; otherwise, returns nil. The write stays
    /// in the queue.
    func next(upTo ticket: Int) -> (ticket: Int, write: Write)? {
        guard let first = queue.first, first.ticket <= ticket else { return nil }
        return (first.ticket, first.write)
    }

    /// Removes a write from the queue, and records its outcome. Does nothing if the write was withdrawn.
    mutating func finish(_ ticket: Int, _ outcome: Outcome) {
        // The outcome of a withdrawn write is dropped, because no caller takes it.
        if remove(ticket) { outcomes[ticket] = outcome }
    }

    /// Removes and returns the outcome of a write. If the write has no outcome yet, withdraws the write and returns
    /// nil. If another caller is already performing the write, the write still takes effect.
    mutating func take(_ ticket: Int) -> Outcome? {
        if let outcome = outcomes.removeValue(forKey: ticket) { return outcome }
        remove(ticket)
        return nil
    }

    func lookUp(for key: ImageKey) -> Lookup {
        let removal = max(lastRemoveAll, resources[key.resource] ?? 0)
        guard let latest = keys[key], latest.ticket > removal else { return removal > 0 ? .absent : .unknown }
        return latest.entry.map(Lookup.entry) ?? .absent
    }

    /// Removes a performed or withdrawn write from the queue. If the write was the last one for its key, its resource
    /// or all entries, the last earlier one in the queue takes its place. Returns false if the queue does not contain
    /// the write.
    @discardableResult
    private mutating func remove(_ ticket: Int) -> Bool {
        guard let index = queue.firstIndex(where: { $0.ticket == ticket }) else { return false }
        let write = queue.remove(at: index).write
        // A performed write is the first in the queue, so the queue contains no earlier writes.
        let earlier = queue[..<index]
        switch write {
        case .store(_, let key), .remove(let key):
            if keys[key]?.ticket == ticket { keys[key] = Self.latest(of: key, in: earlier) }
        case .removeResource(let resource):
            if resources[resource] == ticket { resources[resource] = Self.lastRemoval(of: resource, in: earlier) }
        case .removeAll:
            if lastRemoveAll == ticket { lastRemoveAll = Self.lastRemovalOfAll(in: earlier) ?? 0 }
        }
        return true
    }

    private static func latest(of key: ImageKey, in writes: ArraySlice<QueuedWrite>) -> Latest? {
        for queued in writes.reversed() {
            switch queued.write {
            case .store(let entry, key): return Latest(ticket: queued.ticket, entry: entry)
            case .remove(key): return Latest(ticket: queued.ticket, entry: nil)
            default: continue
            }
        }
        return nil
    }

    private static func lastRemoval(of resource: ResourceKey, in writes: ArraySlice<QueuedWrite>) -> Int? {
        writes.last { if case .removeResource(resource) = $0.write { true } else { false } }?.ticket
    }

    private static func lastRemovalOfAll(in writes: ArraySlice<QueuedWrite>) -> Int? {
        writes.last { if case .removeAll = $0.write { true } else { false } }?.ticket
    }
}
