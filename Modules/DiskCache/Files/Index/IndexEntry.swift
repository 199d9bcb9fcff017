import AlcedoCore

/// What the index knows of an entry.
struct IndexEntry: Sendable, Equatable {
    /// A use that was before every other.
    static let neverUsed: Int64 = 0

    var name: EntryName
    /// XXH64 of the resource's name, which all variants of an image share.
    var resourceHash: UInt64
    var file: FileSize
    var storedAt: Timestamp
    var lastUse: Timestamp
    var expiry: Timestamp?
    /// Grows with each use of any entry, whatever the clock does.
    var useNumber: Int64

    /// The bytes that the entry counts for.
    var size: Int { file.occupied }

    /// The order of use. Where it is not known, that of the dates.
    func isUsedBefore(_ other: IndexEntry) -> Bool { (useNumber, lastUse) < (other.useNumber, other.lastUse) }
}

extension IndexEntry {
    func isExpired(_ limits: DataCacheLimits, at now: Timestamp) -> Bool {
        limits.isOver(storedAt: storedAt, lastUse: lastUse, expiry: expiry, now: now)
    }
}

/// Picks the least recently used of many entries that it is shown one after another. In memory it has twice as many as it
/// picks at most; O(*n* + *k* log *k*) for *k* of *n* in no particular order.
struct OldestEntries: Sendable {
    struct Candidate: Sendable {
        let name: EntryName
        /// Number of the last use.
        let use: Int64
        let lastUse: Timestamp

        init(_ entry: IndexEntry) { (name, use, lastUse) = (entry.name, entry.useNumber, entry.lastUse) }

        func isUsedBefore(_ other: Self) -> Bool { (use, lastUse) < (other.use, other.lastUse) }
    }

    private let count: Int
    private var candidates: [Candidate] = []
    /// The last of those that were picked so far: what was used later is none of the oldest.
    private var latest: Candidate?

    /// - Parameter count: How many to pick; at least one.
    init(count: Int) { self.count = max(1, count) }

    mutating func add(_ entry: IndexEntry) {
        let candidate = Candidate(entry)
        if let latest, !candidate.isUsedBefore(latest) { return }
        candidates.append(candidate)
        if candidates.count >= 2 * count { pick() }
    }

    /// Those that are picked, the oldest last. An entry that was shown twice may be there twice.
    mutating func takeAll() -> [Candidate] {
        pick()
        defer { (candidates, latest) = ([], nil) }
        return candidates.reversed()
    }

    private mutating func pick() {
        candidates.sort { $0.isUsedBefore($1) }
        guard candidates.count >= count else { return }
        candidates.removeLast(candidates.count - count)
        latest = candidates.last
    }
}
