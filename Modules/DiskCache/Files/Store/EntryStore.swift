import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The entries of a directory, with their index and limits. Every call blocks, and is allowed on any thread.
final class EntryStore: Sendable {
    enum Reading: Sendable {
        case found(CachedData)
        case absent
        /// The entry has expired and has to be removed.
        case expired
        /// The file differs from what the index says. ``confirm(_:)`` decides.
        case unconfirmed
    }

    let limits: DataCacheLimits
    let files: EntryDirectory
    let index: DiskIndex
    private let durability: Durability
    private let clock: any TimeSource
    private let counts = Locked(CacheStatistics())
    private let isSwept = Locked(false)
    private let unreported = Locked<[DataCacheItem]>([])

    init(
        _ paths: EntryPaths, limits: DataCacheLimits, durability: Durability, lockTimeout: Duration,
        clock: any TimeSource, bootHash: UInt64 = IndexHeader.bootHash
    ) {
        files = EntryDirectory(paths: paths)
        index = DiskIndex(files, lockTimeout: lockTimeout, bootHash: bootHash)
        self.limits = limits
        self.durability = durability
        self.clock = clock
    }

    var now: Timestamp { Timestamp(clock.now) }

    var statistics: CacheStatistics { counts.withLock { $0 } }

    func count(_ change: (inout CacheStatistics) -> Void) { counts.withLock { change(&$0) } }

    func countLookup(isHit: Bool) {
        count { counts in
            if isHit { counts.hits += 1 } else { counts.misses += 1 }
        }
    }

    /// Removes the temporary files of ended processes, once. Returns whether this call was the first.
    @discardableResult
    func sweepOnce() -> Bool {
        let isFirst = isSwept.withLock { isSwept in
            defer { isSwept = true }
            return !isSwept
        }
        if isFirst, !files.removeAbandonedFiles() { isSwept.withLock { $0 = false } }
        return isFirst
    }

    // MARK: Reading

    /// Reads and verifies an entry. Also returns whether so many uses are unwritten that they should be written now.
    func read(_ key: ImageKey, isMapped: Bool) -> (Reading, isDue: Bool) {
        let name = EntryName(key)
        let (admission, uses) = admit(name)
        let reading: Reading
        switch admission {
        case .rejected(let rejection): reading = rejection
        case .admitted(let expiry, let known):
            if var entry = read(name, key, known, isMapped: isMapped) {
                entry.expiry = expiry?.date
                reading = .found(entry)
            } else {
                reading = .unconfirmed
            }
        }
        return (reading, uses >= IndexState.maximumUnwrittenUseCount)
    }

    private func read(
        _ name: EntryName, _ key: ImageKey, _ known: Known?, isMapped: Bool
    ) -> CachedData? {
        let reading: EntryDirectory.Reading
        if !isMapped, let known {
            reading = files.read(name, key: key, size: known.entry.file, in: known.indexFile.directory)
        } else {
            reading = files.read(name, key: key, isMapped: isMapped)
        }
        guard case .valid(let entry, let storedAt, _) = reading, isKnown(storedAt, known) else { return nil }
        return entry
    }

    /// Returns whether an entry is the one that the index knows. If not, another process has stored a new entry, whose
    /// expiration date the index does not know.
    private func isKnown(_ storedAt: Timestamp, _ known: Known?) -> Bool {
        known.map { $0.entry.storedAt == storedAt } ?? true
    }

    /// Opens an entry to read it in chunks, and verifies all of it.
    func openChunks(_ key: ImageKey, chunkSize: Int) -> (reader: EntryReader?, reading: Reading) {
        let name = EntryName(key)
        switch admit(name).0 {
        case .rejected(let rejection): return (nil, rejection)
        case .admitted(let expiry, let known):
            guard case .open(let descriptor, let size) = files.open(name),
                let reader = try? EntryReader(
                    descriptor, size: size.length, key: key, expiry: expiry, chunkSize: chunkSize),
                isKnown(reader.storedAt, known)
            else { return (nil, .unconfirmed) }
            return (reader, .absent)
        }
    }

    /// An entry as the index describes it, and the index file whose directory contains the entry's file.
    private typealias Known = (entry: IndexEntry, indexFile: IndexFile)

    private enum Admission {
        case admitted(expiry: Timestamp?, Known?)
        case rejected(Reading)
    }

    /// Decides by the index, or else by the entry's file, whether an entry may be read. Records a use. Also returns the
    /// number of unwritten uses.
    private func admit(_ name: EntryName) -> (Admission, uses: Int) {
        let now = now
        let (lookup, uses) = index.use(name, at: now, limits: limits)
        switch lookup {
        case .absent: return (.rejected(.absent), uses)
        case .expired: return (.rejected(.expired), uses)
        case .present(let entry, let indexFile): return (.admitted(expiry: entry.expiry, (entry, indexFile)), uses)
        case .unknown: return (admitUnknown(name, at: now), uses)
        }
    }

    private func admitUnknown(_ name: EntryName, at now: Timestamp) -> Admission {
        guard let trailer = try? files.summary(name)?.trailer else {
            return .rejected(files.contains(name) ? .unconfirmed : .absent)
        }
        let isExpired = limits.isOver(
            storedAt: trailer.storedAt, lastUse: trailer.storedAt, expiry: trailer.expiry, now: now)
        return isExpired ? .rejected(.expired) : .admitted(expiry: trailer.expiry, nil)
    }

    func contains(_ key: ImageKey) -> Bool {
        let name = EntryName(key)
        switch index.find(name, at: now, limits: limits) {
        case .present: return true
        case .absent, .expired: return false
        case .unknown:
            guard let trailer = try? files.summary(name)?.trailer else { return false }
            return !limits.isOver(
                storedAt: trailer.storedAt, lastUse: trailer.storedAt, expiry: trailer.expiry, now: now)
        }
    }

    /// Returns the key of the entry with a name, or nil if it is absent, expired or damaged. Reads the whole file, and
    /// records no use.
    func key(named name: EntryName) -> ImageKey? {
        guard let found = try? files.verifiedEntry(name) else { return nil }
        switch index.find(name, at: now, limits: limits) {
        case .present: return found.key
        case .expired: return nil
        case .absent, .unknown:
            let isExpired = limits.isOver(
                storedAt: found.storedAt, lastUse: found.storedAt, expiry: found.entry.expiry.map { Timestamp($0) },
                now: now)
            return isExpired ? nil : found.key
        }
    }

    /// Checks again an entry that a reader could not confirm, while no other process makes changes. Removes the entry
    /// if it is damaged or expired.
    func confirm(_ key: ImageKey) -> CachedData? {
        let name = EntryName(key)
        let found = try? index.change { change throws(DataCacheError) -> CachedData? in
            // The entry may be larger than this cache's limit, because another process may have other limits. That is
            // no damage.
            switch files.read(name, key: key, isMapped: false) {
            case .valid(var entry, let storedAt, let size):
                let found = updateIndex(name, key.resource, storedAt: storedAt, size, entry.expiry, change)
                if !found.isExpired(limits, at: now) {
                    entry.expiry = found.expiry?.date
                    return entry
                }
                count { $0.recordEvictions(.expired, count: 1, cost: found.size) }
            case .damaged: count { $0.damagedEntries += 1 }
            case .absent: break
            case .unavailable: return nil
            }
            remove(name, change)
            return nil
        }
        return found ?? nil
    }

    /// Removes an entry if it has expired.
    func removeExpired(_ key: ImageKey) {
        let name = EntryName(key)
        _ = try? index.change { change throws(DataCacheError) in
            let expired = change.read { table in
                table.position(of: name).map { table[$0] }.flatMap { $0.isExpired(limits, at: now) ? $0 : nil }
            }
            guard let expired, remove(name, change) else { return }
            count { $0.recordEvictions(.expired, count: 1, cost: expired.size) }
        }
    }

    // MARK: Storing

    /// Stores an entry, unless a later change of its key is done. If the disk is full, removes entries until half of
    /// the size is left, and tries once more.
    func store(
        _ entry: CachedData, for key: ImageKey, in order: StoreOrder = StoreOrder()
    ) throws(DataCacheError) {
        do throws(DataCacheError) {
            try storeUncounted(entry, for: key, in: order)
            count { $0.stores += 1 }
        } catch {
            count { $0.failures += 1 }
            throw error
        }
    }

    private func storeUncounted(
        _ entry: CachedData, for key: ImageKey, in order: StoreOrder
    ) throws(DataCacheError) {
        let (name, now) = (EntryName(key), now)
        if let expiry = entry.expiry, Timestamp(expiry) <= now {
            remove(name, in: order)
            return
        }
        guard let encoded = EntryFile.encode(entry, key: key, storedAt: now) else {
            throw DataCacheError(.tooLarge, "the key or the metadata exceeds 4 GiB")
        }
        try check(encoded.size)
        let indexEntry = IndexEntry(
            name: name, resourceHash: Self.hash(key.resource), file: encoded.estimatedSize, storedAt: now, lastUse: now,
            expiry: encoded.trailer.expiry, useNumber: IndexEntry.neverUsed)
        do throws(DataCacheError) {
            return try write(encoded, indexEntry, in: order)
        } catch {
            guard error.code == .noSpace else { throw error }
        }
        let report = trim(toSize: index.totals.size / 2, reason: .noSpace)
        unreported.withLock { $0 += report.removals }
        try write(encoded, indexEntry, in: order)
    }

    func write(
        _ encoded: EntryFile.EncodedEntry, _ entry: IndexEntry, in order: StoreOrder = StoreOrder()
    ) throws(DataCacheError) {
        let (file, size) = try files.write(encoded, durability: durability)
        try check(size.occupied)
        try index.change { change throws(DataCacheError) in
            guard order.isCurrent() else { return }
            var entry = entry
            entry.file = size
            entry.useNumber = change.takeUseNumber()
            try change.append([.entry(entry)])
            do throws(DataCacheError) {
                if try files.publish(file, as: entry.name, in: change.file.directory, durability: durability) {
                    count { $0.damagedEntries += 1 }
                }
            } catch {
                // The index now has the size of the new entry, but the old entry may still be there.
                remove(entry.name, change)
                throw error
            }
            order.markDone()
        }
    }

    /// Checks that an entry of `size` bytes fits the limits.
    ///
    /// - Throws: ``/AlcedoCore/DataCacheError`` with the code `tooLarge` if it does not.
    func check(_ size: Int) throws(DataCacheError) {
        guard size <= limits.maximumSize, limits.maximumCount > 0 else {
            throw DataCacheError(
                .tooLarge,
                "\(size) bytes exceed the limits of \(limits.maximumSize) bytes and \(limits.maximumCount) entries"
            )
        }
    }

    static func hash(_ resource: ResourceKey) -> UInt64 { XXH64.hash(resource.description.utf8Span.span.bytes) }

    // MARK: Removing

    @discardableResult
    func remove(_ key: ImageKey) -> Bool { remove(EntryName(key)) }

    @discardableResult
    private func remove(_ name: EntryName, in order: StoreOrder = StoreOrder()) -> Bool {
        if index.isMissing {
            // If a store had changed anything, the directory would exist. Any other store in progress is now outdated.
            order.markDone()
            guard !index.isMissing else { return false }
        }
        let isGone = try? index.change { change throws(DataCacheError) -> Bool in
            guard order.isCurrent() else { return false }
            defer { order.markDone() }
            let wasThere = files.remove(name)
            if change.read({ $0.position(of: name) != nil }), wasThere || !files.contains(name) {
                change.recordRemovals([name])
            }
            return wasThere
        }
        // If another process holds the index, that process finds the file missing on its next read.
        return isGone ?? files.remove(name)
    }

    /// Removes an entry's file, and then the entry from the index. Returns whether the file is gone.
    @discardableResult
    func remove(_ name: EntryName, _ change: DiskIndex.Change) -> Bool {
        guard removeFile(name, in: change.file.directory) else { return false }
        change.recordRemovals([name])
        return true
    }

    /// Removes an entry's file. Returns whether the file is gone. An entry whose file cannot be removed still counts
    /// toward the limits.
    private func removeFile(_ name: EntryName, in directory: borrowing Descriptor) -> Bool {
        files.remove(name, in: directory) || !files.contains(name)
    }

    func removeAll(of resource: ResourceKey) -> Int {
        guard !index.isMissing else { return 0 }
        let hash = Self.hash(resource)
        let count = try? index.change { change throws(DataCacheError) -> Int in
            var names: [EntryName] = []
            index.forEachSlice { for entry in $0 where entry.resourceHash == hash { names.append(entry.name) } }
            let removed = names.filter { files.remove($0) }
            change.recordRemovals(names.filter { !files.contains($0) })
            return removed.count
        }
        return count ?? 0
    }

    func removeAll() {
        guard !index.isMissing else { return }
        files.removeAbandonedFiles()
        let isDone: Void? = try? index.change { change throws(DataCacheError) in
            var kept: Set<EntryName> = []
            do throws(SystemError) {
                try files.forEachName { name, otherSuffix in
                    if !removeFile(name, in: change.file.directory) { kept.insert(name) }
                    if let otherSuffix { files.remove(name, suffix: otherSuffix, in: change.file.directory) }
                }
            } catch {
                throw error.cacheError("list", files.paths.directory)
            }
            if kept.isEmpty { return try change.append([.removedAll]) }
            index.forEachSlice { change.recordRemovals($0.map(\.name).filter { !kept.contains($0) }) }
        }
        if isDone == nil { try? files.forEachName { name, _ in files.remove(name) } }
    }

    // MARK: Maintenance

    /// Writes the unwritten uses, for other processes and the next start.
    func writeUses() {
        guard index.hasUnwrittenUses else { return }
        try? index.change { change throws(DataCacheError) in try change.append([]) }
    }

    /// Returns the entries that were removed because of a full disk since the last call.
    func takeReport() -> DataCacheTrimReport {
        unreported.withLock { removals in
            defer { removals = [] }
            return DataCacheTrimReport(removals: removals)
        }
    }

    /// Returns whether the entries exceed a limit by more than `share` of it.
    func isOverLimits(by share: Double = 0) -> Bool {
        index.read { table in
            Double(table.totalSize) > Double(limits.maximumSize) * (1 + share)
                || Double(table.count) > Double(limits.maximumCount) * (1 + share)
        }
    }

    /// A trim that brings the entries within the limits. If they already are, it removes only expired entries.
    var limitTrim: EntryTrim {
        let isOver = isOverLimits()
        // Within the limits it has no size goal: entries stored during its scan request a trim of their own.
        return EntryTrim(
            toSize: isOver ? limits.sizeAfterTrim : .max, count: isOver ? limits.countAfterTrim : .max,
            sizeOfLast: limits.maximumCount > 0 ? limits.maximumSize : 0, reason: .costLimit)
    }

    /// Performs a step of a trim. Returns whether it was the last one.
    func advance(_ trim: inout EntryTrim) -> Bool {
        let now = now
        if trim.scan(index, at: now, limits: limits) { return trim.isDone }
        do throws(DataCacheError) {
            try index.change { change throws(DataCacheError) in
                let chosen = change.read { trim.choose(in: $0, at: now, limits: limits) }
                let removed = chosen.filter { removeFile($0.entry.name, in: change.file.directory) }
                guard !removed.isEmpty else { return }
                change.recordRemovals(removed.map(\.entry.name))
                trim.record(removed)
                count { counts in
                    for choice in removed { counts.recordEvictions(choice.reason, count: 1, cost: choice.entry.size) }
                }
            }
            return trim.isDone
        } catch {
            trim.recordFailure(error)
            return true
        }
    }

    private func trim(toSize size: Int, reason: EvictionReason) -> DataCacheTrimReport {
        var trim = EntryTrim(toSize: size, count: .max, reason: reason)
        while !advance(&trim) {}
        return trim.report
    }
}
