import AlcedoCore
import FoundationEssentials
import Synchronization

/// Values in the order in which they were stored. The oldest values are removed when the total size exceeds a limit.
private struct SizedValues<Value: Sendable>: Sendable {
    private(set) var values: [ImageKey: (value: Value, size: Int)] = [:]
    private var order: [ImageKey] = []
    private var size = 0

    /// Replaces the value of the key, and removes the oldest values until the new value fits. A value that exceeds the
    /// limit is not stored.
    mutating func store(_ value: Value, size newSize: Int, for key: ImageKey, limit: Int) {
        remove(key)
        guard newSize <= limit else { return }
        trim(to: limit - newSize)
        values[key] = (value, newSize)
        order.append(key)
        size += newSize
    }

    @discardableResult mutating func remove(_ key: ImageKey) -> Bool {
        guard let old = values.removeValue(forKey: key) else { return false }
        order.removeAll { $0 == key }
        size -= old.size
        return true
    }

    mutating func removeAll(of resource: ResourceKey) -> Int {
        order.filter { $0.resource == resource }.count { remove($0) }
    }

    private mutating func trim(to limit: Int) {
        while size > limit, let oldest = order.first { remove(oldest) }
    }
}

/// A memory cache that evicts the image that was stored first. The protocol's methods are synchronous, so a lock
/// protects the state.
final class FirstInFirstOutMemoryCache: MemoryCaching {
    private let costLimit: Int
    private let images = Mutex(SizedValues<DecodedImage>())

    /// Creates an empty cache.
    ///
    /// - Parameter costLimit: The maximum number of bytes of all images together.
    init(costLimit: Int) { self.costLimit = costLimit }

    func image(for key: ImageKey) -> DecodedImage? { images.withLock { $0.values[key]?.value } }

    func contains(_ key: ImageKey) -> Bool { images.withLock { $0.values[key] != nil } }

    func store(_ image: DecodedImage, for key: ImageKey) {
        images.withLock { $0.store(image, size: image.cost, for: key, limit: costLimit) }
    }

    func remove(_ key: ImageKey) -> Bool { images.withLock { $0.remove(key) } }

    func removeAll(of resource: ResourceKey) -> Int { images.withLock { $0.removeAll(of: resource) } }

    func removeAll() { images.withLock { $0 = SizedValues() } }
}

/// A data cache in memory, for a process without a disk. The protocol's methods are asynchronous, so the cache is an
/// actor.
actor FirstInFirstOutDataCache: DataCaching {
    private let sizeLimit: Int
    private var entries = SizedValues<CachedData>()

    /// Creates an empty cache.
    ///
    /// - Parameter sizeLimit: The maximum number of bytes of all entries together.
    init(sizeLimit: Int) { self.sizeLimit = sizeLimit }

    func entry(for key: ImageKey) -> CachedData? {
        entries.values[key].flatMap { Self.isCurrent($0.value) ? $0.value : nil }
    }

    func contains(_ key: ImageKey) -> Bool { entry(for: key) != nil }

    func store(_ entry: CachedData, for key: ImageKey) throws {
        let size = entry.data.count + entry.metadata.count
        guard size <= sizeLimit else {
            throw DataCacheError(.tooLarge, "an entry of \(size) bytes exceeds the limit of \(sizeLimit) bytes")
        }
        entries.remove(key)
        guard Self.isCurrent(entry) else { return }
        entries.store(entry, size: size, for: key, limit: sizeLimit)
    }

    func remove(_ key: ImageKey) -> Bool { entries.remove(key) }

    func removeAll(of resource: ResourceKey) -> Int { entries.removeAll(of: resource) }

    func removeAll() { entries = SizedValues() }

    private static func isCurrent(_ entry: CachedData) -> Bool { entry.expiry.map { $0 > Date() } ?? true }
}
