import AlcedoCore

/// Entries that are being stored, so that they are found before they are on disk. Of several under one key the last one is
/// found, and stays the last.
struct StagedEntries: Sendable {
    private struct Staged: Sendable {
        var entry: CachedData
        var id: Int
        /// Stores under the key that have not ended, this one with them.
        var pending: Set<Int>
        /// The last one that is on disk.
        var writtenID = 0
    }

    private var entries: [ImageKey: Staged] = [:]
    private var lastID = 0

    func entry(for key: ImageKey) -> CachedData? { entries[key]?.entry }

    /// Returns a number for the store that begins.
    mutating func add(_ entry: CachedData, for key: ImageKey) -> Int {
        lastID += 1
        var staged = entries[key] ?? Staged(entry: entry, id: lastID, pending: [])
        staged.entry = entry
        staged.id = lastID
        staged.pending.insert(lastID)
        entries[key] = staged
        return lastID
    }

    /// False when what came later is on disk already.
    func mayWrite(_ id: Int, for key: ImageKey) -> Bool { entries[key].map { $0.writtenID < id } ?? true }

    mutating func noteWritten(_ id: Int, for key: ImageKey) {
        if entries[key]?.pending.contains(id) == true { entries[key]?.writtenID = id }
    }

    /// Notes that a store has ended, well or not.
    mutating func end(_ id: Int, for key: ImageKey) {
        guard var staged = entries[key], staged.pending.remove(id) != nil else { return }
        // The last one that failed is not to be found; what is on disk is.
        let isOver = staged.pending.isEmpty || staged.id == id && staged.writtenID != id
        entries[key] = isOver ? nil : staged
    }

    /// Returns whether there was one.
    mutating func remove(_ key: ImageKey) -> Bool { entries.removeValue(forKey: key) != nil }

    mutating func removeAll(of resource: ResourceKey) {
        entries = entries.filter { $0.key.resource != resource }
    }

    mutating func removeAll() { entries = [:] }
}
