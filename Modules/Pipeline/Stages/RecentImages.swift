import AlcedoCore
import AlcedoRuntime

/// The most recent intermediate images, decoded or partly processed, for later requests with other processors.
///
/// Holds the newest images up to a number of bytes, together with original bytes that were not written to disk. Older
/// images are referenced weakly, and are found as long as another object, such as a running processor, holds them.
final class RecentImages: Sendable {
    private struct Entry: Sendable {
        let key: StepKey
        /// The generation when the work on the image began.
        let generation: Generation
        let origin: LoadedImage.Origin?
        let cost: Int
        var held: DecodedImage?
        /// The original bytes if they may still be written to disk, or nil. They are released with the image.
        var original: Original?
        let find: @Sendable () -> DecodedImage?
    }

    /// The maximum number of entries. A linear search of so few is fast compared with decoding.
    private static let maximumEntryCount = 64

    private let limit: Int
    private let generations: GenerationCounter
    /// The entries, the oldest first.
    private let entries = Locked([Entry]())

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of held bytes. A value below one stores nothing.
    ///   - generations: The generations of resources.
    init(limit: Int, generations: GenerationCounter) {
        self.limit = limit
        self.generations = generations
    }

    /// Returns the current generation for ``remember(_:for:_:since:)``. Returns nil when the request's images must not
    /// be stored, or while a change of the resource is in progress. Entries have no time to live, so the images of a
    /// request with one are not stored.
    func generation(_ request: ImageRequest) -> Generation? {
        guard limit > 0, request.cachePolicy.memory.writes, request.shouldCache == nil,
            request.memoryTimeToLive == nil
        else { return nil }
        return generations.current(request.key.resource)
    }

    /// Returns the image after the first processors of a request. Returns nil when there is none, when the request's
    /// cache policy forbids reading memory, or when the resource has changed.
    func image(_ key: StepKey, _ request: ImageRequest) -> LoadedImage? {
        guard limit > 0, request.cachePolicy.memory.reads else { return nil }
        let found = entries.withLock { entries -> (image: DecodedImage, entry: Entry)? in
            guard let entry = entries.last(where: { $0.key == key }) else { return nil }
            return (entry.held ?? entry.find()).map { ($0, entry) }
        }
        guard let found, generations.isUnchanged(request.key.resource, since: found.entry.generation) else {
            return nil
        }
        return LoadedImage(
            image: found.image, layer: .memory, original: found.entry.original, origin: found.entry.origin)
    }

    /// Stores an intermediate image. Does nothing for an image with damaged pixels, an image that is not keepable, or
    /// an image without a ``/AlcedoCore/DecodedImage/weakReference``.
    ///
    /// - Parameters:
    ///   - loaded: The image.
    ///   - key: The key of the image.
    ///   - request: The request.
    ///   - generation: The generation when the work on the image began, or nil when the image must not be stored.
    func remember(_ loaded: LoadedImage, for key: StepKey, _ request: ImageRequest, since generation: Generation?) {
        let image = loaded.image
        guard let generation, image.isIntact, loaded.isKeepable, let find = image.weakReference else { return }
        var unstored = loaded.original.flatMap { $0.writeToken?.isUsed == false ? $0 : nil }
        // The bytes no longer wait for a decoder. They count with the image.
        unstored?.reservation = nil
        let cost = image.cost + (unstored?.data.count ?? 0)
        let isHeld = cost <= limit
        let entry = Entry(
            key: key, generation: generation, origin: loaded.origin, cost: cost, held: isHeld ? image : nil,
            original: isHeld ? unstored : nil, find: find)
        entries.withLock { entries in
            entries.removeAll { $0.key == key }
            if entries.count == Self.maximumEntryCount { entries.removeFirst() }
            entries.append(entry)
            var held = entries.reduce(0) { $0 + ($1.held == nil ? 0 : $1.cost) }
            for index in entries.indices where held > limit && entries[index].held != nil {
                (entries[index].held, entries[index].original) = (nil, nil)
                held -= entries[index].cost
            }
        }
    }

    func removeAll() { entries.withLock { $0 = [] } }

    func removeResource(_ resource: ResourceKey) { entries.withLock { $0.removeAll { $0.key.resource == resource } } }
}
