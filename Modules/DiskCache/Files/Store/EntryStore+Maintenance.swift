import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials

extension EntryStore {
    /// Whether a limit is exceeded by what there is, known before or not.
    var isKnownOverLimits: Bool {
        index.load()
        return isOverLimits()
    }

    /// A trim by limits, which knows what there is.
    var knownLimitTrim: EntryTrim {
        index.load()
        return limitTrim
    }

    /// All entries that are to be verified, those too that only the directory tells of, and what is known to be lost already:
    /// entries whose folder is a link.
    func beginVerification() -> (names: [EntryName], found: DataCacheVerification) {
        guard !index.isMissing else { return ([], DataCacheVerification()) }
        var found = DataCacheVerification(refusal: index.load())
        let links = files.removeLinkedShards()
        var lost: [EntryName] = []
        if !links.isEmpty {
            index.forEachSlice { lost += $0.map(\.name).filter { links.contains(files.paths.shard(of: $0)) } }
        }
        count { $0.damagedEntries += max(lost.count, links.count) }
        do throws(DataCacheError) {
            try index.reconcileNow()
        } catch {
            found.recordFailure(error)
        }
        var names: Set<EntryName> = []
        index.forEachSlice { for entry in $0 { names.insert(entry.name) } }
        found.checkedCount = lost.count
        found.damagedNames = lost.map(\.text)
        return (Array(names), found)
    }

    /// Reads entries, and removes those that are damaged.
    func verify(_ names: [EntryName]) -> DataCacheVerification {
        var result = DataCacheVerification()
        for name in names {
            do throws(DataCacheError) {
                guard let condition = try condition(of: name) else { continue }
                result.checkedCount += 1
                switch condition {
                case .valid(let size): result.byteCount += size
                case .damaged: result.damagedNames.append(name.text)
                }
            } catch {
                // It is not to be had now, neither whole nor damaged, or damaged and not to be removed.
                result.recordFailure(error)
            }
        }
        return result
    }

    private enum Condition {
        case valid(size: Int)
        /// And removed.
        case damaged
    }

    /// nil when it has gone meanwhile.
    private func condition(of name: EntryName) throws(DataCacheError) -> Condition? {
        if let found = try found(name), isKnown(found, name) { return .valid(size: found.size.occupied) }
        return try confirm(name)
    }

    private func found(_ name: EntryName) throws(DataCacheError) -> EntryDirectory.VerifiedEntry? {
        do throws(SystemError) {
            return try files.verifiedEntry(name)
        } catch {
            throw error.cacheError("read the entry \(name.text) of", files.paths.directory)
        }
    }

    /// Looks again at an entry, without anybody between. Removes it if it is damaged.
    private func confirm(_ name: EntryName) throws(DataCacheError) -> Condition? {
        try index.change { change throws(DataCacheError) -> Condition? in
            guard change.read({ $0.position(of: name) != nil }) else { return nil }
            if let found = try found(name) {
                updateIndex(name, found.key.resource, storedAt: found.storedAt, found.size, found.entry.expiry, change)
                return .valid(size: found.size.occupied)
            }
            guard remove(name, change) else {
                throw DataCacheError(.notWritable, "the damaged entry \(name.text) cannot be removed")
            }
            count { $0.damagedEntries += 1 }
            return .damaged
        }
    }

    /// Makes the index tell what an entry's file says. Returns what it then tells.
    @discardableResult
    func updateIndex(
        _ name: EntryName, _ resource: ResourceKey, storedAt: Timestamp, _ size: FileSize, _ expiry: Date?,
        _ change: DiskIndex.Change
    ) -> IndexEntry {
        let known = change.read { table in table.position(of: name).map { table[$0] } }
        if let known, known.storedAt == storedAt, known.file == size { return known }
        let entry = IndexEntry(
            name: name, resourceHash: Self.hash(resource), file: size, storedAt: storedAt, lastUse: storedAt,
            expiry: expiry.map(Timestamp.init), useNumber: change.takeUseNumber())
        try? change.append([.entry(entry)])
        return entry
    }

    /// Whether the index tells the same as the file.
    private func isKnown(_ found: EntryDirectory.VerifiedEntry, _ name: EntryName) -> Bool {
        index.read { table in
            table.position(of: name).map { table[$0].storedAt == found.storedAt && table[$0].file == found.size }
                ?? false
        }
    }

    /// Moves another directory's entries here.
    func adoptEntries(of other: EntryDirectory) -> Int {
        // However it is spelled: what is here already would go there.
        guard !other.isSame(as: files) else { return 0 }
        var names: [(EntryName, suffix: [UInt8]?)] = []
        // What is not to be had now stays where it is.
        try? other.forEachName { name, suffix in names.append((name, suffix)) }
        // In the order of their use, which they keep.
        var index = IndexState(suffixHash: 0)
        index.refresh(other.paths.directory)
        var known: [EntryName: IndexEntry] = [:]
        // A name may come twice, with one extension and with another.
        for (name, _) in names { known[name] = index.table.position(of: name).map { index.table[$0] } }
        names.sort { a, b in
            guard let a = known[a.0], let b = known[b.0] else { return known[a.0] == nil && known[b.0] != nil }
            return a.isUsedBefore(b)
        }
        var (count, leftCount) = (0, 0)
        for (name, suffix) in names {
            do throws(DataCacheError) {
                if try adopt(name, suffix, of: other, as: known[name]) { count += 1 }
                other.remove(name, suffix: suffix)
            } catch {
                // What cannot be stored now, or not at all, stays where it is.
                leftCount += 1
            }
        }
        for shard in Set(names.map { other.paths.shard(of: $0.0) }) { rmdir("\(other.paths.directory)/\(shard)") }
        other.removeAbandonedFiles()
        if leftCount == 0, (try? IndexFile(in: other.paths.directory, makesFile: false))?.header != nil {
            unlink("\(other.paths.directory)/\(IndexFile.name)")
        }
        rmdir(other.paths.unfinished)
        rmdir(other.paths.directory)
        return count
    }

    /// Returns whether it is an entry that this cache lacks and may have.
    private func adopt(
        _ name: EntryName, _ suffix: [UInt8]?, of other: EntryDirectory, as known: IndexEntry?
    ) throws(DataCacheError) -> Bool {
        let verified: EntryDirectory.VerifiedEntry?
        do throws(SystemError) {
            verified = try other.verifiedEntry(name, suffix: suffix)
        } catch {
            throw error.cacheError("look into", other.paths.directory)
        }
        guard let found = verified,
            let encoded = EntryFile.encode(found.entry, key: found.key, storedAt: found.storedAt)
        else { return false }
        let entry = IndexEntry(
            name: name, resourceHash: Self.hash(found.key.resource), file: encoded.estimatedSize,
            storedAt: found.storedAt,
            lastUse: max(found.storedAt, known?.lastUse ?? found.storedAt),
            expiry: known.map(\.expiry) ?? encoded.trailer.expiry, useNumber: IndexEntry.neverUsed)
        guard !entry.isExpired(limits, at: now), !contains(found.key) else { return false }
        try check(encoded.size)
        try write(encoded, entry)
        return true
    }
}

extension DataCacheVerification {
    /// Notes why something could not be done; the first reason is told.
    mutating func recordFailure(_ error: DataCacheError?) { refusal = refusal ?? error }
}

extension DataCacheItem {
    init(_ entry: IndexEntry) {
        self.init(
            name: entry.name.text, size: entry.size, storedAt: entry.storedAt.date, lastUse: entry.lastUse.date,
            expiry: entry.expiry?.date)
    }
}
