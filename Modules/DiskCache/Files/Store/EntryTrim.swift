import AlcedoCore

/// A trim on its way: done in steps, so that other writers come between. It looks for what may go without any lock but the
/// memory's, a few entries at a time, and what it chooses it judges again, under the lock of the index.
struct EntryTrim: Sendable {
    private enum Stage {
        /// Through the entries at the places below.
        case scanning(below: Int)
        case choosing
        case done
    }

    /// Most entries that go in one step.
    static let removalLimit = 32
    /// Most candidates that are judged in one step.
    private static let candidateLimit = 256
    /// Pieces of the table that are looked at in one step.
    private static let sliceCount = 32

    /// What is wanted.
    let size: Int
    let count: Int
    /// Bytes of which an entry that is left alone stays.
    let sizeOfLast: Int
    /// Why an entry goes that has not expired and is not over the count.
    let reason: DataCacheTrimReport.Reason
    private(set) var report = DataCacheTrimReport()

    private var stage = Stage.scanning(below: .max)
    /// Whether anything has gone since the last look.
    private var hasProgress = false
    /// Whether what was used since the look goes all the same: it is used so often that no look finds it unused.
    private var ignoresRecentUse = false
    private var selection = OldestEntries(count: 1)
    private var expired: [EntryName] = []
    /// By their last uses; the oldest is last.
    private var oldest: [OldestEntries.Candidate] = []

    init(toSize size: Int, count: Int, sizeOfLast: Int = 0, reason: DataCacheTrimReport.Reason) {
        self.size = size
        self.count = count
        self.sizeOfLast = sizeOfLast
        self.reason = reason
    }

    var isDone: Bool { if case .done = stage { true } else { false } }

    /// Looks at some entries. Returns false when there is nothing to look for now. All of a look is O(*n*) and a sort of an
    /// eighth of the entries; there is one for the expired, and one more for each eighth that goes.
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

    /// Chooses the next entries to go, as they are now. Empty when there are none now.
    mutating func choose(in table: IndexTable, at now: Timestamp, limits: DataCacheLimits) -> [DataCacheTrimReport
        .Choice]
    {
        var chosen: [DataCacheTrimReport.Choice] = []
        var (leftSize, leftCount) = (table.totalSize, table.count)
        for _ in 0..<Self.candidateLimit where chosen.count < Self.removalLimit {
            let name: EntryName
            let reason: DataCacheTrimReport.Reason
            if let candidate = expired.popLast() {
                guard let position = table.position(of: candidate), table[position].isExpired(limits, at: now) else {
                    continue
                }
                (name, reason) = (candidate, .expired)
            } else if isReached(leftSize, leftCount) {
                if chosen.isEmpty { stage = .done }
                break
            } else if let candidate = oldest.popLast() {
                // What was used since, or has gone, is not the oldest.
                guard let position = table.position(of: candidate.name),
                    ignoresRecentUse || table[position].useNumber == candidate.use
                else { continue }
                let isTooLarge = leftSize > size
                (name, reason) = (candidate.name, isTooLarge || self.reason != .sizeLimit ? self.reason : .countLimit)
            } else {
                if chosen.isEmpty { rescan() }
                break
            }
            // It may have been met twice.
            guard !chosen.contains(where: { $0.name == name }), let position = table.position(of: name) else {
                continue
            }
            chosen.append(.init(name: name, size: table[position].size, reason: reason))
            leftSize -= table[position].size
            leftCount -= 1
        }
        return chosen
    }

    /// Notes what has gone of that which was chosen.
    mutating func record(_ choices: [DataCacheTrimReport.Choice]) {
        if !choices.isEmpty { hasProgress = true }
        for choice in choices {
            report.removals.append(.init(name: choice.name.text, size: choice.size, reason: choice.reason))
        }
    }

    /// Notes why something does not go; the first reason is told.
    mutating func recordFailure(_ error: DataCacheError?) { report.refusal = report.refusal ?? error }

    private func isReached(_ totalSize: Int, _ totalCount: Int) -> Bool {
        guard totalSize > size || totalCount > count else { return true }
        return totalCount <= 1 && totalSize <= sizeOfLast
    }

    /// When all is chosen and more has to go. A second look in vain is the last one: what is there cannot be removed.
    private mutating func rescan() {
        if hasProgress || !ignoresRecentUse {
            stage = .scanning(below: .max)
        } else {
            stage = .done
            recordFailure(DataCacheError(.notWritable, "some entries of the cache cannot be removed"))
        }
        ignoresRecentUse = !hasProgress
        hasProgress = false
    }
}

extension DataCacheTrimReport {
    /// An entry that is to go.
    struct Choice: Sendable {
        var name: EntryName
        var size: Int
        var reason: Reason
    }
}
