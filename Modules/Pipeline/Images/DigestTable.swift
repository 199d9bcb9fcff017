import AlcedoCore

/// What the images in memory were made of, as far as it is remembered.
final class DigestTable: Sendable {
    private let table = Locked(RecentTable<ImageKey, UInt64?>(limit: 16_384))

    /// Of the image that was noted last under a key; nil when that is not known.
    subscript(key: ImageKey) -> UInt64? { table.withLock { $0[key] } ?? nil }

    /// - Parameter digest: nil when nobody knows.
    func note(_ digest: UInt64?, for key: ImageKey) { table.withLock { $0.set(digest, for: key) } }
}
