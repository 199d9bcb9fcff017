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
