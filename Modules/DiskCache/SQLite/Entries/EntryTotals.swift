import AlcedoCore

/// The numbers of bytes and entries in a cache.
struct EntryTotals: Equatable, Sendable {
    /// The sum of the entries' sizes.
    var size: Int
    var count: Int
    /// The number of bytes in the used pages of the database and in the values' files. ``PageShare/spareCount`` pages
    /// are not counted. The number can exceed the sum of the entries' sizes, for example if removals have left many
    /// pages partly empty.
    var usedSize = 0
    /// The number of bytes in the free pages of the database, which later rows can use.
    var freeSize = 0

    /// Subtracts the size of an entry. The results are estimates, because an entry may share pages with other entries.
    mutating func remove(_ row: EntryRow) {
        size -= row.size
        usedSize = max(0, usedSize - row.size)
        count -= 1
    }

    /// Returns whether the database has free pages, and the database and the values' files together exceed `size`
    /// bytes. ``PageShare/spareCount`` pages are not counted.
    func hasSpareFile(beyond size: Int) -> Bool { freeSize > 0 && usedSize + freeSize > size }

    /// The number of bytes that is compared with the size limit.
    var occupiedSize: Int { max(size, usedSize) }
}

/// The part of the database file that an entry occupies.
///
/// The file consists of pages, which an entry may fill partly. Source of the layout: sqlite.org/fileformat2.html,
/// sections 1.5 and 1.6.
enum PageShare {
    /// The size of a page in bytes.
    static let pageSize = 4096
    /// The number of pages that do not count towards the size limit: the eight pages of a file without entries, and
    /// eight more for the space that B-trees leave unused in their pages.
    static let spareCount = 16

    /// The maximum number of bytes of a row without overflow pages.
    private static let maximumLocalByteCount = pageSize - 35
    private static let minimumLocalByteCount = (pageSize - 12) * 32 / 255 - 23
    /// The number of bytes of a row in an overflow page.
    private static let overflowSize = pageSize - 4
    /// An estimate of the number of bytes for the header of a row and its entry in the page.
    private static let headCount = 28
    /// An estimate of the number of bytes of an entry's row in the table `entry` and of its entries in three indexes.
    /// Measured: 302 after many stores, when the pages are fullest, and up to 576 after half of the entries are removed
    /// at random.
    private static let recordSize = 400

    /// Returns an estimate of the number of bytes that an entry occupies in the database.
    ///
    /// - Parameter byteCount: The number of bytes of the entry's key and metadata, and of its data if the data is in
    ///   the database.
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

/// The goal of a trim, and its reason.
struct TrimGoal: Sendable {
    var size: Int
    var count: Int
    var reason: EvictionReason
    /// The limits of the cache if the trim applies them. Such a trim keeps the most recently used entry if that entry
    /// alone is within the limits. Nil if the trim may remove every entry.
    var limits: DataCacheLimits?

    /// Returns the reason why the least recently used entry has to be removed, or nil if it may be kept.
    func reason(for totals: EntryTotals) -> EvictionReason? {
        let isTooLarge = totals.occupiedSize > size
        guard totals.count > 0, isTooLarge || totals.count > count else { return nil }
        if let limits, totals.count == 1, totals.size <= limits.sizeLimit, totals.count <= limits.countLimit {
            return nil
        }
        return reason == .costLimit && !isTooLarge ? .countLimit : reason
    }
}

extension TrimGoal {
    /// Creates the goal of a trim that applies the limits. Returns nil if no limit is exceeded.
    init?(_ totals: EntryTotals, exceeding limits: DataCacheLimits) {
        let (isTooLarge, areTooMany) = (totals.occupiedSize > limits.sizeLimit, totals.count > limits.countLimit)
        guard isTooLarge || areTooMany else { return nil }
        self.init(
            size: isTooLarge ? limits.sizeAfterTrim : .max, count: areTooMany ? limits.countAfterTrim : .max,
            reason: isTooLarge ? .costLimit : .countLimit, limits: limits)
    }
}
