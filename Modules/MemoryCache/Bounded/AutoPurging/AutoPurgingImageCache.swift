public import AlcedoCore

/// AFNetworking's `AFAutoPurgingImageCache` for Linux: images pile up until they pass the capacity, then the least recently
/// used go until a lower mark is reached.
///
/// The contract is that class's: an image counts `pixel width × pixel height × 4` bytes; a purge begins when the usage
/// exceeds the capacity, not when it equals it, and ends at or below the preferred usage; the image just added takes part in
/// it as the latest, so one that exceeds the preferred usage goes with the rest when it causes a purge, and one that exceeds
/// the capacity empties the cache. Reading an image makes it the latest, atomically (there it is a race). A purge costs
/// O(images that go); there it sorts all.
///
/// Two doors lead in. By identifier the contract above holds. By ``MemoryCaching`` that protocol's rules do: an image over
/// the capacity is not stored and evicts nothing. Neither finds what came in by the other.
///
/// Source: AFNetworking 4, `AFAutoPurgingImageCache.h` and `.m`.
public final class AutoPurgingImageCache: Sendable {
    /// Decides whether an image is cached: the image, its request and the additional identifier.
    public typealias Admission = @Sendable (DecodedImage, ImageRequest, String?) -> Bool

    /// Most bytes before a purge.
    public let memoryCapacity: Int
    /// Most bytes after a purge.
    public let preferredMemoryUsageAfterPurge: Int

    private let images: MemoryCache<AutoPurgingKey, DecodedImage>
    private let admission: Admission
    private let pressure = Locked<(any Sendable)?>(nil)

    /// - Parameters:
    ///   - memoryCapacity: In bytes. Nought or less caches nothing. Default: 100 MiB.
    ///   - preferredMemoryUsageAfterPurge: In bytes; more than the capacity counts as that. Default: 60 MiB.
    ///   - pressureSource: Empties the cache at a warning, as a memory warning does there. Default: nil.
    ///   - shouldCache: Asked before an image is added for a request. Default: yes to all.
    public init(
        memoryCapacity: Int = 100 << 20,
        preferredMemoryUsageAfterPurge: Int = 60 << 20,
        pressureSource: (any MemoryPressureSource)? = nil,
        shouldCache: @escaping Admission = { _, _, _ in true }
    ) {
        self.memoryCapacity = memoryCapacity
        self.preferredMemoryUsageAfterPurge = preferredMemoryUsageAfterPurge
        admission = shouldCache
        images = MemoryCache(
            costLimit: memoryCapacity, policy: .purging(toPreferredCost: preferredMemoryUsageAfterPurge))
        guard let pressureSource else { return }
        let token = pressureSource.observe { [weak self] level in
            if level >= .warning { self?.removeAll() }
        }
        pressure.withLock { $0 = token }
    }

    /// Bytes of all images in the cache.
    public var memoryUsage: Int { images.totalCost }

    /// Adds an image under an identifier, in place of one that is there.
    public func add(_ image: DecodedImage, withIdentifier identifier: String) {
        let cost = Self.byteCount(of: image)
        guard cost <= memoryCapacity else {
            // Everything is older than this image, and goes before it does.
            images.removeAll()
            return
        }
        images.store(image, for: .identifier(identifier), cost: cost)
    }

    /// Returns the image under an identifier, which then is the latest used.
    public func image(withIdentifier identifier: String) -> DecodedImage? { images.value(for: .identifier(identifier)) }

    /// Removes the image under an identifier. Returns whether there was one.
    @discardableResult
    public func removeImage(withIdentifier identifier: String) -> Bool {
        images.removeValue(for: .identifier(identifier)) != nil
    }

    /// Removes every image. Returns whether there was one.
    @discardableResult
    public func removeAllImages() -> Bool { images.removeEverything() > 0 }

    /// Whether ``add(_:for:withAdditionalIdentifier:)`` would cache the image.
    public func shouldCache(
        _ image: DecodedImage, for request: ImageRequest, withAdditionalIdentifier additionalIdentifier: String? = nil
    ) -> Bool {
        admission(image, request, additionalIdentifier)
    }

    /// Adds an image under a request's resource and an additional identifier, if ``shouldCache(_:for:withAdditionalIdentifier:)``.
    public func add(
        _ image: DecodedImage, for request: ImageRequest, withAdditionalIdentifier additionalIdentifier: String? = nil
    ) {
        guard shouldCache(image, for: request, withAdditionalIdentifier: additionalIdentifier) else { return }
        add(image, withIdentifier: Self.identifier(for: request, additionalIdentifier))
    }

    /// Returns the image that was added for the same resource with the same additional identifier.
    public func image(
        for request: ImageRequest, withAdditionalIdentifier additionalIdentifier: String? = nil
    ) -> DecodedImage? {
        image(withIdentifier: Self.identifier(for: request, additionalIdentifier))
    }

    /// Removes the image of a request. Returns whether there was one.
    @discardableResult
    public func removeImage(
        for request: ImageRequest, withAdditionalIdentifier additionalIdentifier: String? = nil
    ) -> Bool {
        removeImage(withIdentifier: Self.identifier(for: request, additionalIdentifier))
    }

    /// The URL, or the resource's name, and the additional identifier right behind it. There is nothing between them there
    /// either, so an identifier that begins like a longer URL ends is not told apart: use keys where that matters.
    private static func identifier(for request: ImageRequest, _ additionalIdentifier: String?) -> String {
        (request.resource ?? request.source.resource).description
            + (additionalIdentifier ?? request.additionalIdentifier ?? "")
    }

    /// Four bytes a pixel, whatever the format; what does not fit counts as `Int.max`.
    fileprivate static func byteCount(of image: DecodedImage) -> Int {
        let (pixels, overflows) = image.size.width.multipliedReportingOverflow(by: image.size.height)
        let (bytes, overflowsBytes) = pixels.multipliedReportingOverflow(by: 4)
        return overflows || overflowsBytes ? .max : bytes
    }
}

extension AutoPurgingImageCache: MemoryCaching {
    public func image(for key: ImageKey) -> DecodedImage? { images.value(for: .key(key)) }

    public func contains(_ key: ImageKey) -> Bool { images.contains(.key(key)) }

    public func store(_ image: DecodedImage, for key: ImageKey) {
        images.store(image, for: .key(key), cost: Self.byteCount(of: image))
    }

    @discardableResult
    public func remove(_ key: ImageKey) -> Bool { images.removeValue(for: .key(key)) != nil }

    @discardableResult
    public func removeAll(of resource: ResourceKey) -> Int { images.removeAll(of: .key(ImageKey(resource))) }

    public func removeAll() { images.removeAll() }

    public func trim(toCost cost: Int) { images.trim(toCost: cost) }

    /// Bytes of all images, as ``memoryUsage``.
    public var totalCost: Int { memoryUsage }
}
