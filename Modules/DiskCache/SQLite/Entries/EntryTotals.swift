import AlcedoCore

/// Bytes and number of all entries.
struct EntryTotals: Equatable, Sendable {
    /// The sum of the entries' sizes.
    var size: Int
    var count: Int
    /// The bytes of the pages that are in use and of the values' files. They are more than the entries' sizes where removals
    /// have left many pages full in part.
    var usedSize = 0
    /// The bytes of the database's free pages, which the next entries take.
    var freeSize = 0

    /// Subtracts an entry. How many of its pages others still use is known when the pages are counted again.
    mutating func remove(_ item: StoredItem) {
        size -= item.size
        usedSize = max(0, usedSize - item.size)
        count -= 1
    }

    /// Whether the database file and the values' files are larger than `size`, and could be smaller.
    func hasSpareFile(beyond size: Int) -> Bool { freeSize > 0 && usedSize + freeSize > size }

    /// The bytes that limits are about.
    var occupiedSize: Int { max(size, usedSize) }
}

/// What has to be known of an entry to remove it.
struct StoredItem: Sendable {
    var id: Int64
    var name: String
    var size: Int
    var file: ValueName?
    /// The bytes that the file occupies; zero without one.
    var fileSize: Int
}

/// The part of the database file that an entry occupies. The file is made of pages, of which the entry's bytes may fill one
/// in part. Source of the layout: sqlite.org/fileformat2.html, sections 1.5 and 1.6.
enum PageShare {
    /// Bytes of a page.
    static let pageSize = 4096
    /// Pages of a file without entries, eight, and as many that its trees leave empty in part. They count for no entry.
    static let spareCount = 16

    /// The most bytes of a row that stand in a page with other rows.
    private static let maximumLocalByteCount = pageSize - 35
    private static let minimumLocalByteCount = (pageSize - 12) * 32 / 255 - 23
    /// The bytes of a row in a page of its own.
    private static let overflowSize = pageSize - 4
    /// The numbers of a row, and of the page that it stands in.
    private static let headCount = 28
    /// The bytes of an entry's other row and of its places in three indexes, whose pages are two thirds full. Measured: 302
    /// with all pages as full as they are after many stores, up to 576 after half of the entries are removed at random.
    private static let recordSize = 400

    /// Returns the bytes that an entry occupies.
    ///
    /// - Parameter byteCount: Of its key and metadata, and of the data if that is in the database.
    static func size(byteCount: Int) -> Int {
        var local = byteCount
        var pageCount = 0
        if byteCount > maximumLocalByteCount - headCount {
            local = minimumLocalByteCount + (byteCount - minimumLocalByteCount) % overflowSize
            if local > maximumLocalByteCount - headCount { local = minimumLocalByteCount }
            pageCount = (byteCount - local + overflowSize - 1) / overflowSize
        }
        let rowsInPage = max(1, (pageSize - 8) / (local + headCount))
        return pageCount * pageSize + pageSize / rowsInPage + recordSize
    }
}

/// What a trim leaves, and why it is one.
struct TrimGoal: Sendable {
    var size = Int.max
    var count = Int.max
    var reason = DataCacheTrimReport.Reason.requested
    /// When set, the entry used last stays as long as these hold.
    var limits: DataCacheLimits?

    /// A trim to what somebody asked for.
    init(size: Int, count: Int, reason: DataCacheTrimReport.Reason) {
        self.size = size
        self.count = count
        self.reason = reason
    }

    /// A trim of what exceeds the limits, down to what a trim is to leave; nil when nothing does.
    init?(_ totals: EntryTotals, exceeding limits: DataCacheLimits) {
        let (isTooLarge, areTooMany) = (totals.occupiedSize > limits.maximumSize, totals.count > limits.maximumCount)
        guard isTooLarge || areTooMany else { return nil }
        self.limits = limits
        if isTooLarge { size = limits.sizeAfterTrim }
        if areTooMany { count = limits.countAfterTrim }
        reason = isTooLarge ? .sizeLimit : .countLimit
    }

    /// Why the least recently used entry has to go; nil when it may stay.
    func reason(for totals: EntryTotals) -> DataCacheTrimReport.Reason? {
        let isTooLarge = totals.occupiedSize > size
        guard totals.count > 0, isTooLarge || totals.count > count else { return nil }
        if let limits, totals.count == 1, totals.size <= limits.maximumSize, totals.count <= limits.maximumCount {
            return nil
        }
        return reason == .sizeLimit && !isTooLarge ? .countLimit : reason
    }
}

/// A part of a trim.
struct TrimSlice: Sendable {
    var removals: [DataCacheTrimReport.Removal] = []
    /// Whether there is nothing more to do.
    var isDone = true
}
