public import AlcedoCore
import AlcedoRuntime
import Synchronization

/// A memory cache that keeps decoded images in Foundation's `NSCache`.
///
/// ```swift
/// import AlcedoCore
/// import AlcedoNSCache
///
/// let cache = NSCacheBackend(costLimit: 64 << 20, countLimit: 500) { key, image in
///     print("evicted", key, image.cost)
/// }
/// ```
///
/// On Linux, `NSCache` evicts the cheapest entry first and, among entries of equal cost, the newest: a full cache of
/// equally expensive images evicts a new image at once. With a ``/AlcedoCore/MemoryPressureSource``, this class removes
/// every image at warning. An image that exceeds the limit is not stored, and a limit of 0 stores nothing. `onEviction`
/// is called outside every lock. The page of the module lists the measured behavior of `NSCache`.
///
/// The class is safe from any thread. While ``removeAll(of:)`` runs, another thread may still find some of the
/// variants.
///
/// - Complexity: O(1) for a lookup, which allocates two objects. A store is O(number of cheaper images).
public final class NSCacheBackend: MaintainableMemoryCache {
    private typealias EvictionHandler = @Sendable (ImageKey, DecodedImage) -> Void

    /// The maximum cost of all images together, in bytes.
    package let costLimit: Int
    /// The maximum number of images.
    package let countLimit: Int

    private let store: EvictingStore
    private let records = Locked(ImageRecords())
    /// The number of lookups that found an image. This and the other counters are atomic, so that a lookup takes only
    /// the lock of `NSCache`.
    private let hits = Atomic<Int>(0)
    private let hitCost = Atomic<Int>(0)
    private let misses = Atomic<Int>(0)
    private let onEviction: EvictionHandler?
    private let pressure = Locked<(any Sendable)?>(nil)

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - costLimit: The maximum cost of all images together, in bytes. With zero or less, the cache stores nothing.
    ///     Values above half of `Int.max` count as that half, because `NSCache` adds before it compares.
    ///   - countLimit: The maximum number of images. With zero or less, the cache stores nothing. Default: no limit.
    ///   - pressureSource: Reports memory pressure. The cache removes every image at warning and critical. Default:
    ///     nil.
    ///   - onEviction: Called for each image that a limit, ``trim(toCost:)`` or memory pressure evicts, like
    ///     `cache(_:willEvictObject:)` of `NSCacheDelegate`, but after the image has left. The call happens on the
    ///     thread whose call evicted the image, before that call returns. It does not happen for images that are
    ///     removed or replaced. The handler may call the cache. If it stores an image that evicts another one, it is
    ///     called recursively. Default: nil.
    public init(
        costLimit: Int, countLimit: Int = .max, pressureSource: (any MemoryPressureSource)? = nil,
        onEviction: (@Sendable (ImageKey, DecodedImage) -> Void)? = nil
    ) {
        self.costLimit = min(max(0, costLimit), .max / 2)
        self.countLimit = max(0, countLimit)
        self.onEviction = onEviction
        store = EvictingStore(costLimit: self.costLimit, countLimit: self.countLimit)
        guard let pressureSource else { return }
        let token = pressureSource.observe { [weak self] level in
            if level >= .warning { self?.evictAll() }
        }
        pressure.withLock { $0 = token }
    }

    /// The total cost of all stored images, in bytes. The cost of an image is ``/AlcedoCore/DecodedImage/cost``.
    public var totalCost: Int { records.withLock { $0.totalCost } }

    /// The number of stored images.
    package var count: Int { records.withLock { $0.count } }

    /// The counts of lookups, stores and evictions since the cache was created. `NSCache` has no expiration and no weak
    /// references, so the counts of expired entries and of weak hits are zero.
    public var statistics: CacheStatistics {
        var statistics = records.withLock { $0.statistics }
        statistics.recordLookups(
            hits: hits.load(ordering: .relaxed), cost: hitCost.load(ordering: .relaxed),
            misses: misses.load(ordering: .relaxed), weakHits: 0)
        return statistics
    }

    /// Returns the image stored under `key`; nil if there is none. `NSCache` does not record this as a use.
    public func image(for key: ImageKey) -> DecodedImage? {
        guard let box = store.box(for: key) else {
            misses.wrappingAdd(1, ordering: .relaxed)
            return nil
        }
        hits.wrappingAdd(1, ordering: .relaxed)
        hitCost.wrappingAdd(box.cost, ordering: .relaxed)
        return box.image
    }

    /// Whether an image is stored under `key`.
    public func contains(_ key: ImageKey) -> Bool { store.box(for: key) != nil }

    /// Stores `image` under `key` and replaces an existing image.
    ///
    /// When a limit is exceeded, `NSCache` may evict the image at once, because it evicts the cheapest images first. An
    /// image whose cost exceeds the limit is not stored and evicts no other image. The previous image under `key` is
    /// removed in this case.
    ///
    /// - Complexity: O(number of cheaper images).
    public func store(_ image: DecodedImage, for key: ImageKey) {
        let box = ImageBox(image, for: key)
        guard costLimit > 0, countLimit > 0, box.cost <= costLimit else {
            change { records in
                records.statistics.recordFailure(cost: box.cost)
                guard let replaced = records.remove(key) else { return Removals() }
                store.remove(replaced)
                return Removals(removed: [replaced], reason: .replaced)
            }
            return
        }
        change { records in
            let replaced = records.insert(box)
            records.statistics.recordStore(cost: box.cost)
            // If a store exceeds both limits, its evictions count for the cost limit.
            let reason: EvictionReason = records.totalCost > costLimit ? .costLimit : .countLimit
            let evicted = store.set(box)
            records.remove(evicted)
            return Removals(
                evicted: evicted, evictionReason: reason, removed: [replaced].compactMap { $0 }, reason: .replaced)
        }
    }

    /// Removes the image stored under `key`. Returns whether there was one.
    @discardableResult
    public func remove(_ key: ImageKey) -> Bool {
        let count = change { records in
            guard let box = records.remove(key) else { return Removals() }
            store.remove(box)
            return Removals(removed: [box])
        }
        return count > 0
    }

    /// Removes the original and every variant of a resource. Returns the number of removed images.
    ///
    /// - Complexity: O(number of removed images).
    @discardableResult
    public func removeAll(of resource: ResourceKey) -> Int {
        change { records in
            let boxes = records.removeAll(of: resource)
            for box in boxes { store.remove(box) }
            return Removals(removed: boxes)
        }
    }

    /// Removes every image.
    ///
    /// - Complexity: O(number of images).
    public func removeAll() {
        change { records in
            store.removeAll()
            return Removals(removed: records.removeAll())
        }
    }

    /// Evicts the images that `NSCache` evicts first, until the rest cost at most `cost` bytes.
    ///
    /// - Complexity: O(number of evicted images).
    public func trim(toCost cost: Int) {
        change { records in
            guard records.totalCost > max(0, cost), let box = records.anyBox else { return Removals() }
            guard cost > 0 else {
                store.removeAll()
                return Removals(evicted: records.removeAll())
            }
            let evicted = store.evict(toCost: cost, storingAgain: box)
            records.remove(evicted)
            return Removals(evicted: evicted)
        }
    }

    private func evictAll() {
        change { records in
            store.removeAll()
            return Removals(evicted: records.removeAll())
        }
    }

    /// The images that a change removed, and the reasons.
    private struct Removals: Sendable {
        var evicted: [ImageBox] = []
        var evictionReason = EvictionReason.trimmed
        var removed: [ImageBox] = []
        var reason = EvictionReason.removed
    }

    /// Runs `body` under the lock around the records, so that only one change runs at a time. After the lock is
    /// released, reports the evicted images and releases all images that left the cache. Returns the number of images
    /// that left without an eviction.
    @discardableResult
    private func change(_ body: (inout ImageRecords) -> Removals) -> Int {
        let removals = records.withLock { records in
            let removals = body(&records)
            records.recordEvictions(removals.evicted, removals.evictionReason)
            records.recordEvictions(removals.removed, removals.reason)
            return removals
        }
        if let onEviction {
            for box in removals.evicted { onEviction(box.key.key, box.image) }
        }
        return removals.removed.count
    }
}

/// The records of the images in `NSCache`, which provides neither its keys nor its costs.
///
/// The records hold the boxes, so that `NSCache` never releases the last reference to a box under its lock.
///
/// - Complexity: O(1) for every operation unless it says otherwise, plus a hash of the resource's name.
private struct ImageRecords: Sendable {
    /// The total cost of all images, in bytes.
    private(set) var totalCost = 0
    private(set) var count = 0
    /// The counts of stores, failures and evictions. Lookups are counted separately.
    var statistics = CacheStatistics()
    private var boxes: [ResourceKey: [ImageKey: ImageBox]] = [:]

    /// Any of the boxes; nil if there are none.
    var anyBox: ImageBox? { boxes.values.first?.values.first }

    /// Adds `box`, and returns the box it replaces; nil if there is none.
    mutating func insert(_ box: ImageBox) -> ImageBox? {
        let key = box.key.key
        let old = boxes[key.resource, default: [:]].updateValue(box, forKey: key)
        totalCost += box.cost - (old?.cost ?? 0)
        count += old == nil ? 1 : 0
        return old
    }

    /// Removes the records of `boxes`. O(number of boxes).
    mutating func remove(_ boxes: [ImageBox]) {
        for box in boxes { _ = remove(box.key.key) }
    }

    /// Removes and returns the box under `key`; nil if there is none.
    mutating func remove(_ key: ImageKey) -> ImageBox? {
        guard let old = boxes[key.resource]?.removeValue(forKey: key) else { return nil }
        if boxes[key.resource]?.isEmpty == true { boxes[key.resource] = nil }
        totalCost -= old.cost
        count -= 1
        return old
    }

    /// Removes and returns the boxes of a resource's original and of all its variants. O(number of removed boxes).
    mutating func removeAll(of resource: ResourceKey) -> [ImageBox] {
        let old = boxes.removeValue(forKey: resource).map { Array($0.values) } ?? []
        for box in old { totalCost -= box.cost }
        count -= old.count
        return old
    }

    /// Removes and returns all boxes. O(number of images).
    mutating func removeAll() -> [ImageBox] {
        defer { (boxes, totalCost, count) = ([:], 0, 0) }
        return boxes.values.flatMap(\.values)
    }

    /// Counts images that left the cache. O(number of images).
    mutating func recordEvictions(_ boxes: [ImageBox], _ reason: EvictionReason) {
        statistics.recordEvictions(reason, count: boxes.count, cost: boxes.reduce(0) { $0 &+ $1.cost })
    }
}
