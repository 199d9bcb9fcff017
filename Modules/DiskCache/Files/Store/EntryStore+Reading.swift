import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

extension EntryStore {
    enum Reading: Sendable {
        case found(CachedData)
        case absent
        /// The entry has expired and has to be removed.
        case expired
        /// The file could not be verified, or does not match the index. ``confirm(_:)`` reads the file again.
        case unconfirmed
    }

    /// The result of a read, and whether there are so many unwritten uses that they should be written now. It is a
    /// structure, because generic code copies tuples slowly.
    struct CountedReading: Sendable {
        var result: Reading
        var isDue: Bool
    }

    /// Reads and verifies an entry. Records a use if the index has the entry and the entry has not expired, even if the
    /// file then proves damaged.
    func read(_ key: ImageKey, isMapped: Bool) -> CountedReading {
        let name = files.paths.name(of: key)
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
        return CountedReading(result: reading, isDue: uses >= IndexState.maximumUnwrittenUseCount)
    }

    /// The length of the longest file that ``readAtOnce(_:)`` reads. The read takes about 0.4 ms.
    private static let longestReadAtOnce = 2 << 20

    /// Does the same as ``read(_:isMapped:)`` without blocking, so that tasks can call it.
    ///
    /// Finds entries that are in the index and whose files are in the system's memory, and finds that the index lacks
    /// an entry. Returns nil in all other cases, and while another thread accesses the index. ``read(_:isMapped:)`` can
    /// follow, because recording a use twice has no further effect.
    func readAtOnce(_ key: ImageKey) -> CountedReading? {
        let name = files.paths.name(of: key)
        guard let (lookup, uses) = index.useAtOnce(name, at: now, limits: limits) else { return nil }
        let isDue = uses >= IndexState.maximumUnwrittenUseCount
        guard case .present(let known, let indexFile) = lookup else {
            return CountedReading(result: .absent, isDue: isDue)
        }
        guard known.file.length <= Self.longestReadAtOnce,
            case .valid(var entry, known.storedAt, _) = files.read(
                name, key: key, size: known.file, in: indexFile.directory, waits: false)
        else { return nil }
        entry.expiry = known.expiry?.date
        return CountedReading(result: .found(entry), isDue: isDue)
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

    /// Returns whether an entry's date of storing equals the date in the index. Returns true if `known` is nil. If the
    /// result is false, the index describes another version of the entry, so the expiration date is uncertain.
    private func isKnown(_ storedAt: Timestamp, _ known: Known?) -> Bool {
        known.map { $0.entry.storedAt == storedAt } ?? true
    }

    /// Opens an entry for reading in chunks, and verifies the whole entry. Records a use in the same cases as
    /// ``read(_:isMapped:)``. If there is no reader, `reading` is the reason.
    func openChunks(_ key: ImageKey, chunkSize: Int) -> (reader: EntryReader?, reading: Reading) {
        let name = files.paths.name(of: key)
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

    /// Decides whether an entry may be read. The index decides if it can. Otherwise, the entry's file decides. Records
    /// a use if the index admits the entry. Also returns the number of unwritten uses.
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
        let name = files.paths.name(of: key)
        switch index.find(name, at: now, limits: limits) {
        case .present: return true
        case .absent, .expired: return false
        case .unknown:
            guard let trailer = try? files.summary(name)?.trailer else { return false }
            return !limits.isOver(
                storedAt: trailer.storedAt, lastUse: trailer.storedAt, expiry: trailer.expiry, now: now)
        }
    }

    /// Returns the metadata of an entry that has not expired. Does not verify the checksum and does not record a use.
    func metadata(_ key: ImageKey) -> Data? {
        guard contains(key) else { return nil }
        return (try? files.metadata(files.paths.name(of: key), key: key)) ?? nil
    }

    /// Returns the key of the entry that is named `name`, or nil if the entry is absent, expired, damaged or
    /// unreadable. Reads the whole file, and records no use.
    func key(named name: EntryName) -> ImageKey? {
        let known = index.read { table in table.position(of: name).map { [table[$0].name] } }
        let names = known ?? files.paths.possibleNames(of: name)
        guard let found = names.lazy.compactMap({ [files] in try? files.verifiedEntry($0) }).first else { return nil }
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

    /// Reads an entry again after a reader could not confirm it, and updates the index. No other process makes changes
    /// meanwhile.
    ///
    /// Returns the entry, or nil if it is absent, expired, damaged or unreadable, or if the index cannot be changed.
    /// Removes an expired or damaged entry.
    func confirm(_ key: ImageKey) -> CachedData? {
        let name = files.paths.name(of: key)
        let found = try? index.change { change throws(DataCacheError) -> CachedData? in
            // An entry that exceeds this cache's limits is not damaged. Another process with other limits may have
            // stored it.
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
        let name = files.paths.name(of: key)
        _ = try? index.change { change throws(DataCacheError) in
            let expired = change.read { table in
                table.position(of: name).map { table[$0] }.flatMap { $0.isExpired(limits, at: now) ? $0 : nil }
            }
            guard let expired, remove(name, change) else { return }
            count { $0.recordEvictions(.expired, count: 1, cost: expired.size) }
        }
    }
}
