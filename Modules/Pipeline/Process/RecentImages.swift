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
        let mark: Generation
        let origin: LoadedImage.Origin?
        let cost: Int
        var held: DecodedImage?
        /// The bytes that it was made of, which go with it; nil when nobody is to put them on disk.
        var original: Original?
        let find: @Sendable () -> DecodedImage?
    }

    /// Entries are looked through one by one, beside work that takes far longer.
    private static let mostEntries = 64

    private let limit: Int
    private let changes: GenerationCounter
    /// The oldest first.
    private let entries = Locked([Entry]())

    /// - Parameter limit: Most bytes held. Below one remembers nothing.
    init(limit: Int, changes: GenerationCounter) {
        self.limit = limit
        self.changes = changes
    }

    /// Now, for ``remember(_:for:_:since:)``; nil when nothing may be remembered of the request.
    func mark(_ request: ImageRequest) -> Generation? {
        guard limit > 0, request.cachePolicy.memory.writes, request.shouldCache == nil else { return nil }
        return changes.mark(request.key.resource)
    }

    /// The image after some of a request's processors; nil when there is none, or it has been removed since.
    func picture(_ key: StepKey, _ request: ImageRequest) -> LoadedImage? {
        guard limit > 0, request.cachePolicy.memory.reads else { return nil }
        let found = entries.withLock { entries -> (image: DecodedImage, entry: Entry)? in
            guard let entry = entries.last(where: { $0.key == key }) else { return nil }
            return (entry.held ?? entry.find()).map { ($0, entry) }
        }
        guard let found, changes.isUnchanged(request.key.resource, since: found.entry.mark) else { return nil }
        return LoadedImage(
            image: found.image, layer: .memory, original: found.entry.original, origin: found.entry.origin)
    }

    /// - Parameter mark: When the work on the picture began.
    func remember(_ picture: LoadedImage, for key: StepKey, _ request: ImageRequest, since mark: Generation?) {
        let image = picture.image
        guard let mark, !image.isPartial, picture.isCurrent, let find = image.weakReference else { return }
        var unstored = picture.original.flatMap { $0.writeClaim?.isTaken == false ? $0 : nil }
        // They wait for nobody here, and count with the image.
        unstored?.hold = nil
        let cost = image.cost + (unstored?.data.count ?? 0)
        let isHeld = cost <= limit
        let entry = Entry(
            key: key, mark: mark, origin: picture.origin, cost: cost, held: isHeld ? image : nil,
            original: isHeld ? unstored : nil, find: find)
        entries.withLock { entries in
            entries.removeAll { $0.key == key }
            if entries.count == Self.mostEntries { entries.removeFirst() }
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
