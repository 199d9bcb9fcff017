import AlcedoCore
import FoundationEssentials
import Glibc

extension EntryStore {
    /// Whether a limit is exceeded by what there is, known before or not.
    var isKnownOverLimits: Bool {
        index.learn()
        return isOverLimits()
    }

    /// A trim by limits, which knows what there is.
    var knownLimitTrim: EntryTrim {
        index.learn()
        return limitTrim
    }

    /// All entries that are to be verified, those too that only the directory tells of, and what is known to be lost already:
    /// entries whose folder is a link.
    func beginVerification() -> (names: [EntryName], found: DataCacheVerification) {
        guard !index.isNowhere else { return ([], DataCacheVerification()) }
        let links = folder.removeLinkedShards()
        var lost: [EntryName] = []
        if !links.isEmpty {
            index.forEachSlice { lost += $0.map(\.name).filter { links.contains(folder.paths.shard(of: $0)) } }
        }
        count { $0.damagedEntries += max(lost.count, links.count) }
        try? index.reconcileNow()
        var names: Set<EntryName> = []
        index.forEachSlice { for entry in $0 { names.insert(entry.name) } }
        return (
            Array(names), DataCacheVerification(checkedCount: lost.count, damagedNames: lost.map(\.text))
        )
    }

    /// Reads entries, and removes those that are damaged.
    func verify(_ names: [EntryName]) -> DataCacheVerification {
        var result = DataCacheVerification(checkedCount: names.count)
        for name in names {
            do throws(SystemRefusal) {
                if let found = try folder.verifiedEntry(name), isKnown(found, name) {
                    result.byteCount += found.size
                    continue
                }
            } catch {
                // It is not to be had now: neither whole nor damaged.
                continue
            }
            switch confirm(name) {
            case .whole(let size): result.byteCount += size
            case .damaged: result.damagedNames.append(name.text)
            case .unknown: break
            }
        }
        return result
    }

    private enum Verdict {
        case whole(size: Int)
        case damaged
        /// It has gone meanwhile, or is not to be had.
        case unknown
    }

    /// Looks again at an entry, without anybody between. Removes it if it is damaged.
    private func confirm(_ name: EntryName) -> Verdict {
        let verdict = try? index.change { change throws(DataCacheError) -> Verdict in
            guard change.read({ $0.place(of: name) != nil }) else { return .unknown }
            do throws(SystemRefusal) {
                if let found = try folder.verifiedEntry(name) {
                    note(name, found.key.resource, storedAt: found.storedAt, found.size, found.entry.expiry, change)
                    return .whole(size: found.size)
                }
            } catch {
                return .unknown
            }
            if remove(name, change) { count { $0.damagedEntries += 1 } }
            return .damaged
        }
        return verdict ?? .unknown
    }

    /// Whether the index tells the same as the file.
    private func isKnown(_ found: EntryFolder.VerifiedEntry, _ name: EntryName) -> Bool {
        index.read { table in
            table.place(of: name).map { table[$0].storedAt == found.storedAt && table[$0].size == found.size } ?? false
        }
    }

    /// Moves another directory's entries here.
    func adoptEntries(of other: EntryFolder) -> Int {
        // However it is spelled: what is here already would go there.
        guard !other.isSame(as: folder) else { return 0 }
        var names: [(EntryName, suffix: [UInt8]?)] = []
        // What is not to be had now stays where it is.
        try? other.forEachName { name, suffix in names.append((name, suffix)) }
        // In the order of their use, which they keep.
        var index = IndexState(suffixHash: 0)
        index.refresh(other.paths.directory)
        var known: [EntryName: IndexEntry] = [:]
        // A name may come twice, with one extension and with another.
        for (name, _) in names { known[name] = index.table.place(of: name).map { index.table[$0] } }
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
        _ name: EntryName, _ suffix: [UInt8]?, of other: EntryFolder, as known: IndexEntry?
    ) throws(DataCacheError) -> Bool {
        let verified: EntryFolder.VerifiedEntry?
        do throws(SystemRefusal) {
            verified = try other.verifiedEntry(name, suffix: suffix)
        } catch {
            throw error.cacheError("look into", other.paths.directory)
        }
        guard let found = verified,
            let image = EntryFile.encode(found.entry, key: found.key, storedAt: found.storedAt)
        else { return false }
        let entry = IndexEntry(
            name: name, resourceHash: Self.hash(found.key.resource), size: image.size, storedAt: found.storedAt,
            lastUse: max(found.storedAt, known?.lastUse ?? found.storedAt),
            expiry: known.map(\.expiry) ?? image.trailer.expiry, useNumber: IndexEntry.neverUsed)
        guard !entry.isOver(limits, at: now), !contains(found.key) else { return false }
        guard image.size <= limits.size, limits.count > 0 else {
            throw DataCacheError(.tooLarge, "an entry of \(image.size) bytes exceeds the limits")
        }
        try write(image, entry)
        return true
    }
}

extension DataCacheItem {
    init(_ entry: IndexEntry) {
        self.init(
            name: entry.name.text, size: entry.size, storedAt: entry.storedAt.date, lastUse: entry.lastUse.date,
            expiry: entry.expiry?.date)
    }
}
