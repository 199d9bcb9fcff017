/// The part of the database file that an entry occupies. The file is made of pages, of which the entry's bytes may fill one
/// in part. Source of the layout: sqlite.org/fileformat2.html, sections 1.5 and 1.6.
enum PageShare {
    /// Bytes of a page.
    static let pageSize = 4096
    /// Pages of a file without entries, eight, and as many that its trees leave empty in part. They count for no entry.
    static let spareCount = 16

    /// The most bytes of a row that stand in a page with other rows.
    private static let largestLocal = pageSize - 35
    private static let smallestLocal = (pageSize - 12) * 32 / 255 - 23
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
        if byteCount > largestLocal - headCount {
            local = smallestLocal + (byteCount - smallestLocal) % overflowSize
            if local > largestLocal - headCount { local = smallestLocal }
            pageCount = (byteCount - local + overflowSize - 1) / overflowSize
        }
        let rowsInPage = max(1, (pageSize - 8) / (local + headCount))
        return pageCount * pageSize + pageSize / rowsInPage + recordSize
    }
}
