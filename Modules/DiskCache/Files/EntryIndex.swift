import FoundationEssentials

/// What a disk cache knows of its files: sizes and last uses. Touches no file.
struct EntryIndex: Sendable {
    private struct Entry: Sendable {
        var size: Int
        var lastUse: Date
    }

    private var entries: [String: Entry] = [:]
    private(set) var totalSize = 0
    /// Whether the files that were there before have been counted.
    private(set) var isLoaded = false
    /// How often entries were stored or removed. Who read a file while that happened knows nothing certain of it.
    private(set) var changeCount = 0

    func contains(_ name: String) -> Bool { entries[name] != nil }

    /// Adds what a listing found; entries used in the meantime keep what is known of them.
    mutating func merge(_ listed: [EntryFolder.Listed]) {
        for entry in listed where entries[entry.name] == nil { use(entry.name, size: entry.size, at: entry.lastUse) }
        isLoaded = true
    }

    /// Notes what was stored.
    mutating func store(_ name: String, size: Int, at date: Date) {
        changeCount += 1
        use(name, size: size, at: date)
    }

    /// Notes what was read by somebody who saw this change count before.
    mutating func read(_ name: String, size: Int, at date: Date, changeCount seen: Int) {
        if seen == changeCount {
            use(name, size: size, at: date)
        } else if let entry = entries[name] {
            entries[name]?.lastUse = max(entry.lastUse, date)
        }
    }

    /// Notes that a file is no more. To be called after it went.
    mutating func remove(_ name: String) {
        changeCount += 1
        if let entry = entries.removeValue(forKey: name) { totalSize -= entry.size }
    }

    /// Notes that no file is left.
    mutating func removeAll() {
        changeCount += 1
        entries = [:]
        totalSize = 0
        isLoaded = true
    }

    private mutating func use(_ name: String, size: Int, at date: Date) {
        totalSize += size - (entries[name]?.size ?? 0)
        entries[name] = Entry(size: size, lastUse: date)
    }

    /// The entries to remove so that the rest is at most `size`. O(*n* log *n*), paid once for each tenth of the limit
    /// that is written.
    func leastRecentlyUsed(toReach size: Int, keeping kept: String?) -> [String] {
        var excess = totalSize - size
        var names: [String] = []
        for (name, entry) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) where name != kept {
            guard excess > 0 else { break }
            names.append(name)
            excess -= entry.size
        }
        return names
    }
}
