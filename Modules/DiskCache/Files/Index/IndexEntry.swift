import AlcedoCore
import AlcedoRuntime

struct IndexEntry: Sendable, Equatable {
    /// The use number of an entry without a recorded use. It is lower than all others.
    static let neverUsed: Int64 = 0

    private var words: SIMD4<UInt64>
    /// The XXH64 of the resource's name, which all variants of an image share.
    var resourceHash: UInt64
    var file: FileSize
    var storedAt: Timestamp
    var lastUse: Timestamp
    var expiry: Timestamp?
    /// Part of ``name``. It is stored here, in padding, so that an entry takes 96 bytes.
    private var suffixNumber: UInt8
    /// The number of the last use. Later uses by the same cache object have greater numbers, independently of the
    /// clock.
    var useNumber: Int64

    init(
        name: EntryName, resourceHash: UInt64, file: FileSize, storedAt: Timestamp, lastUse: Timestamp,
        expiry: Timestamp?, useNumber: Int64
    ) {
        (words, suffixNumber) = (name.words, name.suffixNumber)
        self.resourceHash = resourceHash
        self.file = file
        self.storedAt = storedAt
        self.lastUse = lastUse
        self.expiry = expiry
        self.useNumber = useNumber
    }

    var name: EntryName {
        get { EntryName(words: words, suffixNumber: suffixNumber) }
        set { (words, suffixNumber) = (newValue.words, newValue.suffixNumber) }
    }

    /// The number of bytes that the entry counts for in the limits.
    var size: Int { file.occupied }

    /// Returns whether this entry was used before another one. Compares the numbers of the uses, and then the dates if
    /// the numbers are equal.
    func isUsedBefore(_ other: IndexEntry) -> Bool { (useNumber, lastUse) < (other.useNumber, other.lastUse) }
}

extension IndexEntry {
    func isExpired(_ limits: DataCacheLimits, at now: Timestamp) -> Bool {
        limits.isOver(storedAt: storedAt, lastUse: lastUse, expiry: expiry, now: now)
    }
}

/// A selection of the least recently used entries of a sequence.
///
/// It holds at most twice as many candidates as it selects. Selecting *k* of *n* entries takes O(*n* log *k*) at worst.
/// If the entries are added in random order, the candidates are sorted only O(log(*n*/*k*)) times on average.
struct OldestEntries: Sendable {
    struct Candidate: Sendable {
        let name: EntryName
        /// The number of the last use.
        let use: Int64
        let lastUse: Timestamp

        init(_ entry: IndexEntry) { (name, use, lastUse) = (entry.name, entry.useNumber, entry.lastUse) }

        func isUsedBefore(_ other: Self) -> Bool { (use, lastUse) < (other.use, other.lastUse) }
    }

    private let count: Int
    private var candidates: [Candidate] = []
    /// The most recently used candidate that the latest sort kept, or nil before the first sort. Only an entry that was
    /// used before this candidate can still be selected.
    private var latest: Candidate?

    /// Creates an empty selection.
    ///
    /// - Parameter count: The number of entries to select. Values below one count as one.
    init(count: Int) { self.count = max(1, count) }

    mutating func add(_ entry: IndexEntry) {
        let candidate = Candidate(entry)
        if let latest, !candidate.isUsedBefore(latest) { return }
        candidates.append(candidate)
        if candidates.count >= 2 * count { pick() }
    }

    /// Returns the selected candidates and clears the selection. The least recently used candidate is last. An entry
    /// that was added twice may occur twice.
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
