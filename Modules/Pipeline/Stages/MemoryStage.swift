import AlcedoCore
import AlcedoRuntime

/// The memory cache as used by loads.
struct MemoryStage: Sendable {
    /// The cache. It is not optional, because unwrapping an optional retains the cache at each lookup.
    private let cache: any MemoryCaching
    private let hasCache: Bool
    private let generations: GenerationCounter
    private let unusable: UnusableResponses
    private let sizes = StoredSizes()
    /// The digests of the bytes from which the images in memory were made.
    private let origins = SourceDigests()
    /// The images that were stored, for the reasons of misses; nil if no observer asks for reasons.
    private let history: MemoryHistory?

    init(
        _ cache: (any MemoryCaching)?, generations: GenerationCounter, unusable: UnusableResponses,
        history: MemoryHistory?
    ) {
        self.cache = cache ?? EmptyMemoryCache()
        hasCache = cache != nil
        self.generations = generations
        self.unusable = unusable
        self.history = history
    }

    /// Returns the finished image of a request from memory, or a larger one if the request accepts that. Returns nil
    /// when memory has neither, or the request's cache policy forbids reading it. An image with damaged pixels is
    /// returned until its source is to be loaded again.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - isRepeated: Whether the load has already looked in memory. If true, a larger image is not accepted, and a
    ///     second miss is not counted. Default: false.
    func image(_ request: ImageRequest, isRepeated: Bool = false) -> DecodedImage? {
        guard hasCache, request.cachePolicy.memory.reads else { return nil }
        if isRepeated, !request.withKey({ cache.contains($0) }) { return nil }
        // An intact image, the most frequent case, is returned without a copy.
        if let image = request.withKey({ cache.image(for: $0) }), image.isIntact || isCurrent(image, request) {
            return image
        }
        return request.acceptsLargerCachedImage ? largerImage(request) : nil
    }

    /// Returns the image unless its pixels are damaged and its source is to be loaded again.
    private func current(_ image: DecodedImage, _ request: ImageRequest) -> DecodedImage? {
        isCurrent(image, request) ? image : nil
    }

    private func isCurrent(_ image: borrowing DecodedImage, _ request: ImageRequest) -> Bool {
        guard !image.isIntact, request.cachePolicy.allowsNetwork, case .http = request.source else { return true }
        return unusable.isCurrent(damagedImageOf: request.originalKey)
    }

    /// Returns the damaged image of a request from memory, for a load whose source is unavailable.
    func damagedImage(_ request: ImageRequest) -> DecodedImage? {
        guard hasCache, request.cachePolicy.memory.reads else { return nil }
        return request.withKey { cache.image(for: $0) }
    }

    /// Returns a larger image from memory for a request with a target size.
    private func largerImage(_ request: ImageRequest) -> DecodedImage? {
        guard let (target, full) = Self.size(of: request) else { return nil }
        for key in sizes.keys(of: full, atLeast: target) {
            if let image = cache.image(for: key).flatMap({ current($0, request) }) { return image }
        }
        return cache.image(for: full).flatMap { current($0, request) }
    }

    /// Returns the digest of the bytes of the image last stored under a key, which may be unknown, or nil when none was
    /// stored.
    func digest(of key: ImageKey) -> UInt64?? { origins.last(key).map { $0?.digest } }

    /// Returns the reason why ``image(_:isRepeated:)`` returned nil.
    func missReason(_ request: ImageRequest) -> CacheMissReason {
        guard hasCache else { return .noCache }
        guard request.cachePolicy.memory.reads else { return .notAllowed }
        guard let history else { return .notStored }
        let key = request.key
        return history.loss(of: key, isStored: cache.contains(key)) ?? missReasonOfSize(request, key)
            ?? history.difference(of: key, fromStored: cache.contains) ?? .notStored
    }

    /// Returns the reason of a miss if memory has the image at other sizes.
    private func missReasonOfSize(_ request: ImageRequest, _ key: ImageKey) -> CacheMissReason? {
        guard let (target, full) = Self.size(of: request) else {
            return sizes.all(of: key).contains { cache.contains($0.key) } ? .tooSmall : nil
        }
        if full != key, cache.contains(full) { return .otherSize }
        let others = sizes.all(of: full).filter { $0.key != key && cache.contains($0.key) }
        guard !others.isEmpty else { return nil }
        return others.contains { $0.target.size.covers(target.size) } ? .otherSize : .tooSmall
    }

    /// Returns the image of a request after its first processors, if memory has it. `isRepeated` has the same meaning
    /// as in ``image(_:isRepeated:)``.
    func intermediate(_ request: ImageRequest, steps count: Int, isRepeated: Bool) -> LoadedImage? {
        guard hasCache, request.cachePolicy.memory.reads else { return nil }
        let key = request.afterProcessors(count).key
        if isRepeated, !cache.contains(key) { return nil }
        return cache.image(for: key).flatMap { current($0, request) }.map {
            LoadedImage(image: $0, layer: .memory, origin: origins[key])
        }
    }

    func contains(_ key: ImageKey) -> Bool { cache.contains(key) }

    /// Stores an image. Does nothing for a partial image, when the request's cache policy forbids it, or when the
    /// resource changed after the generation.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - request: The request that the image belongs to.
    ///   - origin: The origin of the image, or nil when it is not known.
    ///   - generation: The generation when the work began, or nil when the image must not be stored.
    func store(
        _ image: DecodedImage, for request: ImageRequest, origin: LoadedImage.Origin?, since generation: Generation?
    ) {
        guard hasCache, let generation, request.cachePolicy.memory.writes, !image.isPartial else { return }
        let key = request.key
        generations.ifUnchanged(key.resource, since: generation) {
            cache.store(image, for: request)
            history?.record(key, isIntact: image.isIntact, timeToLive: request.memoryTimeToLive)
            if !image.isIntact, case .http = request.source {
                // The image may be from the app or from disk, so that no response has been recorded.
                unusable.recordDamagedImage(of: request.originalKey)
            }
            origins.record(origin, for: key)
        }
        if let (target, full) = Self.size(of: request) { sizes.record(key, target, of: full) }
    }

    func remove(_ key: ImageKey) {
        cache.remove(key)
        history?.remove(key)
    }

    func removeAll() {
        cache.removeAll()
        history?.removeAll()
    }

    func removeResource(_ resource: ResourceKey) {
        cache.removeAll(of: resource)
        history?.removeResource(resource)
    }

    /// Returns the size that a request asks for, and the key of its image at full size. Nil for a request without a
    /// size.
    private static func size(of request: ImageRequest) -> (target: TargetSize, full: ImageKey)? {
        guard let target = request.decoding.target ?? request.viewTarget else { return nil }
        var full = request
        full.decoding.target = nil
        if request.viewTarget != nil { full.processors.removeFirst() }
        return (target, full.key)
    }
}

/// The memory cache of a pipeline without one.
private struct EmptyMemoryCache: MemoryCaching {
    func image(for key: ImageKey) -> DecodedImage? { nil }
    func contains(_ key: ImageKey) -> Bool { false }
    func store(_ image: DecodedImage, for key: ImageKey) {}
    func remove(_ key: ImageKey) -> Bool { false }
    func removeAll(of resource: ResourceKey) -> Int { 0 }
    func removeAll() {}
}

/// The sizes at which each image was stored in memory, used to find a larger image for a smaller request.
///
/// Holds the eight most recent sizes of at most 4,096 images. A size that is no longer held, or whose image the cache
/// has evicted, is a miss.
final class StoredSizes: Sendable {
    struct Size: Sendable {
        var target: TargetSize
        var key: ImageKey
    }

    private static let sizeLimit = 8

    private let table = Locked(RecentTable<ImageKey, [Size]>(limit: 4_096))

    func record(_ key: ImageKey, _ target: TargetSize, of full: ImageKey) {
        table.withLock { table in
            var sizes = table[full] ?? []
            sizes.removeAll { $0.key == key }
            sizes.append(Size(target: target, key: key))
            sizes.removeFirst(max(0, sizes.count - Self.sizeLimit))
            table.set(sizes, for: full)
        }
    }

    /// Returns all recorded sizes, some of which the cache may have evicted.
    func all(of full: ImageKey) -> [Size] { table.withLock { $0[full] } ?? [] }

    /// Returns the keys of the stored sizes that have the mode of the requested size and cover it, the smallest first.
    func keys(of full: ImageKey, atLeast target: TargetSize) -> [ImageKey] {
        all(of: full).filter { $0.target.mode == target.mode && $0.target.size.covers(target.size) }
            .sorted { $0.target.size.pixelCount < $1.target.size.pixelCount }
            .map(\.key)
    }
}

extension PixelSize {
    fileprivate func covers(_ other: PixelSize) -> Bool { width >= other.width && height >= other.height }
}
