import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials

extension EntryStore {
    /// Whether the entries exceed a limit. The property loads the whole index first.
    var isKnownOverLimits: Bool {
        index.load()
        return isOverLimits()
    }

    /// A trim that applies the limits. The property loads the whole index first.
    var knownLimitTrim: EntryTrim {
        index.load()
        return limitTrim
    }

    /// Reconciles the index with the files, and returns the names of all entries to verify.
    ///
    /// Also returns a report of the entries that are already lost, because a symbolic link was in place of their
    /// directory. The call removes such links. The report keeps only the first error.
    func beginVerification() -> (names: [EntryName], found: DataCacheVerification) {
        guard !index.isMissing else { return ([], DataCacheVerification()) }
        var found = DataCacheVerification(error: index.load())
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

    /// Verifies entries, and removes the damaged ones. Returns a report, which omits entries that were removed
    /// meanwhile.
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
                // One of three operations failed: reading the entry, changing the index, or removing the damaged entry.
                // An entry that cannot be read now may be valid.
                result.recordFailure(error)
            }
        }
        return result
    }

    private enum Condition {
        case valid(size: Int)
        /// The entry was damaged, and has been removed.
        case damaged
    }

    /// Returns the condition of an entry, and removes the entry if it is damaged. Returns nil if the index no longer
    /// lists the entry.
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

    /// Checks an entry again while no other process makes changes. Removes it if it is damaged. Returns nil if the
    /// index no longer lists the entry.
    private func confirm(_ name: EntryName) throws(DataCacheError) -> Condition? {
        try index.change { change throws(DataCacheError) -> Condition? in
            guard change.read({ $0.position(of: name) != nil }) else { return nil }
            if let found = try found(name) {
                updateIndex(name, found.key.resource, storedAt: found.storedAt, found.size, found.entry.expiry, change)
                return .valid(size: found.size.occupied)
            }
            guard remove(name, change) else {
                throw DataCacheError(.notWritable, "cannot remove the damaged entry \(name.text)")
            }
            count { $0.damagedEntries += 1 }
            return .damaged
        }
    }

    /// Updates the index if it lacks an entry, or if the date of storing or the size in the index differs from that of
    /// the entry's file. Returns the index entry that matches the file, even if the index file cannot be written.
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

    /// Returns whether the index lists the entry, and the date of storing and the size in the index equal those of the
    /// entry's file.
    private func isKnown(_ found: EntryDirectory.VerifiedEntry, _ name: EntryName) -> Bool {
        index.read { table in
            table.position(of: name).map { table[$0].storedAt == found.storedAt && table[$0].file == found.size }
                ?? false
        }
    }

    /// Moves another directory's entries into this one. If this cache already has an entry of the same key, removes the
    /// other directory's entry. Also removes damaged and expired entries and abandoned temporary files from the other
    /// directory. Entries that cannot be read or stored stay there. If nothing is left in the other directory, removes
    /// the directory. Returns the number of moved entries.
    func adoptEntries(of other: EntryDirectory) -> Int {
        // Two paths may lead to the same directory. A cache that adopted its own entries would remove them.
        guard !other.isSame(as: files) else { return 0 }
        var names: [(EntryName, suffix: [UInt8]?)] = []
        // Entries that cannot be listed now stay where they are. The other directory's index then also stays, because
        // it has their order of use.
        let isListed: Void? = try? other.forEachName { name, suffix in names.append((name, suffix)) }
        // Storing the entries in the order of their use keeps that order.
        var index = IndexState(suffixHash: 0)
        index.refresh(other.paths.directory)
        var known: [EntryName: IndexEntry] = [:]
        // A name may occur with several extensions.
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
                // An entry that cannot be read or stored stays where it is.
                leftCount += 1
            }
        }
        for shard in Set(names.map { other.paths.shard(of: $0.0) }) { rmdir("\(other.paths.directory)/\(shard)") }
        other.removeAbandonedFiles()
        if isListed != nil, leftCount == 0,
            (try? IndexFile(in: other.paths.directory, makesFile: false))?.header != nil
        {
            unlink("\(other.paths.directory)/\(IndexFile.name)")
        }
        rmdir(other.paths.unfinished)
        rmdir(other.paths.directory)
        return count
    }

    /// Stores an entry of another directory if the entry is valid and has not expired, and if this cache has no entry
    /// of the same key. Returns whether the entry was stored.
    private func adopt(
        _ name: EntryName, _ suffix: [UInt8]?, of other: EntryDirectory, as known: IndexEntry?
    ) throws(DataCacheError) -> Bool {
        let verified: EntryDirectory.VerifiedEntry?
        do throws(SystemError) {
            verified = try other.verifiedEntry(name, suffix: suffix)
        } catch {
            throw error.cacheError("list", other.paths.directory)
        }
        guard let found = verified,
            let encoded = EntryFile.encode(found.entry, key: found.key, storedAt: found.storedAt)
        else { return false }
        let entry = IndexEntry(
            name: files.paths.name(of: found.key), resourceHash: Self.hash(found.key.resource),
            file: encoded.estimatedSize, storedAt: found.storedAt,
            lastUse: max(found.storedAt, known?.lastUse ?? found.storedAt),
            expiry: known.map(\.expiry) ?? encoded.trailer.expiry, useNumber: IndexEntry.neverUsed)
        guard !entry.isExpired(limits, at: now), !contains(found.key) else { return false }
        try limits.check(encoded.size)
        try write(encoded, entry)
        return true
    }
}

extension DataCacheVerification {
    /// Records why an operation failed. Nil is ignored. The report keeps only the first reason.
    mutating func recordFailure(_ error: DataCacheError?) { self.error = self.error ?? error }
}

extension DataCacheItem {
    init(_ entry: IndexEntry, evictionReason: EvictionReason? = nil) {
        self.init(
            name: entry.name.text, size: entry.size, storedAt: entry.storedAt.date, lastUse: entry.lastUse.date,
            expiry: entry.expiry?.date, evictionReason: evictionReason)
    }
}
