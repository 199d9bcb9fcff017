import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The entries of a directory, with their index and limits. Its methods except ``readAtOnce(_:)`` may block, and can be
/// called from any thread that may block.
final class EntryStore: Sendable {
    let limits: DataCacheLimits
    let files: EntryDirectory
    let index: DiskIndex
    private let durability: Durability
    private let clock: any TimeSource
    private let record = Record()
    private let isSwept = Locked(false)

    /// The statistics, and the unreported entries that were removed because the disk was full.
    private final class Record: Sendable {
        let counts = Locked(CacheStatistics())
        let unreported = Locked<[DataCacheItem]>([])
    }

    init(
        _ paths: EntryPaths, limits: DataCacheLimits, durability: Durability, lockTimeout: Duration,
        clock: any TimeSource, bootHash: UInt64 = IndexHeader.bootHash
    ) {
        files = EntryDirectory(paths: paths)
        let record = record
        index = DiskIndex(files, lockTimeout: lockTimeout, bootHash: bootHash) { evicted in
            record.counts.withLock { counts in
                for entry in evicted { counts.recordEvictions(.noSpace, count: 1, cost: entry.size) }
            }
            record.unreported.withLock { $0 += evicted.map { DataCacheItem($0, evictionReason: .noSpace) } }
        }
        self.limits = limits
        self.durability = durability
        self.clock = clock
    }

    var now: Timestamp { Timestamp(clock.now) }

    var statistics: CacheStatistics { record.counts.withLock { $0 } }

    func count(_ change: (inout CacheStatistics) -> Void) { record.counts.withLock { change(&$0) } }

    func countLookup(isHit: Bool) {
        count { counts in
            if isHit { counts.hits += 1 } else { counts.misses += 1 }
        }
    }

    /// Removes abandoned temporary files on the first call. Later calls do nothing. Returns whether this call was the
    /// first. If the files cannot be listed, the next call counts as the first again.
    @discardableResult
    func sweepOnce() -> Bool {
        let isFirst = isSwept.withLock { isSwept in
            defer { isSwept = true }
            return !isSwept
        }
        if isFirst, !files.removeAbandonedFiles() { isSwept.withLock { $0 = false } }
        return isFirst
    }

    // MARK: Storing

    /// Stores an entry. Does nothing if a later store of its key is done or a later removal has begun. If the entry has
    /// expired, only removes the existing entry. If the disk is full, trims the entries to at most half of their total
    /// size, and tries once more.
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
        let (name, now) = (files.paths.name(of: key), now)
        if let expiry = entry.expiry, Timestamp(expiry) <= now {
            remove(name, in: order)
            return
        }
        guard let encoded = EntryFile.encode(entry, key: key, storedAt: now) else {
            throw DataCacheError(.tooLarge, "the key or the metadata exceeds 4 GiB")
        }
        try limits.check(encoded.size)
        let indexEntry = IndexEntry(
            name: name, resourceHash: Self.hash(key.resource), file: encoded.estimatedSize, storedAt: now, lastUse: now,
            expiry: encoded.trailer.expiry, useNumber: IndexEntry.neverUsed)
        do throws(DataCacheError) {
            return try write(encoded, indexEntry, in: order)
        } catch {
            guard error.code == .noSpace else { throw error }
        }
        let report = trim(toSize: index.totals.size / 2, reason: .noSpace)
        record.unreported.withLock { $0 += report.removals }
        try write(encoded, indexEntry, in: order)
    }

    func write(
        _ encoded: EntryFile.EncodedEntry, _ entry: IndexEntry, in order: StoreOrder = StoreOrder()
    ) throws(DataCacheError) {
        let (file, size) = try files.write(encoded, durability: durability)
        try limits.check(size.occupied)
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

    static func hash(_ resource: ResourceKey) -> UInt64 { XXH64.hash(resource.description.utf8Span.span.bytes) }

    // MARK: Removing

    /// Removes the entry of a key. Does nothing if a later store of the key is done. Returns whether the entry's file
    /// was removed.
    @discardableResult
    func remove(_ key: ImageKey, in order: StoreOrder) -> Bool { remove(files.paths.name(of: key), in: order) }

    @discardableResult
    private func remove(_ name: EntryName, in order: StoreOrder) -> Bool {
        if index.isMissing {
            // Without the directory, there is no entry to remove. Earlier stores of the key no longer write their
            // entries. One of them may have created the directory just before, so the directory is checked again.
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
        // If the index cannot be changed, for example because another process holds its lock, the index still lists the
        // entry. A read then finds that the file is missing.
        return isGone ?? index.excludingChanges { order.isCurrent() && files.remove(name) }
    }

    /// Removes an entry's file, and then removes the entry from the index. Returns whether the file is gone.
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

    /// Removes the entries of a resource. Returns the number of removed files, or zero if the index cannot be changed.
    ///
    /// - Parameters:
    ///   - resource: The resource.
    ///   - writtenKeys: A closure that returns the keys that later stores have written. Their entries stay. The closure
    ///     is called within the change of the index.
    func removeAll(of resource: ResourceKey, except writtenKeys: () -> Set<ImageKey>) -> Int {
        guard !index.isMissing else { return 0 }
        let hash = Self.hash(resource)
        let count = try? index.change { change throws(DataCacheError) -> Int in
            let kept = Set(writtenKeys().map { EntryName($0) })
            var names: [EntryName] = []
            index.forEachSlice { for entry in $0 where entry.resourceHash == hash { names.append(entry.name) } }
            names.removeAll { kept.contains($0) }
            let removed = names.filter { files.remove($0) }
            change.recordRemovals(names.filter { !files.contains($0) })
            return removed.count
        }
        return count ?? 0
    }

    /// Removes all entries, except those whose keys `writtenKeys` returns. The closure is called while this cache runs
    /// no other change. If the index cannot be changed, the files are removed nevertheless.
    func removeAll(except writtenKeys: () -> Set<ImageKey>) {
        guard !index.isMissing else { return }
        files.removeAbandonedFiles()
        let isDone: Void? = try? index.change { change throws(DataCacheError) in
            var kept = Set(writtenKeys().map { EntryName($0) })
            do throws(SystemError) {
                try files.forEachName { name, otherSuffix in
                    if !kept.contains(name), !removeFile(name, in: change.file.directory) { kept.insert(name) }
                    if let otherSuffix { files.remove(name, suffix: otherSuffix, in: change.file.directory) }
                }
            } catch {
                throw error.cacheError("list", files.paths.directory)
            }
            if kept.isEmpty { return try change.append([.removedAll]) }
            index.forEachSlice { change.recordRemovals($0.map(\.name).filter { !kept.contains($0) }) }
        }
        guard isDone == nil else { return }
        index.excludingChanges {
            let kept = Set(writtenKeys().map { EntryName($0) })
            try? files.forEachName { name, _ in if !kept.contains(name) { files.remove(name) } }
        }
    }

    // MARK: Maintenance

    /// Writes the unwritten uses, for other processes and the next start.
    func writeUses() {
        guard index.hasUnwrittenUses else { return }
        try? index.change { change throws(DataCacheError) in try change.append([]) }
    }

    /// Returns a report of the entries that were removed since the last call because the disk was full.
    func takeReport() -> DataCacheTrimReport {
        record.unreported.withLock { removals in
            defer { removals = [] }
            return DataCacheTrimReport(removals: removals)
        }
    }

    /// Returns whether the entries that the index has read exceed a limit by more than `share` of that limit.
    func isOverLimits(by share: Double = 0) -> Bool {
        index.read { table in
            Double(table.totalSize) > Double(limits.sizeLimit) * (1 + share)
                || Double(table.count) > Double(limits.countLimit) * (1 + share)
        }
    }

    /// A trim that brings the entries within the limits. If the limits already hold, the trim removes only expired
    /// entries.
    var limitTrim: EntryTrim {
        let isOver = isOverLimits()
        // If the limits hold, the trim has no goal of size or count: a store during its scan requests another trim if
        // necessary.
        return EntryTrim(
            toSize: isOver ? limits.sizeAfterTrim : .max, count: isOver ? limits.countAfterTrim : .max,
            sizeOfLast: limits.countLimit > 0 ? limits.sizeLimit : 0, reason: .costLimit)
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
