public import AlcedoCore
import AlcedoRuntime

/// An image cache with the behavior and the names of AFNetworking's `AFAutoPurgingImageCache`.
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
/// When the images exceed the capacity, the cache removes the least recently used images, the added one last, until the
/// rest fit into the preferred usage. An image costs `pixel width × pixel height × 4` bytes. Adding an image that
/// exceeds the capacity empties the cache, and so does a memory warning. A purge costs O(number of removed images).
///
/// In a pipeline, ``image(for:withAdditionalIdentifier:)`` finds the images that the pipeline stored, and the pipeline
/// finds those that were added. Both name an image by its URL followed by the additional identifier: the identifiers of
/// the request's processors, joined by "_", and ``/AlcedoCore/ImageRequest/additionalIdentifier``. If two keys have the
/// same name, storing one image replaces the other, but a key never finds the image of another key. An image of a
/// pipeline that exceeds the capacity, or that `shouldCache` rejects, is not stored and evicts no other image.
///
/// Source: AFNetworking 4, `AFAutoPurgingImageCache.h` and `.m`; AlamofireImage 4, `ImageCache.swift`.
public final class AutoPurgingImageCache: Sendable {
    /// A function that receives an image, its request and the additional identifier, and returns whether to store the
    /// image.
    package typealias Admission = @Sendable (DecodedImage, ImageRequest, String?) -> Bool

    private struct Entry: Sendable {
        let key: AutoPurgingKey
        let image: DecodedImage
    }

    private struct Capacity: Sendable {
        var bytes: Int
        var preferredBytes: Int

        /// The capacity, limited to half of `Int.max` so that sums cannot overflow.
        var effectiveBytes: Int { min(bytes, .max / 2) }

        func admits(_ cost: Int) -> Bool { bytes > 0 && cost <= effectiveBytes }
    }

    private let images = MemoryCache<ResourceKey, Entry>(costLimit: .max, policy: .lru)
    private let capacity: Locked<Capacity>
    private let admission: Admission
    private let pressure = Locked<(any Sendable)?>(nil)

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - memoryCapacity: The capacity in bytes. With zero or less, the cache stores nothing. Default: 100 MiB.
    ///   - preferredMemoryUsageAfterPurge: The maximum usage after a purge, in bytes. Values above the capacity count
    ///     as the capacity. Default: 60 MiB.
    ///   - pressureSource: Reports memory pressure. The cache removes all images at warning and above. With nil, it
    ///     does not respond to memory pressure. Default: ``SystemMemoryPressureSource/shared``, whose readings all
    ///     caches of the process share.
    ///   - shouldCache: Decides whether an image is stored for a request. A pipeline calls it under a lock, so it must
    ///     be fast and must not call the pipeline. Default: accepts every image.
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

    /// The capacity in bytes. A purge begins when the usage exceeds it. A new value takes effect when the next image is
    /// stored.
    public var memoryCapacity: Int {
        get { capacity.withLock { $0.bytes } }
        set { capacity.withLock { $0.bytes = newValue } }
    }

    /// The maximum usage after a purge, in bytes. A new value takes effect at the next purge. Values above the capacity
    /// count as the capacity.
    public var preferredMemoryUsageAfterPurge: Int {
        get { capacity.withLock { $0.preferredBytes } }
        set { capacity.withLock { $0.preferredBytes = newValue } }
    }

    /// The counts of lookups, stores and evictions since the cache was created.
    public var statistics: CacheStatistics { images.statistics }

    /// Adds an image under an identifier and replaces an existing image. Does not call `shouldCache`.
    ///
    /// If the usage then exceeds the capacity, a purge begins, which may remove this image as well. Adding an image
    /// that alone exceeds the capacity empties the cache.
    public func add(_ image: DecodedImage, withIdentifier identifier: String) {
        add(image, for: AutoPurgingKey(identifier: identifier))
    }

    /// Returns the image under an identifier and makes it the most recently used; nil if there is none.
    public func image(withIdentifier identifier: String) -> DecodedImage? {
        image(for: AutoPurgingKey(identifier: identifier))
    }

    /// Removes the image under an identifier. Returns whether there was one.
    @discardableResult
    public func removeImage(withIdentifier identifier: String) -> Bool {
        remove(AutoPurgingKey(identifier: identifier))
    }

    /// Returns whether the cache's `shouldCache` closure accepts the image. The capacity is not considered.
    package func shouldCache(
        _ image: DecodedImage, for request: ImageRequest, withAdditionalIdentifier additionalIdentifier: String? = nil
    ) -> Bool {
        admission(image, request, additionalIdentifier)
    }

    /// Adds an image for a request and an additional identifier if `shouldCache` accepts it. Otherwise, the call has no
    /// effect.
    ///
    /// If the usage then exceeds the capacity, a purge begins, which may remove this image as well. Adding an image
    /// that alone exceeds the capacity empties the cache.
    ///
    /// - Parameters:
    ///   - image: The image to add.
    ///   - request: The request whose source and identifier name the image.
    ///   - additionalIdentifier: An identifier that replaces the request's own identifier and the identifiers of its
    ///     processors. With nil, the identifiers of the request and of its processors are used.
    public func add(
        _ image: DecodedImage, for request: ImageRequest, withAdditionalIdentifier additionalIdentifier: String? = nil
    ) {
        guard shouldCache(image, for: request, withAdditionalIdentifier: additionalIdentifier) else { return }
        add(image, for: AutoPurgingKey(request, additionalIdentifier))
    }

    /// Returns the image that was added, or that a pipeline stored, for the same resource with the same additional
    /// identifier; nil if there is none. Makes the image the most recently used.
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
            // All stored images are older, so a purge would remove them first, and then this image.
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

    /// Returns the cost of an image: four bytes per pixel in every pixel format. Returns `Int.max` on overflow.
    private static func byteCount(of image: DecodedImage) -> Int {
        let (pixels, overflows) = image.size.width.multipliedReportingOverflow(by: image.size.height)
        let (bytes, overflowsBytes) = pixels.multipliedReportingOverflow(by: 4)
        return overflows || overflowsBytes ? .max : bytes
    }
}

extension AutoPurgingImageCache: MaintainableMemoryCache {
    /// Returns the image stored under `key`, and records a use of it; nil if there is none.
    public func image(for key: ImageKey) -> DecodedImage? { image(for: AutoPurgingKey(key)) }

    /// Whether an image is stored under `key`. Does not record a use.
    public func contains(_ key: ImageKey) -> Bool { contains(AutoPurgingKey(key)) }

    /// Stores an image under `key`. If the usage then exceeds the capacity, a purge begins. An image that itself
    /// exceeds the capacity is not stored, and the previous image under `key` is removed.
    public func store(_ image: DecodedImage, for key: ImageKey) {
        let capacity = capacity.withLock { $0 }
        guard capacity.admits(Self.byteCount(of: image)) else {
            remove(key)
            return
        }
        store(image, for: AutoPurgingKey(key), capacity)
    }

    /// Stores an image that a pipeline has loaded, if `shouldCache` accepts it with the request and the additional
    /// identifier of the request's key. Otherwise, removes the image stored for the request.
    public func store(_ image: DecodedImage, for request: ImageRequest) {
        let key = request.key
        if shouldCache(image, for: request, withAdditionalIdentifier: key.additionalIdentifier) {
            store(image, for: key)
        } else {
            remove(key)
        }
    }

    /// Removes the image stored under `key`. Returns whether there was an image.
    @discardableResult
    public func remove(_ key: ImageKey) -> Bool { remove(AutoPurgingKey(key)) }

    /// Removes the original and every variant of a resource, and the image that was added under an identifier that
    /// equals the resource's name. Returns the number of removed images.
    ///
    /// - Complexity: O(number of all images).
    @discardableResult
    public func removeAll(of resource: ResourceKey) -> Int {
        images.entries.count { entry in
            entry.value.key.isOf(resource) && images.removeValue(for: entry.key) { $0.key.isOf(resource) }
        }
    }

    /// Removes all images. Returns whether there were any.
    @discardableResult
    public func removeAll() -> Bool { images.removeEverything() > 0 }

    /// Removes all images, as ``/AlcedoCore/MemoryCaching`` requires it.
    @_disfavoredOverload
    public func removeAll() { images.removeEverything() }

    /// Removes the least recently used images until the rest have at most `cost` bytes.
    public func trim(toCost cost: Int) { images.trim(toCost: cost) }

    /// The number of bytes of all images in the cache.
    public var totalCost: Int { images.totalCost }
}

extension MemoryCache {
    /// Stores `value`. If the total cost then exceeds `capacity`, evicts entries until the total cost is at most
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

    /// Removes the value stored under `key` if `isRemoved` accepts it. Returns whether the value was removed. The check
    /// and the removal happen under one lock, so the call cannot remove a value that another thread has stored in
    /// between.
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

    /// Returns the value stored under `key`; nil if there is none. The call is not a use and is not counted.
    fileprivate func unusedValue(for key: Key) -> Value? {
        let hash = key.hashValue
        return lock.withSharedLock { state, _ in
            let reader = EntryLookup(state)
            return reader.slot(of: key, hash: hash).flatMap { reader.entries[$0].value }
        }
    }
}

/// The name of an image in an ``AutoPurgingImageCache``: AFNetworking's identifier and, if known, the full key.
///
/// An identifier is a URL directly followed by an additional identifier, so two different keys may have the same
/// identifier. The resource and the full key then distinguish their images.
private struct AutoPurgingKey: Sendable {
    /// AFNetworking's identifier, compared by its bytes.
    let identifier: ResourceKey
    /// The resource; nil if only the identifier is known.
    private let resource: ResourceKey?
    /// The full key; nil if the caller gave the identifier or the additional identifier.
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

    /// Creates the name for a request. If `additionalIdentifier` is given, it replaces the additional identifier of the
    /// request's key.
    init(_ request: ImageRequest, _ additionalIdentifier: String?) {
        guard let additionalIdentifier else {
            self.init(request.key)
            return
        }
        self.init(request.identifiedResource, additionalIdentifier)
    }

    private init(_ resource: ResourceKey, _ additionalIdentifier: String) {
        identifier = ResourceKey(resource.description + additionalIdentifier)
        self.resource = resource
        key = nil
    }

    /// Returns whether an image stored under `other` is found under this key: the parts that both keys know must be
    /// equal.
    func finds(_ other: AutoPurgingKey) -> Bool {
        if let key, let otherKey = other.key { return key == otherKey }
        guard let resource, let otherResource = other.resource else { return identifier == other.identifier }
        return identifier == other.identifier && resource == otherResource
    }

    func isOf(_ resource: ResourceKey) -> Bool { (self.resource ?? identifier) == resource }
}
