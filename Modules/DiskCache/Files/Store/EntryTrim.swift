import AlcedoCore

/// A trim on its way: done in slices, so that other writers come between.
struct EntryTrim: Sendable {
    static let sliceCount = 32

    /// What is wanted.
    let size: Int
    let count: Int
    /// Bytes of which an entry that is left alone stays.
    let sizeOfLast: Int
    /// Why an entry goes that has not expired and is not over the count.
    let reason: DataCacheTrimReport.Reason
    private(set) var report = DataCacheTrimReport()

    private var hasLooked = false
    private var expired: [EntryName] = []
    /// By their last uses; the oldest is last.
    private var oldest: [(use: Int64, name: EntryName)] = []

    init(toSize size: Int, count: Int, sizeOfLast: Int = 0, reason: DataCacheTrimReport.Reason) {
        self.size = size
        self.count = count
        self.sizeOfLast = sizeOfLast
        self.reason = reason
    }

    /// Chooses the next entries to go. Empty when there is nothing more to do. O(*n* log *n*) once for the expired, and once
    /// for each eighth of the entries that goes.
    mutating func next(in table: IndexTable, at now: Timestamp, limits: DataCacheLimits) -> [DataCacheTrimReport.Choice]
    {
        if !hasLooked {
            hasLooked = true
            expired = table.entries.filter { $0.isOver(limits, at: now) }.map(\.name)
        }
        var chosen: [DataCacheTrimReport.Choice] = []
        var (leftSize, leftCount) = (table.totalSize, table.count)
        func choose(_ entry: IndexEntry, _ reason: DataCacheTrimReport.Reason) {
            chosen.append(.init(name: entry.name, size: entry.size, reason: reason))
            leftSize -= entry.size
            leftCount -= 1
        }
        while chosen.count < Self.sliceCount, let name = expired.popLast() {
            guard let place = table.place(of: name), table[place].isOver(limits, at: now) else { continue }
            choose(table[place], .expired)
        }
        while chosen.count < Self.sliceCount, leftSize > size || leftCount > count {
            guard leftCount > 1 || leftSize > sizeOfLast else { break }
            if oldest.isEmpty {
                // Those that are chosen already are still in the table.
                guard chosen.isEmpty else { break }
                look(table)
            }
            guard let candidate = oldest.popLast() else { break }
            // What was used since, or has gone, is not the oldest.
            guard let place = table.place(of: candidate.name), table[place].useNumber == candidate.use else { continue }
            choose(table[place], leftSize > size ? reason : reason == .sizeLimit ? .countLimit : reason)
        }
        return chosen
    }

    mutating func note(_ choices: [DataCacheTrimReport.Choice]) {
        for choice in choices {
            report.removals.append(.init(name: choice.name.text, size: choice.size, reason: choice.reason))
        }
    }

    private mutating func look(_ table: IndexTable) {
        let all = table.entries.sorted { $0.isUsedBefore($1) }.prefix(max(Self.sliceCount, table.count / 8))
        oldest = all.reversed().map { (use: $0.useNumber, name: $0.name) }
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
