import AlcedoCore

/// The requested writes that are not done, in the order of their requests. It performs no I/O.
///
/// Reads find the result of these writes before it is in the database. The callers wait for their writes, which bounds
/// the length of the queue.
struct WriteQueue: Sendable {
    enum Write: Sendable {
        case store(CachedData, ImageKey)
        case remove(ImageKey)
        case removeResource(ResourceKey)
        case removeAll
    }

    /// The number of entries that a write removed, or the reason why it failed.
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
        /// The stored entry, or nil if the write removes it.
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

    /// The ticket of the last requested write. All earlier ones are done before it.
    var latestTicket: Int { lastTicket }

    /// Adds a write. Returns its ticket, and whether the queue up to it contains a store.
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

    /// Returns the first write in the queue, or nil if the queue has none up to `ticket`. The write stays in the queue.
    func next(upTo ticket: Int) -> (ticket: Int, write: Write)? {
        guard let first = queue.first, first.ticket <= ticket else { return nil }
        return (first.ticket, first.write)
    }

    /// Removes a write from the queue, and records its outcome. Does nothing if the write was withdrawn.
    mutating func finish(_ ticket: Int, _ outcome: Outcome) {
        // No caller takes the outcome of a withdrawn write.
        if remove(ticket) { outcomes[ticket] = outcome }
    }

    /// Removes and returns the outcome of a write. If it has none, withdraws the write and returns nil.
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

    @discardableResult
    private mutating func remove(_ ticket: Int) -> Bool {
        guard let index = queue.firstIndex(where: { $0.ticket == ticket }) else { return false }
        switch queue.remove(at: index).write {
        case .store(_, let key), .remove(let key):
            if keys[key]?.ticket == ticket { keys[key] = nil }
        case .removeResource(let resource):
            if resources[resource] == ticket { resources[resource] = nil }
        case .removeAll:
            if lastRemoveAll == ticket { lastRemoveAll = 0 }
        }
        return true
    }
}
