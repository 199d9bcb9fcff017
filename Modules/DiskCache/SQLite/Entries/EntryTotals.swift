/// Bytes and number of all entries.
struct EntryTotals: Equatable, Sendable {
    var size: Int
    var count: Int
}
