import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

extension EntryStorage {
    /// The result of a read.
    private enum Reading: Sendable {
        case entry(CachedData)
        case absent
        /// The entry seems to be expired or damaged, or it is changing. The writer's thread checks it again.
        case unconfirmed
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
        let isUnexpired = await read { [self] queries in
            try queries.times(named: name, uses: uses).map { !$0.areExpired(limits, at: now) }
        }
        return isUnexpired.flatMap { $0 } ?? false
    }

    /// Returns whether an entry in the write queue has expired.
    private func isExpired(_ entry: CachedData) -> Bool { entry.expiry.map { Timestamp($0) <= now } ?? false }

    private func find(_ key: ImageKey) async -> CachedData? {
        switch pending.withLock({ $0.lookUp(for: key) }) {
        case .entry(let entry): return isExpired(entry) ? nil : entry
        case .absent: return nil
        case .unknown: break
        }
        do {
            switch try await readNow({ [self] in try read(key, from: $0) }) {
            case .entry(let entry): return entry
            case .absent, nil: return nil
            case .unconfirmed: break
            }
        } catch {
            guard let failure = error as? SQLiteFailure, failure.kind == .damaged else { return nil }
        }
        return await Self.uncancelled { [self] in
            let resolved = try? await change { [self] in try resolve(key, in: $0) }
            return resolved.flatMap { $0 }
        }
    }

    private func read(_ key: ImageKey, from queries: EntryQueries) throws(SQLiteFailure) -> Reading {
        let name = key.fileName
        // A store may replace the value between the reading of the row and the reading of the file. So a failed check
        // is repeated once.
        for _ in 0..<2 {
            guard let row = try queries.row(named: name) else { return .absent }
            let now = now
            let times = uses.times(of: row.id, checksum: row.checksum, times: row.times)
            guard !times.areExpired(limits, at: now) else { return .unconfirmed }
            if let (entry, checksum) = try row.entry(for: key, values: values) {
                return .entry(use(entry, checksum, row, times, at: now))
            }
        }
        return .unconfirmed
    }

    /// Returns an entry and records its use if the entry is intact and unexpired. Otherwise, removes the entry and
    /// returns nil. An entry without a row of content is kept. If the entry's file cannot be read now, throws the
    /// reason and keeps the entry.
    private func resolve(_ key: ImageKey, in changes: EntryChanges) throws(SQLiteFailure) -> CachedData? {
        var found: CachedData?
        var isDamaged = false
        let removed = try changes.remove(key.fileName) { (row) throws(SQLiteFailure) in
            let now = now
            let times = uses.times(of: row.id, checksum: row.checksum, times: row.times)
            guard !times.areExpired(limits, at: now) else { return false }
            guard let (entry, checksum) = try row.entry(for: key, values: values) else {
                isDamaged = true
                return false
            }
            found = use(entry, checksum, row, times, at: now)
            return true
        }
        if removed, isDamaged { counts.change { $0.damagedEntries += 1 } }
        return found
    }

    private func use(
        _ entry: CachedData, _ checksum: EntryChecksum, _ row: EntryRow, _ times: EntryTimes, at now: Timestamp
    ) -> CachedData {
        let times = times.used(at: now, limits)
        if uses.use(row.id, read: row.checksum, times: times, checksum) { schedule(.uses) }
        startSweeping()
        var entry = entry
        entry.expiry = times.expiry?.date
        return entry
    }
}
