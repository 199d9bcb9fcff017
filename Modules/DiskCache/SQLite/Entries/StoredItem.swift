/// What has to be known of an entry to remove it.
struct StoredItem: Sendable {
    var id: Int64
    var name: String
    var size: Int
    var file: ValueName?
    /// The bytes that the file occupies; zero without one.
    var fileSize: Int
}
