import AlcedoCore

/// What the database has under an entry's number, unverified.
struct FoundEntry {
    var row: EntryRow
    /// Of the text that is there, if it is what it was.
    var key: ImageKey
    /// What the entry is found by when its resource is removed.
    var resourceHash: Int64
    /// Whether it has all columns, and a name that it can be found by.
    var isComplete: Bool

    /// Whether it is as it was stored: key, numbers and bytes. Reads the file of a large value.
    ///
    /// - Throws: Why the file is not to be had now.
    func isWhole(_ values: ValueFolder) throws(SQLiteFailure) -> Bool {
        guard isComplete, key.fileName == row.name, EntryRow.hash(of: key.resource) == resourceHash,
            let entry = try row.entry(for: key, values: values)
        else { return false }
        guard row.file == nil ? row.fileSize == 0 : row.fileSize >= entry.data.count else { return false }
        return row.size == EntryRow.size(of: entry, for: key, fileSize: row.fileSize)
    }
}
