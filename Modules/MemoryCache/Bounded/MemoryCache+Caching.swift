public import AlcedoCore
import FoundationEssentials

extension MemoryCache where Key == ImageKey {
    /// Removes the value stored under `key`. Returns whether there was one.
    @discardableResult
    @inlinable
    public func remove(_ key: ImageKey) -> Bool { removeValue(for: key) != nil }

    /// Removes the original and every variant of a resource. Returns the number of removed entries. O(their number), and
    /// of the values that are only referenced elsewhere.
    @discardableResult
    public func removeAll(of resource: ResourceKey) -> Int { removeGroup(resource) }
}

/// A memory cache of decoded images; an image costs the bytes it occupies.
public typealias ImageMemoryCache = MemoryCache<ImageKey, DecodedImage>

extension MemoryCache: MemoryCaching, MaintainableMemoryCache
where Key == ImageKey, Value == DecodedImage {
    @inlinable
    public func image(for key: ImageKey) -> DecodedImage? { value(for: key) }

    @inlinable
    public func store(_ image: DecodedImage, for key: ImageKey) { store(image, for: key, cost: image.cost) }

    /// Stores the image under the request's key, for the request's time to live where it has one.
    public func store(_ image: DecodedImage, for request: ImageRequest) {
        store(image, for: request.key, cost: image.cost, timeToLive: request.timeToLive)
    }

    @inlinable
    public func trim(toCost cost: Int) { trim(toCost: cost, count: .max) }
}

/// A data cache that keeps its entries in memory, for tests, and as the first of several tiers.
///
/// An entry costs its data, its notes and its key, in bytes. An entry's expiry becomes its time to live by the cache's
/// clock when it is stored, and goes before that of the limits; a clock that is set later changes nothing.
public typealias DataMemoryCache = MemoryCache<ImageKey, CachedData>

extension MemoryCache where Key == ImageKey, Value == CachedData {
    /// Makes a cache that keeps what was used last, as a data cache has to: a store can be read at once. GDSF,
    /// S3-FIFO and policies of your own may refuse an entry.
    ///
    /// - Parameters:
    ///   - sizeLimit: In bytes. Nought or less stores nothing.
    ///   - timeToLive: How long an entry lives that has no expiry of its own. Default: nil, as long as there is room.
    ///   - clock: Default: the system's.
    public convenience init(sizeLimit: Int, timeToLive: Duration? = nil, clock: any TimeSource = SystemClock()) {
        self.init(
            limits: MemoryCacheLimits(costLimit: sizeLimit, timeToLive: timeToLive), policy: .lru, clock: clock)
    }
}

extension MemoryCache: DataCaching, MeasurableDataCache
where Key == ImageKey, Value == CachedData {
    public func entry(for key: ImageKey) -> CachedData? { value(for: key) }

    /// Stores `entry` under `key`, replacing what is there.
    ///
    /// - Throws: ``DataCacheError`` `tooLarge` when the entry exceeds the limits, or the policy has no room for it, which may have
    ///   cost others their places. What stood under `key` goes, because it is no longer right.
    public func store(_ entry: CachedData, for key: ImageKey) throws {
        var entry = entry
        // A slice would hold on to all of what it is a part of.
        if entry.data.startIndex != 0 { entry.data = Data(entry.data) }
        if entry.metadata.startIndex != 0 { entry.metadata = Data(entry.metadata) }
        let size = entry.data.count + entry.metadata.count + Self.size(of: key)
        let expiration = entry.expiry.map { Duration.seconds(Self.clamped($0.timeIntervalSince(clock.now))) }
        guard !store(entry, for: key, cost: size, timeToLive: expiration) else { return }
        if let expiration, expiration <= .zero { return }
        throw DataCacheError(.tooLarge, "the memory cache has no room for an entry of \(size) bytes")
    }

    /// Bytes of all entries, with their notes and keys.
    public var totalSize: Int { totalCost }

    private static func size(of key: ImageKey) -> Int { key.resource.description.utf8.count + key.variant.utf8.count }

    /// Within what a duration can hold; what is no number is over.
    private static func clamped(_ seconds: Double) -> Double { seconds > 0 ? min(seconds, 1e12) : 0 }
}

extension MemoryCache where Key: GroupedKey {
    /// Removes all entries of a group. Returns the number of removed entries. O(their number), and of the values that are
    /// only referenced elsewhere.
    @discardableResult
    package func removeGroup(_ group: Key.Group) -> Int {
        removeGroup(group.hashValue) { $0.group == group }
    }
}
