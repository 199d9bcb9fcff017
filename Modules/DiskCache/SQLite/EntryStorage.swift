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

    let limits: DataCacheLimits
    let values: ValueDirectory
    let uses = UseLog()
    let pending = Locked(WriteQueue())
    let counts: Counts
    let unreported = Locked<[DataCacheItem]>([])
    let trims: TrimObservers
    private let clock: any TimeSource
    private let readers: DatabasePool
    private let writer: DatabasePool
    private let sweeping: RepeatingTask
    private let background = Locked(Background())

    init(
        directory: URL, limits: DataCacheLimits, durability: Durability, sweepInterval: Duration,
        lockTimeout: Duration, clock: any TimeSource, trims: TrimObservers
    ) {
        let uses = uses
        let (values, counts) = (ValueDirectory(directory: directory, durability: durability), Counts())
        (self.limits, self.clock, self.trims, self.values, self.counts) = (limits, clock, trims, values, counts)
        sweeping = RepeatingTask(every: sweepInterval, clock: clock)
        readers = DatabasePool(name: "alcedo.sqlite.read", maxConcurrent: 2) {
            DatabaseFile(directory: directory, role: .reader, lockTimeout: lockTimeout) {
                (connection) throws(SQLiteFailure) in
                let table = try EntryTable(reading: connection, values: values)
                uses.observe(recency: try table.lastRecency())
                return table
            }
        }
        writer = DatabasePool(name: "alcedo.sqlite.write", maxConcurrent: 1) {
            DatabaseFile(
                directory: directory, role: .writer, lockTimeout: lockTimeout,
                onDamage: { counts.change { $0.damagedEntries += 1 } }
            ) {
                (connection) throws(SQLiteFailure) in
                let table = try EntryTable(connection, values: values)
                uses.observe(recency: try table.lastRecency())
                return table
            }
        }
    }

    var now: Timestamp { Timestamp(clock.now) }

    /// Runs `work` on the writer's thread. Returns nil if there is no database and `makesFile` is false.
    ///
    /// If the database has to be replaced, removes it and tries once more. The first use of a connection also schedules
    /// a trim and the removal of leftover files.
    ///
    /// - Throws: The errors of `work`, ``SQLiteFailure``, or `CancellationError` if the task is canceled before the
    ///   work begins.
    func change<Value: Sendable>(
        makesFile: Bool = false, priority: LoadPriority = .normal,
        _ work: @escaping @Sendable (EntryTable) throws -> Value
    ) async throws -> Value? {
        try await writer.run(makesFile: makesFile, priority: priority) { [self] table in
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
    func read<Value: Sendable>(
        priority: LoadPriority = .normal, _ work: @escaping @Sendable (EntryTable) throws -> Value
    ) async throws -> Value? {
        do {
            return try await readers.run(priority: priority, work)
        } catch let failure as SQLiteFailure where failure.kind == .damaged {
            return try await change(priority: priority, work)
        }
    }

    /// Runs `work` like ``read(priority:_:)``, in a task that is never canceled. Returns nil on a failure.
    func query<Value: Sendable>(_ work: @escaping @Sendable (EntryTable) throws -> Value) async -> Value? {
        await Self.uncancelled { [self] in try? await read(work) }
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
    func startSweeping() {
        sweeping.start { [weak self] in
            guard let self else { return false }
            _ = await trim()
            return true
        }
    }

    func flush() async {
        await Self.uncancelled { [self] in
            let ticket = pending.withLock { $0.latestTicket }
            try? await finishWrites(upTo: ticket)
            await schedule(.limits).value
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

    /// Runs `work` in a separate task, which continues if the caller's task is canceled.
    static func uncancelled<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
        await Task { await work() }.value
    }
}

/// The statistics of a cache, shared by its threads.
final class Counts: Sendable {
    private let counts = Locked(CacheStatistics())

    var statistics: CacheStatistics { counts.withLock { $0 } }

    func change(_ change: (inout CacheStatistics) -> Void) { counts.withLock { change(&$0) } }
}
