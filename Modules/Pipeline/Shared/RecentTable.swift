import AlcedoCore
import AlcedoRuntime

/// A table that forgets whoever came first when it is full.
struct RecentTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let limit: Int
    private var values: [Key: Value] = [:]
    /// The keys in the order they came, from ``oldest`` on, round and round.
    private var ring: [Key] = []
    private var oldest = 0

    /// - Parameter limit: Most entries; at least one.
    init(limit: Int) { self.limit = max(1, limit) }

    subscript(key: Key) -> Value? { values[key] }

    mutating func set(_ value: Value, for key: Key) {
        if values[key] == nil { makeRoom(for: key) }
        values[key] = value
    }

    private mutating func makeRoom(for key: Key) {
        guard ring.count == limit else { return ring.append(key) }
        values[ring[oldest]] = nil
        ring[oldest] = key
        oldest = (oldest + 1) % limit
    }
}

/// What images were made of, as far as it is remembered.
final class SourceDigests: Sendable {
    private let table = Locked(RecentTable<ImageKey, LoadedImage.Origin?>(limit: 16_384))

    /// Of the image that was noted last under a key; nil when that is not known.
    subscript(key: ImageKey) -> LoadedImage.Origin? { table.withLock { $0[key] } ?? nil }

    /// - Parameter origin: nil when nobody knows.
    func record(_ origin: LoadedImage.Origin?, for key: ImageKey) { table.withLock { $0.set(origin, for: key) } }
}
