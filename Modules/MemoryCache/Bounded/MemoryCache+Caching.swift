public import AlcedoCore
import FoundationEssentials

extension MemoryCache where Key == ImageKey {
    /// Removes the value stored under `key`. Returns whether there was a value that had not expired.
    @discardableResult
    @inlinable
    public func remove(_ key: ImageKey) -> Bool { removeValue(for: key) != nil }

    /// Removes the original and every variant of a resource. Returns the number of removed entries.
    ///
    /// - Complexity: O(number of removed entries plus the number of weak references to evicted values).
    @discardableResult
    public func removeAll(of resource: ResourceKey) -> Int { removeGroup(resource) }
}

/// A memory cache of decoded images.
///
/// The cost of an image is ``/AlcedoCore/DecodedImage/cost``, the number of bytes it occupies.
///
/// ```swift
/// import AlcedoMemoryCache
///
/// let images = ImageMemoryCache(costLimit: 128 << 20, pressureSource: SystemMemoryPressureSource.shared)
/// ```
public typealias ImageMemoryCache = MemoryCache<ImageKey, DecodedImage>

extension MemoryCache: MemoryCaching, MaintainableMemoryCache
where Key == ImageKey, Value == DecodedImage {
    /// Returns the image stored under `key`, and records a use of it. Returns nil if no image is stored or the image
    /// has expired.
    @inlinable
    public func image(for key: ImageKey) -> DecodedImage? { value(for: key) }

    /// Stores an image under `key` with the cost ``/AlcedoCore/DecodedImage/cost``. An image whose cost exceeds a limit
    /// is not stored, and the previous image under `key` is removed.
    @inlinable
    public func store(_ image: DecodedImage, for key: ImageKey) { store(image, for: key, cost: image.cost) }

    /// Stores the image under the request's key. The request's ``/AlcedoCore/ImageRequest/memoryTimeToLive``, if any,
    /// replaces the cache's default.
    public func store(_ image: DecodedImage, for request: ImageRequest) {
        store(image, for: request.key, cost: image.cost, timeToLive: request.memoryTimeToLive)
    }

    /// Removes expired entries, and then evicts entries until the rest costs at most `cost`.
    @inlinable
    public func trim(toCost cost: Int) { trim(toCost: cost, count: .max) }
}

/// A data cache that keeps its entries in memory, for tests and as the first of several tiers.
///
/// ```swift
/// import AlcedoMemoryCache
///
/// let responses = DataMemoryCache(sizeLimit: 16 << 20)
/// ```
///
/// The cost of an entry is the size of its data, its metadata and its key, in bytes. When an entry is stored, its
/// expiry is converted to a time to live by the cache's clock. This time to live takes precedence over the cache's
/// default. Later changes of the clock's date have no effect.
public typealias DataMemoryCache = MemoryCache<ImageKey, CachedData>

extension MemoryCache where Key == ImageKey, Value == CachedData {
    /// Creates a data cache that evicts the least recently used entries first.
    ///
    /// A stored entry must be readable at once, so the policy is LRU, which never rejects an entry. A custom policy
    /// may.
    ///
    /// - Parameters:
    ///   - sizeLimit: The maximum size of all entries, in bytes. With zero or less, the cache stores nothing.
    ///   - timeToLive: The time to live of an entry that has no expiry. Default: nil, no limit.
    ///   - clock: The clock for expiration. Default: the system's.
    public convenience init(sizeLimit: Int, timeToLive: Duration? = nil, clock: any TimeSource = SystemClock()) {
        self.init(
            limits: MemoryCacheLimits(costLimit: sizeLimit, timeToLive: timeToLive), policy: .lru, clock: clock)
    }
}

extension MemoryCache: DataCaching, MeasurableDataCache
where Key == ImageKey, Value == CachedData {
    /// Returns the entry stored under `key`, and records a use of it. Returns nil if no entry is stored or the entry
    /// has expired.
    public func entry(for key: ImageKey) -> CachedData? { value(for: key) }

    /// Stores `entry` under `key` and replaces an existing entry.
    ///
    /// An entry whose expiry has passed is not stored, and no error is thrown. Whenever the new entry is not stored,
    /// the previous entry under `key` is removed, because it is outdated.
    ///
    /// - Throws: ``/AlcedoCore/DataCacheError`` with the code `tooLarge` if the entry exceeds the limits, or if the
    ///   policy rejects it. A rejected entry may already have evicted others.
    public func store(_ entry: CachedData, for key: ImageKey) throws(DataCacheError) {
        var entry = entry
        // A slice would keep its whole base buffer in memory.
        if entry.data.startIndex != 0 { entry.data = Data(entry.data) }
        if entry.metadata.startIndex != 0 { entry.metadata = Data(entry.metadata) }
        let size = entry.data.count + entry.metadata.count + Self.size(of: key)
        let expiration = entry.expiry.map { Duration.seconds(Self.clamped($0.timeIntervalSince(clock.now))) }
        guard !store(entry, for: key, cost: size, timeToLive: expiration) else { return }
        if let expiration, expiration <= .zero { return }
        throw DataCacheError(.tooLarge, rejection(of: size))
    }

    /// Returns the message for an entry of `size` bytes that was not stored.
    private func rejection(of size: Int) -> String {
        guard limits.countLimit > 0 else { return "the memory cache has a limit of \(limits.countLimit) entries" }
        guard !limits.admits(cost: size) else {
            return "the policy or the time to live of the memory cache rejects an entry of \(size) bytes"
        }
        let limit = min(limits.costLimit, limits.maximumEntryCost)
        return "an entry of \(size) bytes exceeds the limit of \(limit) bytes of the memory cache"
    }

    /// The size of all entries, their metadata and their keys, in bytes.
    public var totalSize: Int { totalCost }

    private static func size(of key: ImageKey) -> Int { key.resource.description.utf8.count + key.variant.utf8.count }

    /// Returns the number of seconds, limited to 10^12 so that it fits in a `Duration`. Returns zero, which means
    /// expired, for negative numbers and NaN.
    private static func clamped(_ seconds: Double) -> Double { seconds > 0 ? min(seconds, 1e12) : 0 }
}

extension MemoryCache where Key: GroupedKey {
    /// Removes all entries of a group. Returns the number of removed entries. O(number of removed entries plus the
    /// number of weak references to evicted values).
    @discardableResult
    package func removeGroup(_ group: Key.Group) -> Int {
        removeGroup(group.hashValue) { $0.group == group }
    }
}
