import AlcedoCore

/// A trim in progress. It runs in steps, so that other writers can run in between.
///
/// A trim loads the index, and then scans the entries for candidates. The scan locks only the index in memory, for one
/// slice at a time. The trim checks each candidate again under the lock of the index file before it removes the entry.
struct EntryTrim: Sendable {
    /// An entry that was chosen for removal.
    struct Choice: Sendable {
        var entry: IndexEntry
        var reason: EvictionReason
    }

    private enum Stage {
        /// The scan still has to visit the entries at the positions below this one.
        case scanning(below: Int)
        case choosing
        case done
    }

    /// The maximum number of entries that one step removes.
    static let removalLimit = 32
    /// The maximum number of candidates that one step checks.
    private static let candidateLimit = 256
    /// The maximum number of slices of the table that one step scans.
    private static let sliceCount = 32

    /// The maximum number of bytes that the trim aims for.
    let size: Int
    /// The maximum number of entries that the trim aims for.
    let count: Int
    /// The maximum size of the last remaining entry in bytes. If only one entry remains, and its size is at most this
    /// value, the goal counts as reached, even if the entry exceeds `size` or `count`.
    let sizeOfLast: Int
    /// The reason that the report gives for removed entries, except for expired ones. If this reason is `costLimit`,
    /// the report gives `countLimit` for an entry that is removed only because of the count.
    let reason: EvictionReason
    private(set) var report = DataCacheTrimReport()

    private var stage = Stage.scanning(below: .max)
    /// Whether the trim has removed an entry since it last began a scan.
    private var hasProgress = false
    /// Whether the trim also removes entries that were used after the scan. It does so after a scan that led to no
    /// removal, for example because all candidates were used meanwhile.
    private var ignoresRecentUse = false
    private var selection = OldestEntries(count: 1)
    private var expired: [EntryName] = []
    /// The candidates in descending order of use: the least recently used one is last.
    private var oldest: [OldestEntries.Candidate] = []

    init(toSize size: Int, count: Int, sizeOfLast: Int = 0, reason: EvictionReason) {
        self.size = size
        self.count = count
        self.sizeOfLast = sizeOfLast
        self.reason = reason
    }

    var isDone: Bool { if case .done = stage { true } else { false } }

    /// Scans some entries. The first step of a scan loads the index. Returns false if the trim is not in the scanning
    /// stage.
    ///
    /// - Complexity: After the index is loaded, a whole scan of *n* entries takes O(*n* log *n*) at worst. Its
    ///   candidates are the expired entries and, unless the goal is reached, some of the least recently used ones.
    mutating func scan(_ index: DiskIndex, at now: Timestamp, limits: DataCacheLimits) -> Bool {
        guard case .scanning(var end) = stage else { return false }
        if end == .max {
            recordFailure(index.load())
            let known = index.read(\.count)
            selection = OldestEntries(count: max(Self.removalLimit, known / 8))
        }
        let isOver = index.read { !isReached($0.totalSize, $0.count) }
        for _ in 0..<Self.sliceCount where end > 0 {
            let slice = index.slice(below: end)
            end = slice.start
            for entry in slice.entries {
                if entry.isExpired(limits, at: now) {
                    expired.append(entry.name)
                } else if isOver {
                    selection.add(entry)
                }
            }
        }
        guard end == 0 else {
            stage = .scanning(below: end)
            return true
        }
        oldest = selection.takeAll()
        stage = expired.isEmpty && oldest.isEmpty ? .done : .choosing
        return true
    }

    /// Returns the next entries to remove, judged by their present state.
    ///
    /// The result is empty in three cases:
    /// - The goal is reached. The trim ends.
    /// - No candidate is left. Another scan begins, or the trim ends with an error.
    /// - All checked candidates have to be kept. The next call continues with the other candidates.
    mutating func choose(in table: IndexTable, at now: Timestamp, limits: DataCacheLimits) -> [Choice] {
        var chosen: [Choice] = []
        var (leftSize, leftCount) = (table.totalSize, table.count)
        for _ in 0..<Self.candidateLimit where chosen.count < Self.removalLimit {
            let name: EntryName
            let reason: EvictionReason
            if let candidate = expired.popLast() {
                guard let position = table.position(of: candidate), table[position].isExpired(limits, at: now) else {
                    continue
                }
                (name, reason) = (candidate, .expired)
            } else if isReached(leftSize, leftCount) {
                if chosen.isEmpty { stage = .done }
                break
            } else if let candidate = oldest.popLast() {
                // An entry that was used since the scan may no longer be one of the least recently used entries.
                guard let position = table.position(of: candidate.name),
                    ignoresRecentUse || table[position].useNumber == candidate.use
                else { continue }
                let isTooLarge = leftSize > size
                (name, reason) = (candidate.name, isTooLarge || self.reason != .costLimit ? self.reason : .countLimit)
            } else {
                if chosen.isEmpty { rescan() }
                break
            }
            // A scan may meet an entry more than once.
            guard !chosen.contains(where: { $0.entry.name == name }), let position = table.position(of: name) else {
                continue
            }
            chosen.append(Choice(entry: table[position], reason: reason))
            leftSize -= table[position].size
            leftCount -= 1
        }
        return chosen
    }

    /// Records the chosen entries that were removed.
    mutating func record(_ choices: [Choice]) {
        if !choices.isEmpty { hasProgress = true }
        report.removals += choices.map { DataCacheItem($0.entry, evictionReason: $0.reason) }
    }

    /// Records why the trim may remove too few entries. Nil is ignored. The report keeps only the first reason.
    mutating func recordFailure(_ error: DataCacheError?) { report.error = report.error ?? error }

    private func isReached(_ totalSize: Int, _ totalCount: Int) -> Bool {
        guard totalSize > size || totalCount > count else { return true }
        return totalCount <= 1 && totalSize <= sizeOfLast
    }

    /// Starts another scan. The caller has checked all candidates and has not reached the goal. If two scans in a row
    /// have led to no removal, ends the trim with an error: the remaining entries cannot be removed.
    private mutating func rescan() {
        if hasProgress || !ignoresRecentUse {
            stage = .scanning(below: .max)
        } else {
            stage = .done
            recordFailure(
                DataCacheError(.notWritable, "the cache exceeds its limit, and the remaining entries cannot be removed")
            )
        }
        ignoresRecentUse = !hasProgress
        hasProgress = false
    }
}
