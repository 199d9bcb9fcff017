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
    let limits: DataCacheLimits
    let values: ValueDirectory
    let uses = UseLog()
    let pending = Locked(WriteQueue())
    let counts: Counts
    let unreported = Locked<[DataCacheItem]>([])
    let trims: TrimObservers
    private let clock: any TimeSource
    private let readers: DatabasePool<EntryQueries>
    private let writer: DatabasePool<EntryChanges>
    private let sweeping: RepeatingTask
    let background = MaintenanceQueue()

    init(
        directory: URL, limits: DataCacheLimits, durability: Durability, sweepInterval: Duration,
        lockTimeout: Duration, clock: any TimeSource, trims: TrimObservers
    ) {
        self.limits = limits
        self.clock = clock
        self.trims = trims
        sweeping = RepeatingTask(every: sweepInterval, clock: clock)
        let values = ValueDirectory(directory: directory, durability: durability)
        self.values = values
        let uses = uses
        let counts = Counts()
        self.counts = counts
        readers = DatabasePool(
            name: "alcedo.sqlite.read", maxConcurrent: 2, directory: directory, role: .reader, lockTimeout: lockTimeout
        ) {
            (connection) throws(SQLiteFailure) in
            let queries = try EntryQueries.reader(connection)
            uses.observe(recency: try queries.lastRecency())
            return queries
        }
        writer = DatabasePool(
            name: "alcedo.sqlite.write", maxConcurrent: 1, directory: directory, role: .writer,
            lockTimeout: lockTimeout,
            onDamage: { counts.change { $0.damagedEntries += 1 } }
        ) {
            (connection) throws(SQLiteFailure) in
            let changes = try EntryChanges(connection, values: values)
            uses.observe(recency: try changes.queries.lastRecency())
            return changes
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

    /// Runs `work` on the writer's thread. Returns nil if there is no database, on a failure, or if the task is
    /// canceled before the work begins. On a failure, sets `failure` to the reason if `failure` is still nil. A
    /// cancellation is not recorded.
    func change<Value: Sendable>(
        recording failure: inout DataCacheError?, priority: LoadPriority = .normal,
        _ work: @escaping @Sendable (EntryChanges) throws -> Value
    ) async -> Value? {
        do {
            return try await change(priority: priority, work)
        } catch {
            failure = failure ?? (error as? SQLiteFailure)?.cacheError
            return nil
        }
    }

    /// Runs `work` on a reader's thread, in a task that is never canceled. Returns nil if there is no database or on a
    /// failure. If a reader finds the database damaged, runs `work` again on the writer's thread, which may remove the
    /// database.
    func read<Value: Sendable>(
        priority: LoadPriority = .normal, _ work: @escaping @Sendable (EntryQueries) throws -> Value
    ) async -> Value? {
        var failure: DataCacheError?
        return await read(recording: &failure, priority: priority, work)
    }

    /// Runs `work` like ``read(priority:_:)``. On a failure, sets `failure` to the reason if `failure` is still nil.
    /// The removal of a damaged database is not a failure.
    func read<Value: Sendable>(
        recording failure: inout DataCacheError?, priority: LoadPriority = .normal,
        _ work: @escaping @Sendable (EntryQueries) throws -> Value
    ) async -> Value? {
        let (found, reason) = await Self.uncancelled { [self] in
            var reason: DataCacheError?
            do {
                return (try await readers.run(priority: priority, work), reason)
            } catch {
                guard let failure = error as? SQLiteFailure else { return (nil, nil) }
                guard failure.kind == .damaged else { return (nil, failure.cacheError) }
                return (await change(recording: &reason) { try work($0.queries) }, reason)
            }
        }
        failure = failure ?? reason
        return found
    }

    /// Runs `work` on a reader's thread. Returns nil if there is no database. Throws the errors of `work`,
    /// ``SQLiteFailure``, or `CancellationError` if the task is canceled before the work begins.
    func readNow<Value: Sendable>(_ work: @escaping @Sendable (EntryQueries) throws -> Value) async throws -> Value? {
        try await readers.run(work)
    }

    func schedule(_ needs: MaintenanceQueue.Needs) {
        background.schedule(needs) { [self] in await perform($0) }
    }

    /// Starts the periodic trims, which end with the cache. They remove expired entries and apply the limits.
    func startSweeping() {
        sweeping.start { [weak self] in
            guard let self else { return false }
            _ = await trimToLimits()
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

/// A queue of background work, which runs one batch at a time.
final class MaintenanceQueue: Sendable {
    struct Needs: OptionSet, Sendable {
        let rawValue: Int

        /// The unwritten uses have to be written.
        static let uses = Needs(rawValue: 1)
        /// The limits of size and count have to be applied.
        static let limits = Needs(rawValue: 2)
        /// Expired entries have to be removed.
        static let expired = Needs(rawValue: 4)
        /// The files that a crash may have left have to be removed.
        static let leftovers = Needs(rawValue: 8)
    }

    private struct State: Sendable {
        var requested: Needs = []
        /// The number of requests that added work, and the number of those whose work is done. One batch may serve
        /// several requests.
        var requestCount = 0
        var doneCount = 0
        var running: Task<Void, Never>?
    }

    private let state = Locked(State())

    /// Requests work that begins at once, or after the batch in progress. Does nothing if all of this work is already
    /// waiting.
    func schedule(_ needs: Needs, perform: @escaping @Sendable (Needs) async -> Void) {
        state.withLock { state in
            guard !state.requested.isSuperset(of: needs) else { return }
            state.requested.formUnion(needs)
            state.requestCount += 1
            if state.running == nil { begin(&state, perform) }
        }
    }

    /// Waits until all work that was scheduled before this call is done.
    func finish() async {
        let requested = state.withLock { $0.requestCount }
        while let task = state.withLock({ $0.doneCount < requested ? $0.running : nil }) { await task.value }
    }

    private func begin(_ state: inout State, _ perform: @escaping @Sendable (Needs) async -> Void) {
        let (needs, requests) = (state.requested, state.requestCount)
        state.requested = []
        state.running = Task(priority: .utility) { [self] in
            await perform(needs)
            self.state.withLock { state in
                state.doneCount = requests
                state.running = nil
                if !state.requested.isEmpty { begin(&state, perform) }
            }
        }
    }
}

/// The statistics of a cache, shared by its threads.
final class Counts: Sendable {
    private let counts = Locked(CacheStatistics())

    var statistics: CacheStatistics { counts.withLock { $0 } }

    func change(_ change: (inout CacheStatistics) -> Void) { counts.withLock { change(&$0) } }
}
