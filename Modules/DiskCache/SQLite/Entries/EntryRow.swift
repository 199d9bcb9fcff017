import AlcedoCore
import FoundationEssentials

/// What the database has of an entry.
struct EntryRow {
    var id: Int64
    var name: String
    /// Bytes that it counts for.
    var size: Int
    /// Greater means used later.
    var recency: Int64
    var times: EntryTimes
    var checksum: Int64
    /// Of the data.
    var byteCount: Int
    /// The file that the data is in; nil when it is in the row.
    var file: ValueName?
    /// The bytes that the file occupies; zero without one.
    var fileSize: Int
    var metadata: Data
    var data: Data

    /// The entry, if all of it is there and as it was stored under `key`. Reads the file of a large value.
    ///
    /// - Throws: Why the file is not to be had now.
    func entry(for key: ImageKey, values: ValueFolder) throws(SQLiteFailure) -> CachedData? {
        var found = CachedData(data, metadata: metadata, expiry: times.expiry?.date)
        if let file {
            guard let content = try values.read(file, count: byteCount) else { return nil }
            found.data = content
        }
        guard found.data.count == byteCount, checksum == Self.checksum(of: found, for: key) else { return nil }
        return found
    }

    /// Covers the key too, so that a row under a wrong name is not believed.
    static func checksum(of entry: CachedData, for key: ImageKey) -> Int64 {
        var hash = XXH64.hash(key.resource.description.utf8Span.span.bytes)
        hash = XXH64.hash(key.variant.utf8Span.span.bytes, seed: hash)
        for part in [entry.metadata, entry.data] { hash = XXH64.hash(part.bytes, seed: hash) }
        return Int64(bitPattern: hash)
    }

    /// The bytes that an entry counts for: its share of the database's pages, and the blocks of the file of its data.
    ///
    /// - Parameter fileSize: The bytes that the file of the data occupies; zero when the data is in the row.
    static func size(of entry: CachedData, for key: ImageKey, fileSize: Int) -> Int {
        let keyCount = key.resource.description.utf8.count + key.variant.utf8.count
        return fileSize
            + PageShare.size(byteCount: keyCount + entry.metadata.count + (fileSize == 0 ? entry.data.count : 0))
    }

    /// Finds the entries of a resource.
    static func hash(of resource: ResourceKey) -> Int64 {
        Int64(bitPattern: XXH64.hash(resource.description.utf8Span.span.bytes))
    }
}
