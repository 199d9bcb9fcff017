import AlcedoCore

/// Entries that are being stored, so that they are found before they are on disk. Of several under one key the last one is
/// found, and stays the last.
struct StagedEntries: Sendable {
    private struct Staged: Sendable {
        /// The last one; nil when it failed, as what is on disk is then to be found.
        var entry: CachedData?
        var id: Int
        /// Stores under the key that have not ended, this one with them.
        var pending: Set<Int>
        /// The last one that is on disk.
        var writtenID = 0
    }

    private var entries: [ImageKey: Staged] = [:]

    func entry(for key: ImageKey) -> CachedData? { entries[key]?.entry }

    /// Adds what a store that begins brings. `id` is larger than those before it.
    mutating func add(_ entry: CachedData, _ id: Int, for key: ImageKey) {
        var staged = entries[key] ?? Staged(id: id, pending: [])
        staged.entry = entry
        staged.id = id
        staged.pending.insert(id)
        entries[key] = staged
    }

    /// Returns false when a later store is on disk already, and when a removal took this one back, which may be over.
    func mayWrite(_ id: Int, for key: ImageKey) -> Bool {
        guard let staged = entries[key] else { return false }
        return staged.pending.contains(id) && staged.writtenID <= id
    }

    mutating func markWritten(_ id: Int, for key: ImageKey) {
        if entries[key]?.pending.contains(id) == true { entries[key]?.writtenID = id }
    }

    /// Notes that a store has ended, well or not.
    mutating func end(_ id: Int, for key: ImageKey) {
        guard var staged = entries[key], staged.pending.remove(id) != nil else { return }
        if staged.id == id, staged.writtenID != id { staged.entry = nil }
        entries[key] = staged.pending.isEmpty ? nil : staged
    }

    /// Returns whether there was one.
    mutating func remove(_ key: ImageKey) -> Bool { entries.removeValue(forKey: key)?.entry != nil }

    /// Returns what there was.
    mutating func removeAll(of resource: ResourceKey) -> [ImageKey] {
        entries.keys.filter { $0.resource == resource }.filter { remove($0) }
    }

    mutating func removeAll() { entries = [:] }
}

/// The place of a store among the stores and removals of its key. Called while no other change is made.
struct StoreOrder: Sendable {
    /// Returns whether no later store or removal has been done.
    var isCurrent: @Sendable () -> Bool = { true }
    /// Notes that the store has been done.
    var markDone: @Sendable () -> Void = {}
}

/// Changes that have begun and not ended, wherever they run or wait, and who waits for them to end.
struct InFlightChanges: Sendable {
    typealias Waiter = CheckedContinuation<Void, Never>

    private var lastID = 0
    private var ids: Set<Int> = []
    private var waiters: [(lastID: Int, waiter: Waiter)] = []

    /// Returns the number of a change that begins, larger than all before it.
    mutating func begin() -> Int {
        lastID += 1
        ids.insert(lastID)
        return lastID
    }

    /// Returns those who have nothing to wait for any more when a change has ended.
    mutating func end(_ id: Int) -> [Waiter] {
        ids.remove(id)
        guard !waiters.isEmpty else { return [] }
        let first = ids.min() ?? .max
        let ready = waiters.filter { $0.lastID < first }
        waiters.removeAll { $0.lastID < first }
        return ready.map(\.waiter)
    }

    /// Lets somebody wait for the changes that have begun; there has to be one. What begins later does not keep him.
    mutating func add(_ waiter: Waiter) { waiters.append((lastID, waiter)) }

    var isEmpty: Bool { ids.isEmpty }
}
