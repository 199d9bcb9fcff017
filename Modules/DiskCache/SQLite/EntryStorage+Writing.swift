import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

extension EntryStorage {
    /// Stores an entry. If the new entry has already expired, only removes the existing entry of the key.
    ///
    /// - Throws: `DataCacheError` if the entry exceeds the limits or cannot be written, or `CancellationError` if the
    ///   task is canceled before the write begins.
    func store(_ entry: CachedData, for key: ImageKey) async throws {
        defer { report() }
        var entry = entry
        let expiry = entry.expiry.map(Timestamp.init)
        entry.expiry = expiry?.date
        do {
            if let expiry, expiry <= now {
                try Task.checkCancellation()
                await remove(.remove(key))
            } else {
                try checkSize(of: entry, for: key)
                _ = try await write(.store(entry, key))
            }
            counts.change { $0.stores += 1 }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            counts.change { $0.failures += 1 }
            throw (error as? SQLiteFailure)?.cacheError ?? error
        }
    }

    /// Performs a write that only removes entries. Returns the number of removed entries, or zero for `removeAll` or if
    /// the write fails.
    @discardableResult
    func remove(_ write: WriteQueue.Write) async -> Int {
        await Self.uncancelled { [self] in (try? await self.write(write)) ?? 0 }
    }

    /// Performs the waiting writes up to a ticket.
    ///
    /// - Throws: The reason why they cannot be performed now.
    func finishWrites(upTo ticket: Int) async throws {
        let stores = pending.withLock { $0.hasStores(upTo: ticket) }
        _ = try await change(makesFile: stores) { [self] in try perform(upTo: ticket, in: $0) }
    }

    private func checkSize(of entry: CachedData, for key: ImageKey) throws(DataCacheError) {
        // The space that the file of a large value occupies is known only after the file is written.
        let fileSize = entry.data.count > EntryTable.maximumInlineByteCount ? entry.data.count : 0
        try limits.check(EntryRow.size(of: entry, for: key, fileSize: fileSize))
    }

    /// Enqueues a write, and waits until the write is done. Returns the number in the write's ``WriteQueue/Outcome``,
    /// or zero if there is no database. If the write fails or is canceled, throws the error. The write is then no
    /// longer queued.
    private func write(_ write: WriteQueue.Write) async throws -> Int {
        let ticket = pending.withLock { $0.add(write) }
        do {
            try await finishWrites(upTo: ticket)
        } catch {
            // Another caller may have performed the write meanwhile.
            guard let outcome = pending.withLock({ $0.take(ticket) }) else { throw error }
            return try outcome.get()
        }
        return try pending.withLock { $0.take(ticket) }?.get() ?? 0
    }

    // The following methods run on the writer's thread.

    /// Performs the writes in the order of their requests, which may differ from the order in which the tasks run.
    private func perform(upTo ticket: Int, in table: EntryTable) throws(SQLiteFailure) {
        while let next = pending.withLock({ $0.next(upTo: ticket) }) {
            do throws(SQLiteFailure) {
                let removedCount = try perform(next.write, in: table)
                pending.withLock { $0.finish(next.ticket, .success(removedCount)) }
            } catch {
                // After the first such failure, the database is replaced, and this method runs again.
                if error.needsNewFile { throw error }
                pending.withLock { $0.finish(next.ticket, .failure(error)) }
            }
        }
    }

    private func perform(_ write: WriteQueue.Write, in table: EntryTable) throws(SQLiteFailure) -> Int {
        switch write {
        case .store(let entry, let key):
            try store(entry, for: key, in: table)
            return 0
        case .remove(let key):
            return try table.remove(key.fileName) ? 1 : 0
        case .removeResource(let resource):
            return try table.removeAll(of: resource)
        case .removeAll:
            try table.removeAll()
            return 0
        }
    }

    private func store(_ entry: CachedData, for key: ImageKey, in table: EntryTable) throws(SQLiteFailure) {
        try makeRoom(in: table)
        let now = now
        let recency = uses.nextRecency(at: now)
        let totals: EntryTotals
        do throws(SQLiteFailure) {
            totals = try table.store(entry, for: key, recency: recency, at: now, limit: limits.sizeLimit)
        } catch {
            guard error.kind == .noSpace else { throw error }
            try evictHalf(in: table, orThrow: error)
            totals = try table.store(entry, for: key, recency: recency, at: now, limit: limits.sizeLimit)
        }
        if TrimGoal(totals, exceeding: limits) != nil || totals.hasSpareFile(beyond: limits.sizeLimit) {
            schedule(.limits)
        }
        startSweeping()
    }

    /// Trims at once if the cache exceeds a limit by more than 10 percent, because the background work is then too
    /// slow.
    private func makeRoom(in table: EntryTable) throws(SQLiteFailure) {
        let totals = try table.totals()
        let size = totals.occupiedSize
        guard size - size / 11 > limits.sizeLimit || totals.count - totals.count / 11 > limits.countLimit,
            let goal = TrimGoal(totals, exceeding: limits)
        else { return }
        while try !trimSlice(to: goal, in: table).isDone {}
    }

    /// Removes the least recently used entries until at most half of the bytes are left, because the disk is full.
    /// Removing entries needs space in the log, and writing the log back may need space in the database.
    ///
    /// - Throws: `reason` if there are no entries. A failure of the kind `abandoned` if the database has to be replaced
    ///   to free space. Any other failure of the database.
    private func evictHalf(in table: EntryTable, orThrow reason: SQLiteFailure) throws(SQLiteFailure) {
        let totals = try table.totals()
        guard totals.count > 0 else { throw reason }
        let goal = TrimGoal(size: totals.occupiedSize / 2, count: .max, reason: .noSpace)
        for isFirst in [true, false] {
            // Removing files needs no log, and may free enough space for the second attempt.
            if !isFirst { _ = try table.removeFiles(beyond: goal) }
            do throws(SQLiteFailure) {
                try table.truncateLog()
                while try !trimSlice(to: goal, in: table).isDone { try table.truncateLog() }
                try table.truncateLog()
                // The database shrinks in small steps, which keeps the log short.
                while try table.shrink() { try table.truncateLog() }
                return try table.truncateLog()
            } catch {
                guard error.kind == .noSpace else { throw error }
            }
        }
        // As the last resort, the database is replaced in the same way as a damaged database.
        let everything = TrimGoal(size: 0, count: 0, reason: .noSpace)
        record(TrimSlice(removals: try table.removeFiles(beyond: everything)))
        throw SQLiteFailure(.abandoned, "cannot remove entries: no space left")
    }
}
