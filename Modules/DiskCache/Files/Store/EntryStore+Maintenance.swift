import AlcedoCore
import FoundationEssentials
import Glibc

extension EntryStore {
    /// A trim by limits, which knows what there is.
    var knownLimitTrim: EntryTrim {
        _ = index.totals
        return limitTrim
    }

    /// All entries, those too that only the directory tells of.
    func namesToVerify() -> [EntryName] {
        guard !index.isNowhere else { return [] }
        try? index.reconcileNow()
        return index.readAll { $0.entries.map(\.name) }
    }

    /// Reads entries, and removes those that are damaged.
    func verify(_ names: [EntryName]) -> DataCacheVerification {
        var result = DataCacheVerification(checkedCount: names.count)
        for name in names {
            if let found = folder.verifiedEntry(name, largest: .max) {
                result.byteCount += found.size
                continue
            }
            // Somebody may have replaced or removed it just now.
            let isDamaged = try? index.change { change throws(DataCacheError) -> Bool in
                guard change.read({ $0.place(of: name) != nil }), folder.verifiedEntry(name, largest: .max) == nil
                else {
                    return false
                }
                folder.remove(name)
                change.noteRemovals([name])
                return true
            }
            guard isDamaged == true else { continue }
            count { $0.damagedEntries += 1 }
            result.damagedNames.append(name.text)
        }
        return result
    }

    /// Moves another directory's entries here.
    func adoptEntries(of other: EntryFolder) -> Int {
        var names: [(EntryName, String)] = []
        other.forEachName { name, otherPath in names.append((name, otherPath ?? other.paths.file(name))) }
        var count = 0
        for (name, path) in names {
            if adopt(name, path, of: other) { count += 1 }
            unlink(path)
        }
        for shard in Set(names.map { other.paths.shard(of: $0.0) }) { rmdir(shard) }
        other.removeAbandonedFiles()
        unlink("\(other.paths.directory)/\(IndexFile.name)")
        rmdir(other.paths.unfinished)
        rmdir(other.paths.directory)
        return count
    }

    private func adopt(_ name: EntryName, _ path: String, of other: EntryFolder) -> Bool {
        guard let found = other.verifiedEntry(name, at: path, largest: limits.size),
            let image = EntryFile.encode(found.entry, key: found.key, storedAt: found.storedAt)
        else { return false }
        let entry = IndexEntry(
            name: name, resourceHash: Self.hash(found.key.resource), size: image.size, storedAt: found.storedAt,
            lastUse: found.storedAt, expiry: image.trailer.expiry, useNumber: IndexEntry.neverUsed)
        guard !entry.isOver(limits, at: now), limits.count > 0, !contains(found.key) else { return false }
        return (try? write(image, entry)) != nil
    }
}

extension DataCacheItem {
    init(_ entry: IndexEntry) {
        self.init(
            name: entry.name.text, size: entry.size, storedAt: entry.storedAt.date, lastUse: entry.lastUse.date,
            expiry: entry.expiry?.date)
    }
}
