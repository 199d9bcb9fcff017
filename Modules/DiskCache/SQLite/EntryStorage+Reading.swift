import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

extension EntryStorage {
    /// The result of a read.
    private enum Reading: Sendable {
        case entry(CachedData)
        case absent
        case expired
        case damaged
    }

    /// Returns the entry of a key, or nil. Counts the lookup. Records a use if the entry comes from the database. If
    /// the entry is still in the write queue, its store counts as the use.
    func entry(for key: ImageKey) async -> CachedData? {
        let found = await find(key)
        counts.change { counts in
            if found == nil { counts.misses += 1 } else { counts.hits += 1 }
        }
        return found
    }

    /// Returns whether the cache has an unexpired entry for a key. Does not read the entry's data.
    func contains(_ key: ImageKey) async -> Bool {
        switch pending.withLock({ $0.lookUp(for: key) }) {
        case .entry(let entry): return !isExpired(entry)
        case .absent: return false
        case .unknown: break
        }
        let name = key.fileName
        return await query { [self] table in
            try table.times(named: name, uses: uses).map { !$0.areExpired(limits, at: now) } ?? false
        } ?? false
    }

    /// Returns whether an entry in the write queue has expired.
    private func isExpired(_ entry: CachedData) -> Bool { entry.expiry.map { Timestamp($0) <= now } ?? false }

    private func find(_ key: ImageKey) async -> CachedData? {
        switch pending.withLock({ $0.lookUp(for: key) }) {
        case .entry(let entry): return isExpired(entry) ? nil : entry
        case .absent: return nil
        case .unknown: break
        }
        let reading = try? await read { [self] table in
            guard let row = try table.row(named: key.fileName) else { return Reading.absent }
            return try read(row, for: key)
        }
        switch reading {
        case .entry(let entry): return entry
        case .absent, nil: return nil
        // A store may have replaced the value between the reading of the row and the reading of the file. So the
        // writer's thread checks the entry again before it removes the entry.
        case .expired, .damaged: return await resolve(key)
        }
    }

    /// Returns the entry of a key and records its use if the entry is intact and unexpired. Otherwise, removes the
    /// entry. An entry whose file cannot be read now is kept.
    private func resolve(_ key: ImageKey) async -> CachedData? {
        let found = await Self.uncancelled { [self] in
            try? await change { [self] table -> CachedData? in
                var reading = Reading.absent
                let isRemoved = try table.remove(key.fileName) { (row) throws(SQLiteFailure) in
                    reading = try read(row, for: key)
                    if case .entry = reading { return true }
                    return false
                }
                if isRemoved, case .damaged = reading { counts.change { $0.damagedEntries += 1 } }
                if case .entry(let entry) = reading { return entry }
                return nil
            }
        }
        return found.flatMap { $0 }
    }

    /// Returns the entry in a row, and records its use.
    ///
    /// - Throws: The reason why the file of the entry cannot be read now.
    private func read(_ row: EntryRow, for key: ImageKey) throws(SQLiteFailure) -> Reading {
        let now = now
        let times = uses.times(of: row.id, checksum: row.checksum, times: row.times)
        guard !times.areExpired(limits, at: now) else { return .expired }
        guard let found = try row.entry(for: key, values: values) else { return .damaged }
        let used = times.used(at: now, limits)
        if uses.use(row, times: used, found.checksum) { schedule(.uses) }
        startSweeping()
        var entry = found.content
        entry.expiry = used.expiry?.date
        return .entry(entry)
    }
}
