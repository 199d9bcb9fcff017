import AlcedoCore

/// The entries that are being written. Reads find them here before they are on disk. If several stores of one key are
/// in progress, reads find the entry of the one that began last. That entry also remains on disk, unless its store
/// fails.
struct StagedEntries: Sendable {
    private struct Staged: Sendable {
        /// The entry of the store that began last, or nil if that store ended without writing it. With nil, reads use
        /// the entry on disk.
        var entry: CachedData?
        var id: Int
        /// The numbers of the key's stores in progress, except those that a removal has discarded.
        var pending: Set<Int>
        /// The highest number of a store that is done, or zero if there is none.
        var writtenID = 0
    }

    private var entries: [ImageKey: Staged] = [:]
    /// The removals in progress, by their numbers. Each value is the set of keys that later stores have written.
    private var removals: [Int: Set<ImageKey>] = [:]

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
        guard entries[key]?.pending.contains(id) == true else { return }
        entries[key]?.writtenID = id
        for removal in removals.keys where removal < id { removals[removal]?.insert(key) }
    }

    /// Records the end of a store, whether it succeeded or failed.
    mutating func end(_ id: Int, for key: ImageKey) {
        guard var staged = entries[key], staged.pending.remove(id) != nil else { return }
        if staged.id == id, staged.writtenID != id { staged.entry = nil }
        entries[key] = staged.pending.isEmpty ? nil : staged
    }

    /// Begins the removal of a key. Discards the key's staged entry. From now on, the key's stores in progress do not
    /// write their entries. Returns whether there was a staged entry. `id` must be larger than all earlier ones.
    mutating func remove(_ key: ImageKey, _ id: Int) -> Bool {
        removals[id] = []
        return discard(key)
    }

    /// Begins the removal of a resource, as ``remove(_:_:)`` does. Returns the keys of the discarded entries.
    mutating func removeAll(of resource: ResourceKey, _ id: Int) -> [ImageKey] {
        removals[id] = []
        return entries.keys.filter { $0.resource == resource }.filter { discard($0) }
    }

    /// Begins the removal of all entries, as ``remove(_:_:)`` does.
    mutating func removeAll(_ id: Int) {
        removals[id] = []
        entries = [:]
    }

    /// Returns the keys that later stores have written since a removal began. The removal must keep their entries.
    func keysWritten(after removal: Int) -> Set<ImageKey> { removals[removal] ?? [] }

    mutating func endRemoval(_ id: Int) { removals[id] = nil }

    private mutating func discard(_ key: ImageKey) -> Bool { entries.removeValue(forKey: key)?.entry != nil }
}

/// The order of a store or removal among the other operations on its key. Before the operation changes files, it calls
/// ``isCurrent``. The cache runs no other change during that call.
struct StoreOrder: Sendable {
    /// A closure that returns whether the operation may still change files. It returns false if a later store of the
    /// key is done. For a store, it also returns false if a later removal has begun. The default returns true.
    var isCurrent: @Sendable () -> Bool = { true }
    /// A closure that records that the store is done. The default does nothing.
    var markDone: @Sendable () -> Void = {}
}

/// The changes that have begun and have not ended, and the waiters for the end of changes. A change that waits for a
/// thread has begun.
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
