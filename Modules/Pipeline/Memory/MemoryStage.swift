import AlcedoCore

/// The memory cache as loads use it.
struct MemoryStage: Sendable {
    private let cache: (any MemoryCaching)?
    private let changes: GenerationCounter
    private let sizes = SizeTable()
    /// What images in memory were made of.
    private let origins = SourceDigests()

    init(_ cache: (any MemoryCaching)?, changes: GenerationCounter) {
        self.cache = cache
        self.changes = changes
    }

    /// The finished image of a request, or a larger one where that will do.
    func image(_ request: ImageRequest) -> DecodedImage? {
        guard request.cachePolicy.memory.reads, let cache else { return nil }
        if let image = cache.image(for: request.key) { return image }
        guard request.acceptsLargerCachedImage, let target = request.decoding.target else { return nil }
        let full = Self.fullSize(request)
        for key in sizes.keys(of: full.key, atLeast: target) {
            if let image = cache.image(for: key) { return image }
        }
        return cache.image(for: full.key)
    }

    /// What the image that was last stored under a key was made of; nil when that is not known.
    func digest(of key: ImageKey) -> UInt64? { origins[key]?.digest }

    /// Why ``image(_:)`` gave nothing.
    func missReason(_ request: ImageRequest) -> CacheMissReason {
        guard cache != nil else { return .noCache }
        return request.cachePolicy.memory.reads ? .notStored : .notAllowed
    }

    /// The image of a request after the first few of its processors.
    func intermediate(_ request: ImageRequest, steps count: Int) -> LoadedImage? {
        guard request.cachePolicy.memory.reads, let cache else { return nil }
        var earlier = request
        earlier.processors.removeLast(request.processors.count - count)
        earlier.scale = 1
        let key = earlier.key
        return cache.image(for: key).map { LoadedImage(image: $0, layer: .memory, origin: origins[key]) }
    }

    func contains(_ key: ImageKey) -> Bool { cache?.contains(key) == true }

    /// Stores a whole image if it may be, unless the resource has been removed since the mark.
    ///
    /// - Parameter origin: The bytes that it was made of.
    func store(_ image: DecodedImage, for request: ImageRequest, origin: LoadedImage.Origin?, since mark: Generation?) {
        guard let cache, let mark, request.cachePolicy.memory.writes, !image.isPartial else { return }
        let key = request.key
        changes.ifUnchanged(key.resource, since: mark) {
            cache.store(image, for: request)
            origins.note(origin, for: key)
        }
        if let target = request.decoding.target { sizes.note(key, target, of: Self.fullSize(request).key) }
    }

    func remove(_ key: ImageKey) { cache?.remove(key) }

    func removeAll() { cache?.removeAll() }

    func removeResource(_ resource: ResourceKey) { cache?.removeAll(of: resource) }

    private static func fullSize(_ request: ImageRequest) -> ImageRequest {
        var full = request
        full.decoding.target = nil
        return full
    }
}
