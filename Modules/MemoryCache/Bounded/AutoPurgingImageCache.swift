public import AlcedoCore
import AlcedoRuntime

/// AFNetworking's `AFAutoPurgingImageCache` for Linux: when the images exceed the capacity, the least recently used
/// ones are removed until the rest fit into a lower limit.
///
/// The contract is that class's: an image counts `pixel width × pixel height × 4` bytes; a purge begins when the usage
/// exceeds the capacity, not when it equals it, and ends at or below the preferred usage; the image just added takes part in
/// it as the latest, so one that exceeds the preferred usage goes with the rest when it causes a purge, and one that exceeds
/// the capacity empties the cache. Reading an image makes it the latest, atomically (there it is a race). A purge costs
/// O(images that go); there it sorts all. A memory warning empties the cache.
///
/// ```swift
/// import Alcedo
/// import AlcedoMemoryCache
/// import AlcedoPipeline
///
/// let images = AutoPurgingImageCache { image, _, _ in image.size.width < 4096 }
/// var configuration = ImagePipeline.Configuration.standard()
/// configuration.memoryCache = images
/// let pipeline = ImagePipeline(configuration)
/// ```
///
/// **Within a pipeline.** The cache is a ``MemoryCaching``, and each image has one name, whichever way it is stored
/// or requested. That name is AFNetworking's: the URL followed by the additional identifier. The additional
/// identifier of a request is that of its processors, as AlamofireImage uses those of its filters, joined by "_" when
/// there are several, followed by ``ImageRequest/additionalIdentifier``. A request with other differences, such as a
/// target size, is found by an equal request only. So ``image(for:withAdditionalIdentifier:)`` finds what the
/// pipeline stored for the request, or for its URL with a processor of that identifier, and the pipeline finds what
/// ``add(_:for:withAdditionalIdentifier:)`` and ``add(_:withIdentifier:)`` added. Where two keys have the same name,
/// the image that is stored last replaces the other; a key never finds the image of another key.
///
/// The pipeline's images are subject to `shouldCache`, and to the rules of
/// ``MemoryCaching``: an image that exceeds the capacity, or should not be cached, is not stored, evicts nothing
/// else, and removes what is stored under its key.
///
/// Source: AFNetworking 4, `AFAutoPurgingImageCache.h` and `.m`; AlamofireImage 4, `ImageCache.swift`.
public final class AutoPurgingImageCache: Sendable {
    /// Decides whether an image is cached: the image, its request and the additional identifier.
    package typealias Admission = @Sendable (DecodedImage, ImageRequest, String?) -> Bool

    private struct Entry: Sendable {
        let key: AutoPurgingKey
        let image: DecodedImage
    }

    private struct Capacity: Sendable {
        var bytes: Int
        var preferredBytes: Int

        /// Half of the largest number at most, so that sums cannot overflow.
        var effectiveBytes: Int { min(bytes, .max / 2) }

        func admits(_ cost: Int) -> Bool { bytes > 0 && cost <= effectiveBytes }
    }

    private let images = MemoryCache<ResourceKey, Entry>(costLimit: .max, policy: .lru)
    private let capacity: Locked<Capacity>
    private let admission: Admission
    private let pressure = Locked<(any Sendable)?>(nil)

    /// - Parameters:
    ///   - memoryCapacity: In bytes. Zero or less caches nothing. Default: 100 MiB.
    ///   - preferredMemoryUsageAfterPurge: In bytes; more than the capacity counts as that. Default: 60 MiB.
    ///   - pressureSource: Empties the cache at a warning, as a memory warning does there; nil for no such source.
    ///     Default: ``SystemMemoryPressureSource/shared``, which costs one thread for all caches of the process.
    ///   - shouldCache: Called before an image is stored for a request, by a pipeline under a lock: it must be quick
    ///     and must not call the pipeline. Default: accepts every image.
    public init(
        memoryCapacity: Int = 100 << 20,
        preferredMemoryUsageAfterPurge: Int = 60 << 20,
        pressureSource: (any MemoryPressureSource)? = SystemMemoryPressureSource.shared,
        shouldCache: @escaping @Sendable (DecodedImage, ImageRequest, String?) -> Bool = { _, _, _ in true }
    ) {
        capacity = Locked(Capacity(bytes: memoryCapacity, preferredBytes: preferredMemoryUsageAfterPurge))
        admission = shouldCache
        guard let pressureSource else { return }
        let token = pressureSource.observe { [weak self] level in
            if level >= .warning { self?.removeAll() }
        }
        pressure.withLock { $0 = token }
    }

    /// The maximum number of bytes before a purge. A new value takes effect when an image is next stored.
    public var memoryCapacity: Int {
        get { capacity.withLock { $0.bytes } }
        set { capacity.withLock { $0.bytes = newValue } }
    }

    /// The maximum number of bytes after a purge. A new value takes effect at the next purge. More than the capacity
    /// counts as the capacity.
    public var preferredMemoryUsageAfterPurge: Int {
        get { capacity.withLock { $0.preferredBytes } }
        set { capacity.withLock { $0.preferredBytes = newValue } }
    }

    /// What the cache has done so far.
    public var statistics: MemoryCacheStatistics { images.statistics }

    /// Adds an image under an identifier, in place of one that is there.
    public func add(_ image: DecodedImage, withIdentifier identifier: String) {
        add(image, for: AutoPurgingKey(identifier: identifier))
    }

    /// Returns the image under an identifier, which then is the latest used.
    public func image(withIdentifier identifier: String) -> DecodedImage? {
        image(for: AutoPurgingKey(identifier: identifier))
    }

    /// Removes the image under an identifier. Returns whether there was one.
    @discardableResult
    public func removeImage(withIdentifier identifier: String) -> Bool {
        remove(AutoPurgingKey(identifier: identifier))
    }

    /// Whether ``add(_:for:withAdditionalIdentifier:)``, or the pipeline, would cache the image.
    package func shouldCache(
        _ image: DecodedImage, for request: ImageRequest, withAdditionalIdentifier additionalIdentifier: String? = nil
    ) -> Bool {
        admission(image, request, additionalIdentifier)
    }

    /// Adds an image for a request and an additional identifier, if `shouldCache` accepts it.
    ///
    /// - Parameters:
    ///   - image: The image, as it is to be found again.
    ///   - request: The request whose source and identifier name the image.
    ///   - additionalIdentifier: nil for the request's own. Any other replaces it, and that of its processors.
    public func add(
        _ image: DecodedImage, for request: ImageRequest, withAdditionalIdentifier additionalIdentifier: String? = nil
    ) {
        guard shouldCache(image, for: request, withAdditionalIdentifier: additionalIdentifier) else { return }
        add(image, for: AutoPurgingKey(request, additionalIdentifier))
    }

    /// Returns the image that was added, or stored by a pipeline, for the same resource with the same additional
    /// identifier.
    public func image(
        for request: ImageRequest, withAdditionalIdentifier additionalIdentifier: String? = nil
    ) -> DecodedImage? {
        image(for: AutoPurgingKey(request, additionalIdentifier))
    }

    /// Removes the image of a request. Returns whether there was one.
    @discardableResult
    public func removeImage(
        for request: ImageRequest, withAdditionalIdentifier additionalIdentifier: String? = nil
    ) -> Bool {
        remove(AutoPurgingKey(request, additionalIdentifier))
    }

    private func add(_ image: DecodedImage, for key: AutoPurgingKey) {
        let capacity = capacity.withLock { $0 }
        guard capacity.admits(Self.byteCount(of: image)) else {
            // Everything is older than this image, and goes before it does.
            images.removeAll()
            return
        }
        store(image, for: key, capacity)
    }

    private func store(_ image: DecodedImage, for key: AutoPurgingKey, _ capacity: Capacity) {
        images.store(
            Entry(key: key, image: image), for: key.identifier, cost: Self.byteCount(of: image),
            trimmingAbove: capacity.effectiveBytes, toCost: min(capacity.preferredBytes, capacity.effectiveBytes))
    }

    private func image(for key: AutoPurgingKey) -> DecodedImage? {
        images.value(for: key.identifier).flatMap { key.finds($0.key) ? $0.image : nil }
    }

    private func contains(_ key: AutoPurgingKey) -> Bool {
        images.unusedValue(for: key.identifier).map { key.finds($0.key) } ?? false
    }

    private func remove(_ key: AutoPurgingKey) -> Bool {
        images.removeValue(for: key.identifier) { key.finds($0.key) }
    }

    /// Four bytes a pixel, whatever the format; what does not fit counts as `Int.max`.
    private static func byteCount(of image: DecodedImage) -> Int {
        let (pixels, overflows) = image.size.width.multipliedReportingOverflow(by: image.size.height)
        let (bytes, overflowsBytes) = pixels.multipliedReportingOverflow(by: 4)
        return overflows || overflowsBytes ? .max : bytes
    }
}

extension AutoPurgingImageCache: MaintainableMemoryCache {
    public func image(for key: ImageKey) -> DecodedImage? { image(for: AutoPurgingKey(key)) }

    public func contains(_ key: ImageKey) -> Bool { contains(AutoPurgingKey(key)) }

    public func store(_ image: DecodedImage, for key: ImageKey) {
        let capacity = capacity.withLock { $0 }
        guard capacity.admits(Self.byteCount(of: image)) else {
            remove(key)
            return
        }
        store(image, for: AutoPurgingKey(key), capacity)
    }

    /// Stores what a pipeline has loaded, if `shouldCache` accepts it with the request and the identifier of its
    /// processors; else removes what is stored for the request.
    public func store(_ image: DecodedImage, for request: ImageRequest) {
        let key = request.key
        if shouldCache(image, for: request, withAdditionalIdentifier: key.additionalIdentifier) {
            store(image, for: key)
        } else {
            remove(key)
        }
    }

    @discardableResult
    public func remove(_ key: ImageKey) -> Bool { remove(AutoPurgingKey(key)) }

    /// Removes the original and every variant of a resource, and the image under its name as an identifier. Returns
    /// how many images that were. O(number of all images).
    @discardableResult
    public func removeAll(of resource: ResourceKey) -> Int {
        images.entries.count { entry in
            entry.value.key.isOf(resource) && images.removeValue(for: entry.key) { $0.key.isOf(resource) }
        }
    }

    public func removeAll() { images.removeAll() }

    public func trim(toCost cost: Int) { images.trim(toCost: cost) }

    /// The number of bytes of all images in the cache.
    public var totalCost: Int { images.totalCost }
}

extension MemoryCache {
    /// Stores `value` and, when all entries then cost more than `capacity`, evicts until they cost at most
    /// `preferredCost`. Both happen under one lock.
    fileprivate func store(
        _ value: Value, for key: Key, cost: Int, trimmingAbove capacity: Int, toCost preferredCost: Int
    ) {
        var releases = PendingReleases<Key, Value>()
        lock.withLock { state, _ in
            _ = state.store(
                value, for: key, hash: key.hashValue, groupHash: 0, cost: cost, limits: limits,
                expiration: EntryExpiration(),
                priority: .normal, now: nil, into: &releases)
            if state.table.totalCost > capacity {
                state.trim(toCost: max(0, preferredCost), count: .max, into: &releases)
            }
        }
        report(releases)
    }

    /// Removes the value stored under `key` if `isRemoved` accepts it. Both happen under one lock, so that a value that
    /// replaces it meanwhile stays. Returns whether it was removed.
    fileprivate func removeValue(for key: Key, where isRemoved: (Value) -> Bool) -> Bool {
        let hash = key.hashValue
        var releases = PendingReleases<Key, Value>()
        lock.withLock { state, _ in
            guard let slot = state.table.slot(of: key, hash: hash), let value = state.table.entries[slot].value,
                isRemoved(value)
            else { return }
            state.remove(slot, .removed, into: &releases)
        }
        report(releases)
        return !releases.isEmpty
    }

    /// Returns the value stored under `key`. Not a use, and not counted.
    fileprivate func unusedValue(for key: Key) -> Value? {
        let hash = key.hashValue
        return lock.withSharedLock { state, _ in
            let reader = EntryLookup(state)
            return reader.slot(of: key, hash: hash).flatMap { reader.entries[$0].value }
        }
    }
}

/// The name of an image in an ``AutoPurgingImageCache``: AFNetworking's identifier, and what is known beyond it.
///
/// An identifier is a URL and an additional identifier with nothing between them, so two different keys may share one.
/// What is known beyond the identifier keeps them from being taken for one another.
private struct AutoPurgingKey: Sendable {
    /// Compared by its bytes.
    let identifier: ResourceKey
    /// nil when only the identifier is known.
    private let resource: ResourceKey?
    /// nil when the additional identifier was the caller's.
    private let key: ImageKey?

    init(identifier: String) {
        self.identifier = ResourceKey(identifier)
        resource = nil
        key = nil
    }

    init(_ key: ImageKey) {
        identifier = key.additionalIdentifier.map { ResourceKey(key.resource.description + $0) } ?? key.resource
        resource = key.resource
        self.key = key
    }

    /// - Parameter additionalIdentifier: nil for that of the request's own key.
    init(_ request: ImageRequest, _ additionalIdentifier: String?) {
        guard let additionalIdentifier else {
            self.init(request.key)
            return
        }
        self.init(request.resource ?? request.source.resource, additionalIdentifier)
    }

    private init(_ resource: ResourceKey, _ additionalIdentifier: String) {
        identifier = ResourceKey(resource.description + additionalIdentifier)
        self.resource = resource
        key = nil
    }

    /// Whether an image that was stored under `other` is found under this key: no part that both know differs.
    func finds(_ other: AutoPurgingKey) -> Bool {
        if let key, let otherKey = other.key { return key == otherKey }
        guard let resource, let otherResource = other.resource else { return identifier == other.identifier }
        return identifier == other.identifier && resource == otherResource
    }

    func isOf(_ resource: ResourceKey) -> Bool { (self.resource ?? identifier) == resource }
}
