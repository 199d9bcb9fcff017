import AlcedoCore
import AlcedoRuntime

/// The last images before, or between, their processors, so that a request with other processors that comes a little
/// later finds them.
///
/// Holds the newest of them up to a number of bytes, with the encoded bytes that nobody has put on disk; others it
/// gives while somebody else holds them, such as whoever processes them.
final class RecentImages: Sendable {
    private struct Entry: Sendable {
        let key: StepKey
        /// When the work on it began.
        let generation: Generation
        let origin: LoadedImage.Origin?
        let cost: Int
        var held: DecodedImage?
        /// The bytes that it was made of, which go with it; nil when nobody is to put them on disk.
        var original: Original?
        let find: @Sendable () -> DecodedImage?
    }

    /// Entries are looked through one by one, beside work that takes far longer.
    private static let maximumEntryCount = 64

    private let limit: Int
    private let generations: GenerationCounter
    /// The oldest first.
    private let entries = Locked([Entry]())

    /// - Parameter limit: Most bytes held. Below one remembers nothing.
    init(limit: Int, generations: GenerationCounter) {
        self.limit = limit
        self.generations = generations
    }

    /// Now, for ``remember(_:for:_:since:)``; nil when nothing may be remembered of the request.
    func generation(_ request: ImageRequest) -> Generation? {
        guard limit > 0, request.cachePolicy.memory.writes, request.shouldCache == nil else { return nil }
        return generations.current(request.key.resource)
    }

    /// The image after some of a request's processors; nil when there is none, or it has been removed since.
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

    /// - Parameter generation: When the work on the picture began.
    func remember(_ loaded: LoadedImage, for key: StepKey, _ request: ImageRequest, since generation: Generation?) {
        let image = loaded.image
        guard let generation, !image.isPartial, loaded.isCurrent, let find = image.weakReference else { return }
        var unstored = loaded.original.flatMap { $0.writeToken?.isUsed == false ? $0 : nil }
        // They do not wait for a decoder here, and count with the image.
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
