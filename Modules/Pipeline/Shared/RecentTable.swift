import AlcedoCore
import AlcedoRuntime

/// A table with a limited number of keys. Adding a key to a full table removes the oldest one.
package struct RecentTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let limit: Int
    private var values: [Key: Value] = [:]
    /// The keys in the order of insertion, as a ring buffer that begins at ``oldest``.
    private var ring: [Key] = []
    private var oldest = 0

    /// Creates an empty table.
    ///
    /// - Parameter limit: The maximum number of keys. Values below one count as one.
    package init(limit: Int) { self.limit = max(1, limit) }

    package subscript(key: Key) -> Value? { values[key] }

    package mutating func set(_ value: Value, for key: Key) {
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

/// The origins of images, for a limited number of keys.
final class SourceDigests: Sendable {
    private let table = Locked(RecentTable<ImageKey, LoadedImage.Origin?>(limit: 16_384))

    /// The last origin recorded under a key, or nil when it is not known.
    subscript(key: ImageKey) -> LoadedImage.Origin? { last(key) ?? nil }

    /// Returns the last origin recorded under a key, which may be unknown, or nil when none was recorded.
    func last(_ key: ImageKey) -> LoadedImage.Origin?? { table.withLock { $0[key] } }

    /// Returns the digest recorded under a key. If none is known, records a digest, and returns it.
    func digest(of key: ImageKey, orRecording digest: UInt64) -> UInt64 {
        table.withLock { table in
            if let known = table[key]??.digest { return known }
            table.set(LoadedImage.Origin(digest: digest, allowsStoring: true), for: key)
            return digest
        }
    }

    /// Records the origin of an image.
    ///
    /// - Parameters:
    ///   - origin: The origin, or nil when it is not known.
    ///   - key: The key of the image.
    func record(_ origin: LoadedImage.Origin?, for key: ImageKey) { table.withLock { $0.set(origin, for: key) } }
}
