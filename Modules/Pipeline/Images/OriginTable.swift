import AlcedoCore

/// What images were made of, as far as it is remembered.
final class OriginTable: Sendable {
    private let table = Locked(RecentTable<ImageKey, Picture.Origin?>(limit: 16_384))

    /// Of the image that was noted last under a key; nil when that is not known.
    subscript(key: ImageKey) -> Picture.Origin? { table.withLock { $0[key] } ?? nil }

    /// - Parameter origin: nil when nobody knows.
    func note(_ origin: Picture.Origin?, for key: ImageKey) { table.withLock { $0.set(origin, for: key) } }
}
