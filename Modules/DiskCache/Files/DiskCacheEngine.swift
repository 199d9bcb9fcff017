import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The engine of a file cache. It runs the blocking operations of an ``EntryStore`` on dedicated threads. A blocking
/// call runs them on the caller's thread. The engine also tracks the stores and removals in progress.
final class DiskCacheEngine: Sendable {
    private struct State: Sendable {
        var changes = InFlightChanges()
        var staged = StagedEntries()
        var trim: Task<Void, Never>?
        /// Whether a background trim was requested and has not begun. A running trim does not fulfill a later request,
        /// because it may have scanned the entries before the request.
        var isTrimDue = false
        var isWritingUses = false
        /// The latest task that removes an expired entry. It waits for the earlier tasks.
        var removal: Task<Void, Never>?

        /// Begins a store. Returns its number.
        mutating func stage(_ entry: CachedData, for key: ImageKey) -> Int {
            let id = changes.begin()
            staged.add(entry, id, for: key)
            return id
        }

        /// Returns whether a trim is due, and clears the request. If no trim is due, releases the trim task.
        mutating func takeTrim() -> Bool {
            defer { isTrimDue = false }
            if !isTrimDue { trim = nil }
            return isTrimDue
        }
    }

    let store: EntryStore
    private let readers = BlockingExecutor(name: "alcedo.disk.read", maxConcurrent: 2)
    let writer = BlockingExecutor(name: "alcedo.disk.write", maxConcurrent: 1)
    private let state = Locked(State())
    private let sweeping: RepeatingTask
    private let trims: Observers<DataCacheTrimReport>

    init(
        _ store: EntryStore, sweepInterval: Duration, clock: any TimeSource, trims: Observers<DataCacheTrimReport>
    ) {
        self.store = store
        sweeping = RepeatingTask(every: sweepInterval, clock: clock)
        self.trims = trims
    }

    /// Stops the periodic work, and writes the unwritten uses in the background. Changes that have begun continue.
    func close() {
        sweeping.stop()
        Task { await perform { $0.writeUses() } }
    }

    // MARK: Reading

    func entry(for key: ImageKey, isMapped: Bool) async -> CachedData? {
        if let staged = staged(key) { return staged }
        var found = isMapped || Task.isCancelled ? nil : store.readAtOnce(key)
        if found == nil { found = try? await readers.run { [store] in store.read(key, isMapped: isMapped) } }
        guard let reading = found else { return nil }
        if reading.isDue { writeUsesSoon() }
        guard case .found(let entry) = reading.result else { return await resolve(reading.result, key) }
        recordHit()
        return entry
    }

    func chunks(for key: ImageKey, chunkSize: Int) async -> DiskEntryChunks? {
        let size = max(4096, chunkSize)
        if let staged = staged(key) { return DiskEntryChunks(staged, chunkSize: size) }
        guard let found = try? await readers.run({ self.store.openChunks(key, chunkSize: size) }) else { return nil }
        if let reader = found.reader {
            recordHit()
            return DiskEntryChunks(reader, executor: readers)
        }
        return await resolve(found.reading, key).map { DiskEntryChunks($0, chunkSize: size) }
    }

    /// Completes a lookup with the result of a read: returns the entry or nil, and counts the lookup. An expired entry
    /// is removed in the background. An unconfirmed entry is checked again on the writer's thread.
    private func resolve(_ reading: EntryStore.Reading, _ key: ImageKey) async -> CachedData? {
        var found: CachedData?
        switch reading {
        case .found(let entry): found = entry
        case .absent: break
        case .expired: removeExpiredSoon(key)
        case .unconfirmed:
            found = await perform { $0.confirm(key) } ?? nil
            // Meanwhile, a store of the key may have begun. Its entry may not be on disk yet.
            if found == nil { found = stagedEntry(key) }
        }
        if found != nil { startSweeping() }
        store.countLookup(isHit: found != nil)
        return found
    }

    private func recordHit() {
        startSweeping()
        store.countLookup(isHit: true)
    }

    private func staged(_ key: ImageKey) -> CachedData? {
        guard let entry = stagedEntry(key) else { return nil }
        store.countLookup(isHit: true)
        return entry
    }

    private func stagedEntry(_ key: ImageKey) -> CachedData? {
        guard let entry = state.withLock({ $0.staged.entry(for: key) }) else { return nil }
        if let expiry = entry.expiry, Timestamp(expiry) <= store.now { return nil }
        return entry
    }

    /// Returns an entry. Blocks the caller's thread.
    func entryBlocking(for key: ImageKey) -> CachedData? {
        if let staged = staged(key) { return staged }
        let reading = store.read(key, isMapped: false)
        if reading.isDue { writeUsesSoon() }
        var found: CachedData?
        switch reading.result {
        case .found(let entry): found = entry
        case .absent: break
        case .expired: store.removeExpired(key)
        case .unconfirmed: found = store.confirm(key) ?? stagedEntry(key)
        }
        if found != nil { startSweeping() }
        store.countLookup(isHit: found != nil)
        return found
    }

    /// Stores an entry. Blocks the caller's thread.
    func storeBlocking(_ entry: CachedData, for key: ImageKey) throws(DataCacheError) {
        let id = state.withLock { $0.stage(entry, for: key) }
        defer { end(id, storing: key) }
        startSweeping()
        if try write(entry, for: key, id) { trimSoon() }
    }

    func contains(_ key: ImageKey) async -> Bool {
        if stagedEntry(key) != nil { return true }
        return await performRead { $0.contains(key) } ?? false
    }

    func metadata(for key: ImageKey) async -> Data? {
        if let staged = stagedEntry(key) { return staged.metadata }
        return await performRead { $0.metadata(key) } ?? nil
    }

    var totals: (size: Int, count: Int) {
        get async { await perform { $0.index.totals } ?? (0, 0) }
    }

    func listingError() async -> DataCacheError? { await perform { $0.index.load() } ?? nil }

    // MARK: Changing

    func store(_ entry: CachedData, for key: ImageKey) async throws {
        try Task.checkCancellation()
        let id = state.withLock { $0.stage(entry, for: key) }
        defer { end(id, storing: key) }
        startSweeping()
        if try await writer.run({ try self.write(entry, for: key, id) }) { trimSoon() }
    }

    /// Writes an entry. Does nothing if a later store of its key is done or a later removal has begun. Returns whether
    /// a trim is due.
    private func write(_ entry: CachedData, for key: ImageKey, _ id: Int) throws(DataCacheError) -> Bool {
        let order = StoreOrder {
            self.state.withLock { $0.staged.mayWrite(id, for: key) }
        } markDone: {
            self.state.withLock { $0.staged.markWritten(id, for: key) }
        }
        guard order.isCurrent() else { return false }
        let isFirst = store.sweepOnce()
        defer { report(store.takeReport()) }
        try store.store(entry, for: key, in: order)
        // If stores are faster than the trims in the background, the storing thread has to trim.
        if store.isOverLimits(by: 0.1) { trimNow() }
        return isFirst || store.isOverLimits()
    }

    func remove(_ key: ImageKey) async -> Bool {
        let (id, wasStaged) = state.withLock { state in
            let id = state.changes.begin()
            return (id, state.staged.remove(key, id))
        }
        defer { end(id) }
        let order = StoreOrder(isCurrent: { !self.keysWritten(after: id).contains(key) })
        let wasOnDisk = await perform { $0.remove(key, in: order) } ?? false
        return wasStaged || wasOnDisk
    }

    func removeAll(of resource: ResourceKey) async -> Int {
        let (id, staged) = state.withLock { state in
            let id = state.changes.begin()
            return (id, state.staged.removeAll(of: resource, id))
        }
        defer { end(id) }
        let count = await perform { store in
            let written = self.keysWritten(after: id)
            let (files, paths) = (store.files, store.files.paths)
            let stagedOnlyCount = staged.count { written.contains($0) || !files.contains(paths.name(of: $0)) }
            return stagedOnlyCount + store.removeAll(of: resource) { self.keysWritten(after: id) }
        }
        return count ?? 0
    }

    func removeAll() async {
        let id = state.withLock { state in
            let id = state.changes.begin()
            state.staged.removeAll(id)
            return id
        }
        defer { end(id) }
        await perform { store in store.removeAll { self.keysWritten(after: id) } }
    }

    private func keysWritten(after removal: Int) -> Set<ImageKey> {
        state.withLock { $0.staged.keysWritten(after: removal) }
    }

    func flush() async {
        await waitForChanges()
        await state.withLock { $0.removal }?.value
        let isOver = await perform { store in
            store.writeUses()
            return !store.index.isMissing && store.isKnownOverLimits
        }
        if isOver == true { trimSoon() }
        while let trim = state.withLock({ $0.trim }) { await trim.value }
    }

    /// Waits for the stores and removals that have begun. Waiting for the writer's queue would not be enough: a store
    /// or removal may enter the queue later, and a blocking store never enters it.
    private func waitForChanges() async {
        await withCheckedContinuation { waiter in
            let hasNone = state.withLock { state in
                if !state.changes.isEmpty { state.changes.add(waiter) }
                return state.changes.isEmpty
            }
            if hasNone { waiter.resume() }
        }
    }

    /// Records the end of a store or removal, whether it succeeded or failed. Resumes the waiters whose changes have
    /// all ended.
    private func end(_ id: Int, storing key: ImageKey? = nil) {
        let waiters = state.withLock { state in
            if let key { state.staged.end(id, for: key) } else { state.staged.endRemoval(id) }
            return state.changes.end(id)
        }
        for waiter in waiters { waiter.resume() }
    }

    // MARK: Maintaining

    func items() async -> [DataCacheItem] {
        // Loading runs on the writer's thread, because it may list the directory and wait for another process. The
        // readers' threads stay free for reads.
        if await performRead({ $0.index.isLoaded }) != true {
            await Task { [writer, store] in _ = try? await writer.run { store.index.load() } }.value
            report(store.takeReport())
        }
        return await performRead { store in
            let now = store.now
            return store.index.copy().entries.filter { !$0.isExpired(store.limits, at: now) }
                .sorted { $0.isUsedBefore($1) }.map { DataCacheItem($0) }
        } ?? []
    }

    func key(named text: String) async -> ImageKey? {
        guard let name = EntryName(digits: text.utf8) else { return nil }
        return await performRead { $0.key(named: name) } ?? nil
    }

    func trim(_ trim: EntryTrim) async -> DataCacheTrimReport {
        let run = TrimRun(trim)
        while await perform(priority: .low, { run.advance(in: $0) }) == false {}
        let report = run.report
        if !report.removals.isEmpty { trims.tell(report) }
        return report
    }

    func trimToLimits() async -> DataCacheTrimReport {
        guard let trim = await perform({ store in store.index.isMissing ? nil : store.knownLimitTrim }) ?? nil else {
            return DataCacheTrimReport()
        }
        return await self.trim(trim)
    }

    func verify() async -> DataCacheVerification {
        guard var (names, result) = await perform({ $0.beginVerification() }) else { return DataCacheVerification() }
        while !names.isEmpty {
            let slice = Array(names.suffix(16))
            names.removeLast(slice.count)
            guard let part = await perform(priority: .low, { $0.verify(slice) }) else { break }
            result.recordFailure(part.error)
            result.checkedCount += part.checkedCount
            result.byteCount += part.byteCount
            result.damagedNames += part.damagedNames
        }
        return result
    }

    func adoptEntries(of other: URL) async -> Int {
        guard var paths = EntryPaths(other, pathExtension: nil) else { return 0 }
        paths.hook = store.files.paths.hook
        let count = await perform { [paths] in $0.adoptEntries(of: EntryDirectory(paths: paths)) } ?? 0
        if count > 0 { trimSoon() }
        return count
    }

    // MARK: In the background

    private func trimSoon() {
        state.withLock { state in
            state.isTrimDue = true
            guard state.trim == nil else { return }
            state.trim = Task {
                while self.state.withLock({ $0.takeTrim() }) { _ = await trimToLimits() }
            }
        }
    }

    private func removeExpiredSoon(_ key: ImageKey) {
        state.withLock { state in
            state.removal = Task { [before = state.removal] in
                await before?.value
                await perform { $0.removeExpired(key) }
            }
        }
    }

    /// Applies the limits on the calling thread.
    private func trimNow() {
        var trim = store.limitTrim
        while !store.advance(&trim) {}
        report(trim.report)
    }

    /// Sends a report to the observers if the report has removals. A separate task sends it, so the calling thread does
    /// not wait for the observers.
    private func report(_ report: DataCacheTrimReport) {
        guard !report.removals.isEmpty else { return }
        Task { trims.tell(report) }
    }

    private func writeUsesSoon() {
        let isFirst = state.withLock { state in
            defer { state.isWritingUses = true }
            return !state.isWritingUses
        }
        guard isFirst else { return }
        Task {
            await perform { $0.writeUses() }
            state.withLock { $0.isWritingUses = false }
        }
    }

    /// Whether the periodic trims have started. They may have ended since.
    var isSweeping: Bool { sweeping.hasBegun }

    /// Starts the periodic work, which ends with the cache. Does nothing if the work has started before, or if the
    /// interval is zero or negative.
    private func startSweeping() {
        guard !isSweeping else { return }
        sweeping.start { [weak self] in
            guard let self else { return false }
            _ = await self.trimToLimits()
            await self.perform { $0.writeUses() }
            return true
        }
    }

    /// Runs work on the writer's thread, in a separate task. The work runs even if the caller's task is canceled. Calls
    /// ``EntryStore/sweepOnce()`` before the work. After the work, reports the entries that were removed because the
    /// disk was full.
    @discardableResult
    private func perform<Value: Sendable>(
        priority: LoadPriority = .normal, _ work: @escaping @Sendable (EntryStore) -> Value
    ) async -> Value? {
        let value = await Task { [writer, store] in
            try? await writer.run(priority: priority) {
                store.sweepOnce()
                return work(store)
            }
        }.value
        report(store.takeReport())
        return value
    }

    /// Runs work on a reader's thread, in a separate task. The work runs even if the caller's task is canceled.
    private func performRead<Value: Sendable>(_ work: @escaping @Sendable (EntryStore) -> Value) async -> Value? {
        await Task { [readers, store] in try? await readers.run { work(store) } }.value
    }
}

/// A trim in progress. Its steps share this object, so that the trim is not copied between tasks and threads.
private final class TrimRun: Sendable {
    /// The trim. A step holds the lock while it removes files. No other task needs the lock during a step.
    private let trim: Locked<EntryTrim>

    init(_ trim: EntryTrim) { self.trim = Locked(trim) }

    var report: DataCacheTrimReport { trim.withLock { $0.report } }

    /// Performs a step of the trim. Returns whether it was the last one.
    func advance(in store: EntryStore) -> Bool { trim.withLock { store.advance(&$0) } }
}
