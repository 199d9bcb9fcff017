import AlcedoCore
import FoundationEssentials

/// A cache's database and files, with the threads they are used on. Lives on behind a cache that is let go of, until
/// what was begun is done.
///
/// Reads have connections of their own, beside the one that writes: they never wait for a store or a trim, and no reader
/// changes anything. What a reader finds wanting the writer looks at again, alone, before it removes it.
final class EntryStorage: Sendable {
    let limits: DataCacheLimits
    let values: ValueFolder
    let uses = UseLog()
    let pending = Locked(PendingWrites())
    let counts: Counts
    let unreported = Locked<[DataCacheTrimReport.Removal]>([])
    let trims: TrimObservers
    private let clock: any TimeSource
    private let readers: DatabaseLanes<EntryQueries>
    private let writer: DatabaseLanes<EntryChanges>
    private let sweeping: Recurrence
    let background = BackgroundWork()

    init(
        directory: URL, limits: DataCacheLimits, durability: Durability, sweepInterval: Duration,
        lockPatience: Duration, clock: any TimeSource, trims: TrimObservers
    ) {
        self.limits = limits
        self.clock = clock
        self.trims = trims
        sweeping = Recurrence(every: sweepInterval, clock: clock)
        let values = ValueFolder(directory: directory, durability: durability)
        self.values = values
        let uses = uses
        let counts = Counts()
        self.counts = counts
        readers = DatabaseLanes(
            name: "alcedo.sqlite.read", width: 2, directory: directory, role: .reader, lockPatience: lockPatience
        ) {
            (connection) throws(SQLiteFailure) in
            let queries = try EntryQueries.reader(connection)
            uses.learn(recency: try queries.lastRecency())
            return queries
        }
        writer = DatabaseLanes(
            name: "alcedo.sqlite.write", width: 1, directory: directory, role: .writer, lockPatience: lockPatience,
            noteDamage: { counts.change { $0.damagedEntries += 1 } }
        ) {
            (connection) throws(SQLiteFailure) in
            let changes = try EntryChanges(connection, values: values)
            uses.learn(recency: try changes.queries.lastRecency())
            return changes
        }
    }

    var now: Timestamp { Timestamp(clock.now) }

    /// Runs `work` where entries are changed; returns nil when there is no file and `makesFile` is false.
    ///
    /// - Throws: What `work` throws, ``SQLiteFailure``, or `CancellationError`.
    func change<Value: Sendable>(
        makesFile: Bool = false, priority: LoadPriority = .normal,
        _ work: @escaping @Sendable (EntryChanges) throws -> Value
    ) async throws -> Value? {
        try await writer.run(makesFile: makesFile, priority: priority) { [self] changes in
            if changes.isFresh {
                changes.isFresh = false
                schedule([.leftovers, .expired, .limits])
            }
            return try work(changes)
        }
    }

    /// The same, but a failure is noted, unless one was before; returns nil then, too.
    func change<Value: Sendable>(
        noting refusal: inout DataCacheError?, priority: LoadPriority = .normal,
        _ work: @escaping @Sendable (EntryChanges) throws -> Value
    ) async -> Value? {
        do {
            return try await change(priority: priority, work)
        } catch {
            refusal = refusal ?? (error as? SQLiteFailure)?.cacheError
            return nil
        }
    }

    /// Runs `work` beside everything else, in a task that nobody cancels; returns nil when there is no file, or when it
    /// fails. Makes a damaged file anew.
    func read<Value: Sendable>(
        priority: LoadPriority = .normal, _ work: @escaping @Sendable (EntryQueries) throws -> Value
    ) async -> Value? {
        var refusal: DataCacheError?
        return await read(noting: &refusal, priority: priority, work)
    }

    /// The same, but a failure is noted, unless one was before.
    func read<Value: Sendable>(
        noting refusal: inout DataCacheError?, priority: LoadPriority = .normal,
        _ work: @escaping @Sendable (EntryQueries) throws -> Value
    ) async -> Value? {
        let (found, reason) = await Self.uncancelled { [self] in
            var reason: DataCacheError?
            do {
                return (try await readers.run(priority: priority, work), reason)
            } catch {
                guard let failure = error as? SQLiteFailure else { return (nil, nil) }
                guard failure.kind == .damaged else { return (nil, failure.cacheError) }
                return (await change(noting: &reason) { try work($0.queries) }, reason)
            }
        }
        refusal = refusal ?? reason
        return found
    }

    /// Runs `work` beside everything else. Throws ``SQLiteFailure``, or `CancellationError`.
    func readNow<Value: Sendable>(_ work: @escaping @Sendable (EntryQueries) throws -> Value) async throws -> Value? {
        try await readers.run(work)
    }

    func schedule(_ needs: BackgroundWork.Needs) {
        background.schedule(needs) { [self] in await perform($0) }
    }

    /// Looks for what has expired, now and then, for as long as the cache is there.
    func startSweeping() {
        sweeping.start { [weak self] in
            guard let self else { return false }
            _ = await clean()
            return true
        }
    }

    func flush() async {
        await Self.uncancelled { [self] in
            let ticket = pending.withLock { $0.latestTicket }
            await finishWrites(upTo: ticket)
            schedule([.uses, .limits])
            await background.finish()
        }
    }

    /// Ends what runs by itself. What was asked for goes on.
    func stop() { sweeping.stop() }

    /// Writes the uses, and closes the files.
    func close() async {
        await writeUses()
        await forget()
    }

    /// Closes the files, so that what is read next is what the disk has, not what the connections remember.
    func forget() async {
        await writer.close()
        await readers.close()
    }

    /// In a task of its own: for work that has no way to say that it was not done.
    static func uncancelled<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
        await Task { await work() }.value
    }
}
