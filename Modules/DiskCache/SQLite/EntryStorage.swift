import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The storage of a cache: the database, the files, and the threads that use them. After the cache is released, the
/// storage stays alive until all changes that have begun are done.
///
/// Reads have connections of their own beside the one that writes, so they usually do not wait for a store or a trim.
/// If a read finds a damaged database, or an entry that is damaged, expired or changing, the read may continue on the
/// writer's thread. Only that thread can remove the database or the entry.
final class EntryStorage: Sendable {
    /// The extent of a batch of background work. A greater one includes the smaller ones.
    enum Work: Int {
        /// The unwritten uses are written.
        case uses
        /// The limits of size and count are applied.
        case limits
        /// Expired entries are removed, and the files that a crash may have left.
        case all
    }

    private struct Background: Sendable {
        /// The work that has been requested and has not begun.
        var requested: Work?
        /// The last batch of work, which may be waiting, in progress or done.
        var batch: Task<Void, Never>?
    }

    /// The result of a read.
    private enum Reading: Sendable {
        case entry(CachedData)
        case absent
        case expired
        case damaged
    }

    let limits: DataCacheLimits
    let uses = UseLog()
    let counts = Counts()
    let unreported = Locked<[DataCacheItem]>([])
    let trims: Observers<DataCacheTrimReport>
    private let values: ValueDirectory
    private let clock: any TimeSource
    private let readers: DatabasePool
    let writer: DatabasePool
    private let sweeping: RepeatingTask
    private let background = Locked(Background())

    init(
        directory: URL, limits: DataCacheLimits, durability: Durability, sweepInterval: Duration,
        lockTimeout: Duration, clock: any TimeSource, trims: Observers<DataCacheTrimReport>
    ) {
        let (uses, counts) = (uses, counts)
        let values = ValueDirectory(directory: directory, durability: durability)
        (self.limits, self.clock, self.trims, self.values) = (limits, clock, trims, values)
        sweeping = RepeatingTask(every: sweepInterval, clock: clock)
        @Sendable func makeFile(isWriter: Bool) -> sending DatabaseFile {
            DatabaseFile(
                directory: directory, values: values, isWriter: isWriter, lockTimeout: lockTimeout,
                onOpen: { uses.observe(recency: $0) }, onDamage: { counts.change { $0.damagedEntries += 1 } })
        }
        readers = DatabasePool(name: "alcedo.sqlite.read", maxConcurrent: 2) { makeFile(isWriter: false) }
        writer = DatabasePool(name: "alcedo.sqlite.write", maxConcurrent: 1) { makeFile(isWriter: true) }
    }

    var now: Timestamp { Timestamp(clock.now) }

    // MARK: Running work

    /// Runs `work` on the writer's thread. Returns nil if there is no database and `makesFile` is false.
    ///
    /// If the database has to be replaced, removes it and tries once more. The first use of a connection also schedules
    /// a trim and the removal of leftover files.
    ///
    /// - Throws: The errors of `work`, ``SQLiteFailure``, or `CancellationError` if the task is canceled before the
    ///   work begins.
    func change<Value: Sendable>(
        makesFile: Bool = false, _ work: @escaping @Sendable (EntryTable) throws -> Value
    ) async throws -> Value? {
        try await writer.run(makesFile: makesFile) { [self] table in
            if table.isFresh {
                table.isFresh = false
                schedule(.all)
            }
            return try work(table)
        }
    }

    /// Runs `work` on a reader's thread. Returns nil if there is no database. If a reader finds the database damaged,
    /// runs `work` again on the writer's thread, which may remove the database.
    ///
    /// - Throws: The errors of `work`, ``SQLiteFailure``, or `CancellationError` if the task is canceled before the
    ///   work begins.
    func read<Value: Sendable>(_ work: @escaping @Sendable (EntryTable) throws -> Value) async throws -> Value? {
        do {
            return try await readers.run(work)
        } catch let failure as SQLiteFailure where failure.kind == .damaged {
            return try await change(work)
        }
    }

    /// Runs `work` like ``read(_:)``, in a task that is never canceled. Returns nil on a failure.
    func query<Value: Sendable>(_ work: @escaping @Sendable (EntryTable) throws -> Value) async -> Value? {
        await Self.uncancelled { [self] in try? await read(work) }
    }

    /// Runs `work` in a separate task, which continues if the caller's task is canceled.
    static func uncancelled<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
        await Task { await work() }.value
    }

    /// Requests background work, which begins at once or after the batch in progress.
    ///
    /// - Returns: The batch that performs this work. It may serve several requests.
    @discardableResult
    func schedule(_ work: Work) -> Task<Void, Never> {
        background.withLock { state in
            let isWaiting = state.requested != nil
            if work.rawValue >= state.requested?.rawValue ?? 0 { state.requested = work }
            if isWaiting, let batch = state.batch { return batch }
            let batch = Task(priority: .utility) { [self, previous = state.batch] in
                await previous?.value
                let requested = background.withLock { $0.requested.take() }
                if let requested { await maintain(requested) }
            }
            state.batch = batch
            return batch
        }
    }

    /// Starts the periodic trims, which end with the cache. They remove expired entries and apply the limits.
    private func startSweeping() {
        sweeping.start { [weak self] in
            guard let self else { return false }
            _ = await trim()
            return true
        }
    }

    /// Stops the periodic work. Changes that have begun continue.
    func stop() { sweeping.stop() }

    /// Writes the unwritten uses, and closes the connections.
    func close() async {
        await writeUses()
        await forget()
    }

    /// Closes the connections. This drops their page caches, which could hide damage to the file.
    func forget() async {
        await writer.close()
        await readers.close()
    }

    // MARK: Reading

    /// Returns the entry of a key, or nil. Counts the lookup, and records a use.
    func entry(for key: ImageKey) async -> CachedData? {
        let reading = try? await read { [self] table in
            guard let row = try table.row(named: key.fileName) else { return Reading.absent }
            return try read(row, for: key)
        }
        let found: CachedData? =
            switch reading {
            case .entry(let entry): entry
            case .absent, nil: nil
            // A store may have replaced the value between the reading of the row and the reading of the file. So the
            // writer's thread checks the entry again before it removes the entry.
            case .expired, .damaged: await resolve(key)
            }
        counts.change { counts in
            if found == nil { counts.misses += 1 } else { counts.hits += 1 }
        }
        return found
    }

    /// Returns whether the cache has an unexpired entry for a key. Does not read the entry's data.
    func contains(_ key: ImageKey) async -> Bool {
        await query { [self] table in
            try table.times(named: key.fileName, uses: uses).map { !$0.areExpired(limits, at: now) } ?? false
        } ?? false
    }

    /// Returns the metadata of the unexpired entry for a key. Does not read the entry's data.
    func metadata(for key: ImageKey) async -> Data? {
        await query { [self] table -> Data? in
            guard let times = try table.times(named: key.fileName, uses: uses),
                !times.areExpired(limits, at: now)
            else { return nil }
            return try table.metadata(named: key.fileName)
        } ?? nil
    }

    /// Returns the entry of a key and records its use if the entry is intact and unexpired. Otherwise, removes the
    /// entry. An entry whose file cannot be read now is kept.
    private func resolve(_ key: ImageKey) async -> CachedData? {
        let found = await Self.uncancelled { [self] in
            try? await change { [self] table -> CachedData? in
                var reading = Reading.absent
                let isRemoved = try table.remove(key.fileName) { [self] (row) throws(SQLiteFailure) in
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

    // MARK: Writing

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
                await remove { try $0.remove(key.fileName) ? 1 : 0 }
            } else {
                // The space that the file of a large value occupies is known only after the file is written.
                let fileSize = entry.data.count > EntryTable.maximumInlineByteCount ? entry.data.count : 0
                try limits.check(EntryRow.size(of: entry, for: key, fileSize: fileSize))
                _ = try await change(makesFile: true) { [self, entry] in try store(entry, for: key, in: $0) }
            }
            counts.change { $0.stores += 1 }
        } catch {
            if !(error is CancellationError) { counts.change { $0.failures += 1 } }
            // The other errors are those of the limits, which are errors of the cache, and `CancellationError`.
            throw (error as? SQLiteFailure)?.cacheError ?? error
        }
    }

    /// Performs a removal even if the task is canceled. Returns the number of removed entries, or zero if it fails.
    @discardableResult
    func remove(_ removal: @escaping @Sendable (EntryTable) throws -> Int) async -> Int {
        await Self.uncancelled { [self] in (try? await change(removal)) ?? 0 }
    }

    /// Waits for the stores and removals that have begun, writes the uses, and applies the limits of size and count.
    func flush() async {
        await Self.uncancelled { [self] in
            // The writer's thread performs changes in the order in which they begin.
            _ = try? await change { _ in }
            await schedule(.limits).value
        }
    }

    // The following methods run on the writer's thread.

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
        record(try table.removeFiles(beyond: TrimGoal(size: 0, count: 0, reason: .noSpace)))
        throw SQLiteFailure(.abandoned, "cannot remove entries: no space left")
    }

    /// Performs one step of a trim, and records its removals.
    func trimSlice(to goal: TrimGoal, in table: EntryTable) throws(SQLiteFailure) -> (
        removals: [DataCacheItem], isDone: Bool
    ) {
        // The uses are written first. Otherwise, an entry that was just read could count as least recently used.
        writeUses(in: table)
        let slice = try table.trim(to: goal)
        record(slice.removals)
        return slice
    }

    /// Writes the unwritten uses. Drops uses that cannot be written.
    func writeUses(in table: EntryTable) { try? table.write(uses.takeAll()) }

    func record(_ removals: [DataCacheItem]) {
        counts.change { $0.recordEvictions(removals) }
        unreported.withLock { $0 += removals }
    }
}

/// The statistics of a cache, shared by its threads.
final class Counts: Sendable {
    private let counts = Locked(CacheStatistics())

    var statistics: CacheStatistics { counts.withLock { $0 } }

    func change(_ change: (inout CacheStatistics) -> Void) { counts.withLock { change(&$0) } }
}
