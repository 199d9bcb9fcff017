import AlcedoCore

/// Writes that were asked for and are not done, in the order they were asked for. Decides only.
///
/// What they leave can be read at once, though it is not in the database yet. There are as many as callers wait for.
struct WriteQueue: Sendable {
    enum Write: Sendable {
        case store(CachedData, ImageKey)
        case remove(ImageKey)
        case removeResource(ResourceKey)
        case removeAll
    }

    /// How many entries a write removed, or why it failed.
    typealias Outcome = Result<Int, any Error>

    /// What these writes say about a key.
    enum Lookup: Sendable {
        case entry(CachedData)
        case absent
        /// Nothing: ask the database.
        case unknown
    }

    private struct QueuedWrite: Sendable {
        var ticket: Int
        var write: Write
    }

    private struct Latest: Sendable {
        var ticket: Int
        /// nil when the write removes it.
        var entry: CachedData?
    }

    private var lastTicket = 0
    private var queue: [QueuedWrite] = []
    /// Of writes that somebody else's turn has done, until who asked for them takes them.
    private var outcomes: [Int: Outcome] = [:]
    private var keys: [ImageKey: Latest] = [:]
    private var resources: [ResourceKey: Int] = [:]
    /// The last removal of everything; nought when none waits.
    private var lastRemoveAll = 0

    /// The last write that was asked for; all before it are done when it is.
    var latestTicket: Int { lastTicket }

    /// Adds a write. Returns its ticket, and whether it or one before it stores something.
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

    /// The next write to do, none after `ticket`.
    func next(upTo ticket: Int) -> (ticket: Int, write: Write)? {
        guard let first = queue.first, first.ticket <= ticket else { return nil }
        return (first.ticket, first.write)
    }

    /// Notes that a write is done.
    mutating func finish(_ ticket: Int, _ outcome: Outcome) {
        // One that was taken back has nobody who would take its outcome.
        if remove(ticket) { outcomes[ticket] = outcome }
    }

    /// Returns the outcome of a write, or takes it back when it has none.
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
