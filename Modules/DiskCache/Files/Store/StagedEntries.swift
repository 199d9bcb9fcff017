import AlcedoCore

/// The entries that are being written, so that reads find them before they are on disk. If several stores of one key
/// are in progress, reads find the entry of the last one. That entry is also the one that remains on disk.
struct StagedEntries: Sendable {
    private struct Staged: Sendable {
        /// The entry of the last store, or nil if that store failed. With nil, reads use the entry on disk.
        var entry: CachedData?
        var id: Int
        /// The stores of the key that have not ended, including the last one.
        var pending: Set<Int>
        /// The number of the last store that is done, or zero if there is none.
        var writtenID = 0
    }

    private var entries: [ImageKey: Staged] = [:]

    func entry(for key: ImageKey) -> CachedData? { entries[key]?.entry }

    /// Adds the entry of a store that begins. `id` must be larger than all earlier ones.
    mutating func add(_ entry: CachedData, _ id: Int, for key: ImageKey) {
        var staged = entries[key] ?? Staged(id: id, pending: [])
        staged.entry = entry
        staged.id = id
        staged.pending.insert(id)
        entries[key] = staged
    }

    /// Returns whether a store may still write its entry. It may not if a later store is done, or if a removal has
    /// discarded the entry.
    func mayWrite(_ id: Int, for key: ImageKey) -> Bool {
        guard let staged = entries[key] else { return false }
        return staged.pending.contains(id) && staged.writtenID <= id
    }

    mutating func markWritten(_ id: Int, for key: ImageKey) {
        if entries[key]?.pending.contains(id) == true { entries[key]?.writtenID = id }
    }

    /// Records the end of a store, whether it succeeded or failed.
    mutating func end(_ id: Int, for key: ImageKey) {
        guard var staged = entries[key], staged.pending.remove(id) != nil else { return }
        if staged.id == id, staged.writtenID != id { staged.entry = nil }
        entries[key] = staged.pending.isEmpty ? nil : staged
    }

    /// Discards the entry of a key, so that its stores in progress do not write it. Returns whether there was one.
    mutating func remove(_ key: ImageKey) -> Bool { entries.removeValue(forKey: key)?.entry != nil }

    /// Discards the entries of a resource, as ``remove(_:)`` does. Returns the keys of the discarded entries.
    mutating func removeAll(of resource: ResourceKey) -> [ImageKey] {
        entries.keys.filter { $0.resource == resource }.filter { remove($0) }
    }

    mutating func removeAll() { entries = [:] }
}

/// The position of a store among the stores and removals of its key. An operation calls both closures within one change
/// of the index, so that no other change comes in between.
struct StoreOrder: Sendable {
    /// A closure that returns whether no later store or removal of the key is done. The default returns true.
    var isCurrent: @Sendable () -> Bool = { true }
    /// A closure that records that the store is done. The default does nothing.
    var markDone: @Sendable () -> Void = {}
}

/// The changes that have begun and not ended, whether they run or wait, and the waiters for their end.
struct InFlightChanges: Sendable {
    typealias Waiter = CheckedContinuation<Void, Never>

    private var lastID = 0
    private var ids: Set<Int> = []
    private var waiters: [(lastID: Int, waiter: Waiter)] = []

    /// Begins a change. Returns its number, which is larger than all earlier ones.
    mutating func begin() -> Int {
        lastID += 1
        ids.insert(lastID)
        return lastID
    }

    /// Ends a change. Returns the waiters whose changes have all ended.
    mutating func end(_ id: Int) -> [Waiter] {
        ids.remove(id)
        guard !waiters.isEmpty else { return [] }
        let first = ids.min() ?? .max
        let ready = waiters.filter { $0.lastID < first }
        waiters.removeAll { $0.lastID < first }
        return ready.map(\.waiter)
    }

    /// Adds a waiter for the changes that have begun so far. At least one change must be in progress. The waiter does
    /// not wait for later changes.
    mutating func add(_ waiter: Waiter) { waiters.append((lastID, waiter)) }

    var isEmpty: Bool { ids.isEmpty }
}
