public import AlcedoCore
import AlcedoRuntime
import Synchronization

/// Keeps decoded images in Foundation's `NSCache`, for those who know it or compare with it.
///
/// It is a module of its own because `NSCache` lives in Foundation, all of which a program then links; the memory cache of
/// `AlcedoMemoryCache` needs none of it, finds an image several times as fast, and keeps what is used.
///
/// What `NSCache` does on Linux, measured on Swift 6.3.1; the tests notice a change:
/// - It is not least recently used first: a look-up changes nothing. It keeps a list in order of cost and evicts the
///   cheapest first; among equals the newest, so in a full cache of equal images a new one goes as it comes.
/// - One entry over the cost limit would empty the cache and go itself, so such an image never reaches it.
/// - The limit 0 means "no limit" to `NSCache` and "store nothing" to ``MemoryCaching``; here it stores nothing.
/// - It looks at its limits only when something is stored, and then keeps them exactly.
/// - It evicts nothing when memory is short; with a ``MemoryPressureSource`` this class removes every image at a
///   warning, as SDWebImage's `AutoPurgeCache` and AFNetworking's `AFImageCache` do.
/// - It tells neither its keys nor its cost. This class keeps its own records of both. The delegate that hears of evictions
///   is called under `NSCache`'s lock, and not for what is removed or replaced; both are recorded. `onEviction` is
///   called outside every lock.
/// - It releases what goes under its lock. This class holds on to it until every lock is free, so an image, or the
///   ``ImageFrameSource`` in it, may call the cache as it goes.
///
/// Safe from any thread: changes come one at a time, look-ups wait for `NSCache`'s lock only. While ``removeAll(of:)`` runs,
/// another thread may find some of the variants.
///
/// - Complexity: O(1) for a look-up, an allocation of two objects included. A store walks the list past what is cheaper:
///   O(number of cheaper images). `NSCache` alone took 1 µs a store in falling order of cost; in rising order 6 µs on
///   average for 1,000 entries, 22 µs for 4,000.
/// - SeeAlso: `NSCache.swift` in swift-corelibs-foundation.
public final class NSCacheBackend: MaintainableMemoryCache {
    private typealias EvictionHandler = @Sendable (ImageKey, DecodedImage) -> Void

    /// Most bytes of all images together.
    package let costLimit: Int
    /// Most images.
    package let countLimit: Int

    private let store: EvictingStore
    private let records = Locked(ImageRecords())
    /// Lookups that found an image, and that found none. Atomic, so that lookups take no lock but that of `NSCache`.
    private let hits = Atomic<Int>(0)
    private let hitCost = Atomic<Int>(0)
    private let misses = Atomic<Int>(0)
    private let onEviction: EvictionHandler?
    private let pressure = Locked<(any Sendable)?>(nil)

    /// - Parameters:
    ///   - costLimit: Most bytes of all images together. Nought or less stores nothing. More than half of `Int.max` counts
    ///     as that half, because `NSCache` adds before it compares.
    ///   - countLimit: Most images. Nought or less stores nothing. Default: no limit of its own.
    ///   - pressureSource: Removes every image at a memory warning and at critical pressure. Default: nil.
    ///   - onEviction: Called for each image that a limit, ``trim(toCost:)`` or memory pressure evicts, as
    ///     `NSCacheDelegate`'s `cache(_:willEvictObject:)` is, but after it has left, and on the thread whose call
    ///     evicted it, before that call returns. Not called for images that are removed or replaced. It may call the
    ///     cache; a handler that stores an image that evicts another is called within itself. Default: nil.
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

    /// The sum of the costs of all images stored, in bytes. What an image costs is ``DecodedImage/cost``.
    public var totalCost: Int { records.withLock { $0.totalCost } }

    /// Number of images stored.
    package var count: Int { records.withLock { $0.count } }

    /// What the cache has done since it was created. `NSCache` knows no expiration and no weak references.
    public var statistics: MemoryCacheStatistics {
        var statistics = records.withLock { $0.statistics }
        statistics.recordLookups(
            hits: hits.load(ordering: .relaxed), cost: hitCost.load(ordering: .relaxed),
            misses: misses.load(ordering: .relaxed), weakHits: 0)
        return statistics
    }

    /// Returns the image stored under `key`. To `NSCache` that is no use of it.
    public func image(for key: ImageKey) -> DecodedImage? {
        guard let box = store.box(for: key) else {
            misses.wrappingAdd(1, ordering: .relaxed)
            return nil
        }
        hits.wrappingAdd(1, ordering: .relaxed)
        hitCost.wrappingAdd(box.cost, ordering: .relaxed)
        return box.image
    }

    public func contains(_ key: ImageKey) -> Bool { store.box(for: key) != nil }

    /// Stores `image` under `key`, replacing any image already there.
    ///
    /// `NSCache` may evict it at once, if it is the cheapest. An image whose cost exceeds the whole limit is not stored and
    /// evicts nothing else; what stood under `key` goes.
    ///
    /// - Complexity: O(number of cheaper images).
    public func store(_ image: DecodedImage, for key: ImageKey) {
        let box = ImageBox(image, for: key)
        guard costLimit > 0, countLimit > 0, box.cost <= costLimit else {
            change { records in
                records.statistics.recordRejection(cost: box.cost)
                guard let replaced = records.remove(key) else { return Removals() }
                store.remove(replaced)
                return Removals(removed: [replaced], reason: .replaced)
            }
            return
        }
        change { records in
            let replaced = records.insert(box)
            records.statistics.recordStore(cost: box.cost)
            // Evictions by a store that exceeds both limits count for the cost limit.
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

    /// Removes the original and every variant of a resource. Returns how many images that were. O(their number).
    @discardableResult
    public func removeAll(of resource: ResourceKey) -> Int {
        change { records in
            let boxes = records.removeAll(of: resource)
            for box in boxes { store.remove(box) }
            return Removals(removed: boxes)
        }
    }

    /// Removes every image. O(number of images).
    public func removeAll() {
        change { records in
            store.removeAll()
            return Removals(removed: records.removeAll())
        }
    }

    /// Removes the images that `NSCache` would evict first, until the rest cost at most `cost` bytes. O(how many go).
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

    /// The images that a change took out, and why.
    private struct Removals: Sendable {
        var evicted: [ImageBox] = []
        var evictionReason = EvictionReason.trimmed
        var removed: [ImageBox] = []
        var reason = EvictionReason.removed
    }

    /// Changes store and records alone, reports and releases what `body` returns once the lock is free, and returns how
    /// many images were removed.
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

/// What NSCache holds, which it does not tell: the keys, the costs and their sum.
///
/// It holds the boxes as well, so that what NSCache releases under its own lock is never the last reference.
///
/// - Complexity: O(1) for every operation unless it says otherwise, and a hash over the resource's name.
private struct ImageRecords: Sendable {
    /// Sum of the costs, in bytes.
    private(set) var totalCost = 0
    /// Number of images.
    private(set) var count = 0
    /// Stores, rejections and evictions; lookups are counted beside it.
    var statistics = MemoryCacheStatistics()
    private var boxes: [ResourceKey: [ImageKey: ImageBox]] = [:]

    /// One of the boxes; nil when there is none.
    var anyBox: ImageBox? { boxes.values.first?.values.first }

    /// Enters `box`, and returns the one that it replaces.
    mutating func insert(_ box: ImageBox) -> ImageBox? {
        let key = box.key.key
        let old = boxes[key.resource, default: [:]].updateValue(box, forKey: key)
        totalCost += box.cost - (old?.cost ?? 0)
        count += old == nil ? 1 : 0
        return old
    }

    /// Strikes out what `boxes` hold.
    mutating func remove(_ boxes: [ImageBox]) {
        for box in boxes { _ = remove(box.key.key) }
    }

    /// Strikes out the box under `key` and returns it.
    mutating func remove(_ key: ImageKey) -> ImageBox? {
        guard let old = boxes[key.resource]?.removeValue(forKey: key) else { return nil }
        if boxes[key.resource]?.isEmpty == true { boxes[key.resource] = nil }
        totalCost -= old.cost
        count -= 1
        return old
    }

    /// Strikes out the original and every variant of `resource` and returns them. O(their number).
    mutating func removeAll(of resource: ResourceKey) -> [ImageBox] {
        let old = boxes.removeValue(forKey: resource).map { Array($0.values) } ?? []
        for box in old { totalCost -= box.cost }
        count -= old.count
        return old
    }

    /// Strikes out all and returns them. O(number of images).
    mutating func removeAll() -> [ImageBox] {
        defer { (boxes, totalCost, count) = ([:], 0, 0) }
        return boxes.values.flatMap(\.values)
    }

    /// Counts images that left the cache.
    mutating func recordEvictions(_ boxes: [ImageBox], _ reason: EvictionReason) {
        statistics.recordEvictions(reason, count: boxes.count, cost: boxes.reduce(0) { $0 &+ $1.cost })
    }
}
