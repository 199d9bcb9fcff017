import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The entries of a directory, with their index and limits. Every call blocks; any thread may make it.
final class EntryStore: Sendable {
    enum Reading: Sendable {
        case found(CachedData)
        case absent
        /// Its time is over: it is to be removed.
        case expired
        /// What is in its place is not what the index tells: to be confirmed.
        case doubtful
    }

    let limits: DataCacheLimits
    let folder: EntryFolder
    let index: DiskIndex
    private let durability: Durability
    private let clock: any TimeSource
    private let counts = Locked(DataCacheStatistics())
    private let isSwept = Locked(false)
    private let unreported = Locked<[DataCacheTrimReport.Removal]>([])

    init(
        _ paths: EntryPaths, limits: DataCacheLimits, durability: Durability, lockTimeout: Duration,
        clock: any TimeSource, bootHash: UInt64 = IndexHeader.bootHash
    ) {
        folder = EntryFolder(paths: paths)
        index = DiskIndex(folder, lockTimeout: lockTimeout, bootHash: bootHash)
        self.limits = limits
        self.durability = durability
        self.clock = clock
    }

    var now: Timestamp { Timestamp(clock.now) }

    var statistics: DataCacheStatistics { counts.withLock { $0 } }

    func count(_ change: (inout DataCacheStatistics) -> Void) { counts.withLock { change(&$0) } }

    func countLookup(isHit: Bool) {
        count { counts in
            if isHit { counts.hits += 1 } else { counts.misses += 1 }
        }
    }

    /// Removes what dead processes left unfinished, once. Returns whether it was now.
    @discardableResult
    func sweepOnce() -> Bool {
        let isFirst = isSwept.withLock { isSwept in
            defer { isSwept = true }
            return !isSwept
        }
        if isFirst, !folder.removeAbandonedFiles() { isSwept.withLock { $0 = false } }
        return isFirst
    }

    // MARK: Reading

    /// Reads and verifies an entry. Returns whether many uses wait to be written, too.
    func read(_ key: ImageKey, isMapped: Bool) -> (Reading, isDue: Bool) {
        let name = EntryName(key)
        let (admission, uses) = admit(name)
        let reading: Reading
        switch admission {
        case .refused(let refusal): reading = refusal
        case .admitted(let expiry, let known):
            if var entry = read(name, key, known, isMapped: isMapped) {
                entry.expiry = expiry?.date
                reading = .found(entry)
            } else {
                reading = .doubtful
            }
        }
        return (reading, uses >= IndexState.mostUnwrittenUses)
    }

    private func read(
        _ name: EntryName, _ key: ImageKey, _ known: Known?, isMapped: Bool
    ) -> CachedData? {
        let reading: EntryFolder.Reading
        if !isMapped, let known {
            reading = folder.read(name, key: key, size: known.entry.file, in: known.place.directory)
        } else {
            reading = folder.read(name, key: key, isMapped: isMapped)
        }
        guard case .whole(let entry, let storedAt, _) = reading, isKnown(storedAt, known) else { return nil }
        return entry
    }

    /// Whether an entry is the one that the index knows. Else somebody has stored another one, whose expiry is another.
    private func isKnown(_ storedAt: Timestamp, _ known: Known?) -> Bool {
        known.map { $0.entry.storedAt == storedAt } ?? true
    }

    /// Opens an entry to be read in chunks, and verifies all of it.
    func openChunks(_ key: ImageKey, chunkSize: Int) -> (reader: EntryReader?, reading: Reading) {
        let name = EntryName(key)
        switch admit(name).0 {
        case .refused(let refusal): return (nil, refusal)
        case .admitted(let expiry, let known):
            guard case .open(let descriptor, let size) = folder.open(name),
                let reader = try? EntryReader(
                    descriptor, size: size.length, key: key, expiry: expiry, chunkSize: chunkSize),
                isKnown(reader.storedAt, known)
            else { return (nil, .doubtful) }
            return (reader, .absent)
        }
    }

    /// What the index tells of an entry, and where to look for its file.
    private typealias Known = (entry: IndexEntry, place: IndexFile)

    private enum Admission {
        case admitted(expiry: Timestamp?, Known?)
        case refused(Reading)
    }

    /// Whether an entry may be read, as the index tells, or else its file. Notes a use.
    private func admit(_ name: EntryName) -> (Admission, uses: Int) {
        let now = now
        let (lookup, uses) = index.use(name, at: now, limits: limits)
        switch lookup {
        case .absent: return (.refused(.absent), uses)
        case .expired: return (.refused(.expired), uses)
        case .present(let entry, let place): return (.admitted(expiry: entry.expiry, (entry, place)), uses)
        case .unknown: return (admitUnknown(name, at: now), uses)
        }
    }

    private func admitUnknown(_ name: EntryName, at now: Timestamp) -> Admission {
        guard let trailer = try? folder.outline(name)?.trailer else {
            return .refused(folder.contains(name) ? .doubtful : .absent)
        }
        let isOver = limits.isOver(
            storedAt: trailer.storedAt, lastUse: trailer.storedAt, expiry: trailer.expiry, now: now)
        return isOver ? .refused(.expired) : .admitted(expiry: trailer.expiry, nil)
    }

    func contains(_ key: ImageKey) -> Bool {
        let name = EntryName(key)
        switch index.find(name, at: now, limits: limits) {
        case .present: return true
        case .absent, .expired: return false
        case .unknown:
            guard let trailer = try? folder.outline(name)?.trailer else { return false }
            return !limits.isOver(
                storedAt: trailer.storedAt, lastUse: trailer.storedAt, expiry: trailer.expiry, now: now)
        }
    }

    /// Looks again at an entry that a reader found doubtful, without anybody between. Removes it if it is not right.
    func confirm(_ key: ImageKey) -> CachedData? {
        let name = EntryName(key)
        let found = try? index.change { change throws(DataCacheError) -> CachedData? in
            // Another process may have limits of another size: what is over ours is no damage.
            switch folder.read(name, key: key, isMapped: false) {
            case .whole(var entry, let storedAt, let size):
                let found = note(name, key.resource, storedAt: storedAt, size, entry.expiry, change)
                if !found.isOver(limits, at: now) {
                    entry.expiry = found.expiry?.date
                    return entry
                }
                count { $0.trimmedEntries += 1 }
            case .damaged: count { $0.damagedEntries += 1 }
            case .absent: break
            case .unavailable: return nil
            }
            remove(name, change)
            return nil
        }
        return found ?? nil
    }

    /// Removes an entry if its time is over.
    func removeExpired(_ key: ImageKey) {
        let name = EntryName(key)
        _ = try? index.change { change throws(DataCacheError) in
            let isOver = change.read { table in
                table.place(of: name).map { table[$0].isOver(limits, at: now) } ?? false
            }
            guard isOver, remove(name, change) else { return }
            count { $0.trimmedEntries += 1 }
        }
    }

    // MARK: Storing

    /// Stores an entry, unless that is not due any more. A full disk makes the cache give up half of what it holds, and try
    /// once more.
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
        guard let image = EntryFile.encode(entry, key: key, storedAt: now) else {
            throw DataCacheError(.tooLarge, "a key or metadata of more than 4 GiB")
        }
        try check(image.size)
        let indexEntry = IndexEntry(
            name: name, resourceHash: Self.hash(key.resource), file: image.unwritten, storedAt: now, lastUse: now,
            expiry: image.trailer.expiry, useNumber: IndexEntry.neverUsed)
        do throws(DataCacheError) {
            return try write(image, indexEntry, in: order)
        } catch {
            guard error.code == .noSpace else { throw error }
        }
        let report = trim(toSize: index.totals.size / 2, reason: .noSpace)
        unreported.withLock { $0 += report.removals }
        try write(image, indexEntry, in: order)
    }

    func write(
        _ image: EntryFile.Image, _ entry: IndexEntry, in order: StoreOrder = StoreOrder()
    ) throws(DataCacheError) {
        let (file, size) = try folder.write(image, durability: durability)
        try check(size.occupied)
        try index.change { change throws(DataCacheError) in
            guard order.isDue() else { return }
            var entry = entry
            entry.file = size
            entry.useNumber = change.takeUse()
            try change.note([.entry(entry)])
            do throws(DataCacheError) {
                if try folder.place(file, as: entry.name, in: change.file.directory, durability: durability) {
                    count { $0.damagedEntries += 1 }
                }
            } catch {
                // What stood there before may be another size than is noted now.
                remove(entry.name, change)
                throw error
            }
            order.noteDone()
        }
    }

    /// - Throws: ``DataCacheError`` of the code `tooLarge` when there is no room for an entry of so many bytes.
    func check(_ size: Int) throws(DataCacheError) {
        guard size <= limits.maximumSize, limits.maximumCount > 0 else {
            throw DataCacheError(
                .tooLarge,
                "an entry of \(size) bytes exceeds the limits of \(limits.maximumSize) bytes and \(limits.maximumCount) entries"
            )
        }
    }

    static func hash(_ resource: ResourceKey) -> UInt64 { XXH64.hash(resource.description.utf8Span.span.bytes) }

    // MARK: Removing

    @discardableResult
    func remove(_ key: ImageKey) -> Bool { remove(EntryName(key)) }

    @discardableResult
    private func remove(_ name: EntryName, in order: StoreOrder = StoreOrder()) -> Bool {
        if index.isNowhere {
            // A store that has begun to change anything has made the directory; any other is not due any more.
            order.noteDone()
            guard !index.isNowhere else { return false }
        }
        let isGone = try? index.change { change throws(DataCacheError) -> Bool in
            guard order.isDue() else { return false }
            defer { order.noteDone() }
            let wasThere = folder.remove(name)
            if change.read({ $0.place(of: name) != nil }), wasThere || !folder.contains(name) {
                change.noteRemovals([name])
            }
            return wasThere
        }
        // Whoever keeps the index finds out by himself.
        return isGone ?? folder.remove(name)
    }

    /// Removes an entry's file. Returns whether there is none any more, which the index then tells.
    @discardableResult
    func remove(_ name: EntryName, _ change: DiskIndex.Change) -> Bool {
        guard removeFile(name, in: change.file.directory) else { return false }
        change.noteRemovals([name])
        return true
    }

    /// Returns whether an entry has no file any more. One that the system keeps is still to be counted.
    private func removeFile(_ name: EntryName, in directory: borrowing Descriptor) -> Bool {
        folder.remove(name, in: directory) || !folder.contains(name)
    }

    func removeAll(of resource: ResourceKey) -> Int {
        guard !index.isNowhere else { return 0 }
        let hash = Self.hash(resource)
        let count = try? index.change { change throws(DataCacheError) -> Int in
            var names: [EntryName] = []
            index.forEachSlice { for entry in $0 where entry.resourceHash == hash { names.append(entry.name) } }
            let gone = names.filter { folder.remove($0) }
            change.noteRemovals(names.filter { !folder.contains($0) })
            return gone.count
        }
        return count ?? 0
    }

    func removeAll() {
        guard !index.isNowhere else { return }
        folder.removeAbandonedFiles()
        let isDone: Void? = try? index.change { change throws(DataCacheError) in
            var kept: Set<EntryName> = []
            do throws(SystemError) {
                try folder.forEachName { name, otherSuffix in
                    if !removeFile(name, in: change.file.directory) { kept.insert(name) }
                    if let otherSuffix { folder.remove(name, suffix: otherSuffix, in: change.file.directory) }
                }
            } catch {
                throw error.cacheError("look into", folder.paths.directory)
            }
            if kept.isEmpty { return try change.note([.removedAll]) }
            index.forEachSlice { change.noteRemovals($0.map(\.name).filter { !kept.contains($0) }) }
        }
        if isDone == nil { try? folder.forEachName { name, _ in folder.remove(name) } }
    }

    // MARK: Keeping order

    /// Writes the uses that wait, for other processes and the next start.
    func writeUses() {
        guard index.hasUnwrittenUses else { return }
        try? index.change { change throws(DataCacheError) in try change.note([]) }
    }

    /// What a full disk has removed since this was last called.
    func takeReport() -> DataCacheTrimReport {
        unreported.withLock { removals in
            defer { removals = [] }
            return DataCacheTrimReport(removals: removals)
        }
    }

    /// Whether a limit is exceeded, by a share of it.
    func isOverLimits(by share: Double = 0) -> Bool {
        index.read { table in
            Double(table.totalSize) > Double(limits.maximumSize) * (1 + share)
                || Double(table.count) > Double(limits.maximumCount) * (1 + share)
        }
    }

    /// What brings the entries within the limits; it does no more than look for expired ones when they are.
    var limitTrim: EntryTrim {
        let isOver = isOverLimits()
        // What is stored while it looks is for the trim that is asked for then: this one would leave more than a trim is to.
        return EntryTrim(
            toSize: isOver ? limits.sizeAfterTrim : .max, count: isOver ? limits.countAfterTrim : .max,
            sizeOfLast: limits.maximumCount > 0 ? limits.maximumSize : 0, reason: .sizeLimit)
    }

    /// Does a step of a trim. Returns whether that was the last.
    func advance(_ trim: inout EntryTrim) -> Bool {
        let now = now
        if trim.look(index, at: now, limits: limits) { return trim.isDone }
        do throws(DataCacheError) {
            try index.change { change throws(DataCacheError) in
                let chosen = change.read { trim.choose(in: $0, at: now, limits: limits) }
                let gone = chosen.filter { removeFile($0.name, in: change.file.directory) }
                guard !gone.isEmpty else { return }
                change.noteRemovals(gone.map(\.name))
                trim.note(gone)
                count { $0.trimmedEntries += gone.count }
            }
            return trim.isDone
        } catch {
            trim.refuse(error)
            return true
        }
    }

    private func trim(toSize size: Int, reason: DataCacheTrimReport.Reason) -> DataCacheTrimReport {
        var trim = EntryTrim(toSize: size, count: .max, reason: reason)
        while !advance(&trim) {}
        return trim.report
    }
}
