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
