public import AlcedoCore
import AlcedoRuntime
public import FoundationEssentials

/// A cache of images in memory and on disk, with strings as keys. Its interface follows Kingfisher's `ImageCache`.
///
/// ```swift
/// let cache = ImageCache(
///     ImageCache.Configuration(
///         codecs: .standard, memoryCache: ImageMemoryCache(costLimit: 64 << 20),
///         diskCache: FileDiskCache(directory: directory, sizeLimit: 256 << 20)))
/// try await cache.store(image, original: data, forKey: "photo")
/// let hit = try await cache.image(forKey: "photo")
/// ```
///
/// A read looks in memory first. An image found on disk is decoded once for all concurrent callers, and stored in
/// memory. A read never restores an image that was removed, and never replaces one that was stored, while the read was
/// in progress.
///
/// Changes of one key reach the disk in the order of their calls, and later reads see them. The cache does not see
/// changes that are made to its memory cache or disk cache directly.
///
/// A processed image is stored under the identifier of its processor, beside its original. Partial images are not
/// stored.
public final class ImageCache: Sendable {
    private struct Read: Hashable, Sendable {
        var key: ImageKey
        /// A read that begins after a change must not join a read that began before it.
        var generation: Generation
    }

    let configuration: Configuration
    private let threads: DecodingThreads
    /// The observation of the disk cache's trims. nil when the disk cache does not report trims, or without a handler.
    private let trims: (any Sendable)?
    private let counts = Locked(CacheStatistics())
    private let generations: GenerationCounter
    private let reads: Coalescer<Read, Never, ImageCacheHit?>

    /// Creates a cache from the parts of the configuration.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        generations = GenerationCounter(taskExecutor: configuration.taskExecutor)
        reads = Coalescer(taskExecutor: configuration.taskExecutor)
        threads = DecodingThreads(
            codecs: configuration.codecs, maxConcurrentDecodes: configuration.maxConcurrentDecodes,
            byteBudget: configuration.maximumDecodingByteCount, taskExecutor: configuration.taskExecutor)
        trims = configuration.onClean.flatMap { onClean -> (any Sendable)? in
            let disk = configuration.diskCache as? any TrimReportingDataCache
            return disk?.observeTrims { report in onClean(report.removals.map(\.name)) }
        }
    }

    // MARK: Storing

    /// Stores an image in memory, before the first suspension point, and then on disk. Returns when the write has
    /// ended.
    ///
    /// The serializer decides which bytes are written. When nothing is written, for any reason, the disk has no entry
    /// under this key; memory keeps the image.
    ///
    /// - Parameters:
    ///   - image: The image to store.
    ///   - original: The encoded bytes of the image before processing, or nil when they are not known.
    ///   - key: The key of the image.
    ///   - processorIdentifier: The identifier of the processing that was applied. Default: empty, for an unprocessed
    ///     image.
    ///   - toDisk: Whether to write the image to disk. When false, the disk does not change. Default: true.
    /// - Returns: Whether the image is on disk. False also when the serializer returns no bytes, and for a partial
    ///   image.
    /// - Throws: The disk cache's ``/AlcedoCore/DataCacheError``, or `CancellationError`.
    @discardableResult
    public func store(
        _ image: DecodedImage, original: Data? = nil, forKey key: String, processorIdentifier: String = "",
        toDisk: Bool = true
    ) async throws -> Bool {
        let key = Self.imageKey(key, processorIdentifier: processorIdentifier)
        guard let writing = begin(image, original: original, for: key, toDisk: toDisk) else { return false }
        return try await withTaskCancellationHandler {
            try await writing.value.get()
        } onCancel: {
            writing.cancel()
        }
    }

    /// Stores an image as ``store(_:original:forKey:processorIdentifier:toDisk:)`` does, but returns when it is in
    /// memory.
    ///
    /// The write to disk continues in the background. Until it ends, it holds the image in memory, whatever the memory
    /// cache evicts. ``flush()`` waits for the write. `onWriteFailure` of the ``Configuration`` receives its error.
    public func startStoring(
        _ image: DecodedImage, original: Data? = nil, forKey key: String, processorIdentifier: String = "",
        toDisk: Bool = true
    ) {
        let key = Self.imageKey(key, processorIdentifier: processorIdentifier)
        let report = configuration.onWriteFailure
        _ = begin(image, original: original, for: key, toDisk: toDisk) { report?(key, $0) }
    }

    // MARK: Reading

    /// Returns the image if it is in memory. Synchronous. Updates the recency of the entry.
    public func imageInMemory(forKey key: String, processorIdentifier: String = "") -> DecodedImage? {
        let image = configuration.memoryCache?.image(for: Self.imageKey(key, processorIdentifier: processorIdentifier))
        recordRead(isHit: image != nil)
        return image
    }

    /// Returns an image from memory or disk, or nil when neither has it. An image found on disk is then stored in
    /// memory.
    ///
    /// Damaged bytes are removed, and count as a miss.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError`` when the bytes exceed the limits or use an unsupported variant of
    ///   their format.
    ///   `CancellationError` when the task is cancelled; the image is then stored in memory only if another caller
    ///   waits for it.
    public func image(forKey key: String, processorIdentifier: String = "") async throws -> ImageCacheHit? {
        let hit = try await find(Self.imageKey(key, processorIdentifier: processorIdentifier))
        recordRead(isHit: hit != nil)
        return hit
    }

    private func find(_ key: ImageKey) async throws -> ImageCacheHit? {
        if let image = configuration.memoryCache?.image(for: key) { return ImageCacheHit(image, .memory) }
        guard let disk = configuration.diskCache else { return nil }
        await generations.settle(.resource(key.resource))
        guard let generation = generations.current(key.resource) else {
            // Another change is in progress, so the result may be outdated: it is not shared and not stored in memory.
            return try await read(key, from: disk, generation: nil)
        }
        return try await reads.value(for: Read(key: key, generation: generation)) { _ in
            try await self.read(key, from: disk, generation: generation)
        }
    }

    /// Returns the layer that contains an image; memory is checked first. Does not read the data and does not update
    /// the entry's recency.
    public func cachedType(forKey key: String, processorIdentifier: String = "") async -> ImageCacheType {
        let key = Self.imageKey(key, processorIdentifier: processorIdentifier)
        if configuration.memoryCache?.contains(key) == true { return .memory }
        await generations.settle(.resource(key.resource))
        return await configuration.diskCache?.contains(key) == true ? .disk : .none
    }

    // MARK: Removing

    /// Removes one image from memory, before the first suspension point, and then from disk. Returns whether either had
    /// it.
    @discardableResult
    public func remove(
        forKey key: String, processorIdentifier: String = "", fromMemory: Bool = true, fromDisk: Bool = true
    ) async -> Bool {
        let key = Self.imageKey(key, processorIdentifier: processorIdentifier)
        let (memory, disk) = (configuration.memoryCache, configuration.diskCache)
        var wasInMemory = false
        let removal = generations.submit(.resource(key.resource)) {
            if fromMemory { wasInMemory = memory?.remove(key) ?? false }
        } _: {
            fromDisk ? await disk?.remove(key) ?? false : false
        }
        let wasOnDisk = await removal.value
        return wasInMemory || wasOnDisk
    }

    /// Removes the original of a key and all images made from it, as
    /// ``remove(forKey:processorIdentifier:fromMemory:fromDisk:)`` does for one image. Returns the number of removed
    /// images, as the greater of memory's count and the disk's.
    @discardableResult
    public func removeAll(forKey key: String) async -> Int {
        let resource = ResourceKey(key)
        let (memory, disk) = (configuration.memoryCache, configuration.diskCache)
        var count = 0
        let removal = generations.submit(.resource(resource)) {
            count = memory?.removeAll(of: resource) ?? 0
        } _: {
            await disk?.removeAll(of: resource) ?? 0
        }
        return await max(count, removal.value)
    }

    /// Removes everything from memory. Reads from disk that are in progress do not store their images in memory.
    public func clearMemory() { generations.recordChange(of: .everything) { configuration.memoryCache?.removeAll() } }

    /// Removes everything from disk.
    public func clearDisk() async {
        let disk = configuration.diskCache
        await generations.submit(.everything) { await disk?.removeAll() }.value
    }

    // MARK: Maintaining

    /// The reads and stores through this cache. Each counts once, whether memory, disk or both took part.
    public var statistics: CacheStatistics { counts.withLock { $0 } }

    private func recordRead(isHit: Bool) {
        counts.withLock { counts in
            if isHit { counts.hits += 1 } else { counts.misses += 1 }
        }
    }

    /// Removes expired entries from disk, and entries beyond the disk cache's limits. Calls `onClean` of the
    /// ``Configuration``.
    ///
    /// The number of removed entries depends on the disk cache. A `trimTarget` of one half in its limits removes as
    /// many as Kingfisher.
    ///
    /// - Returns: The ``/AlcedoCore/ImageKey/fileName`` of each removed entry. Empty when the disk cache is not a
    ///   ``/AlcedoCore/MaintainableDataCache``.
    @discardableResult
    public func cleanExpired() async -> [String] {
        await generations.settle(.everything)
        guard let disk = configuration.diskCache as? any MaintainableDataCache else {
            await configuration.diskCache?.flush()
            return []
        }
        return await disk.trim(toSize: nil, count: nil).removals.map(\.name)
    }

    /// Returns the number of bytes that the entries on disk occupy, after pending writes have ended. Zero for a disk
    /// cache that is not a ``/AlcedoCore/MeasurableDataCache``.
    public func calculateDiskCacheSize() async -> Int {
        await generations.settle(.everything)
        return await (configuration.diskCache as? any MeasurableDataCache)?.totalSize ?? 0
    }

    /// Returns when all changes so far have ended and the disk cache is flushed.
    public func flush() async {
        await generations.settle(.everything)
        await configuration.diskCache?.flush()
    }

    // MARK: Parts

    /// Stores an image in memory and starts the write to disk. Returns nil when there is nothing to write.
    private func begin(
        _ image: DecodedImage, original: Data?, for key: ImageKey, toDisk: Bool,
        onFailure: (@Sendable (any Error) -> Void)? = nil
    ) -> Task<Result<Bool, any Error>, Never>? {
        guard !image.isPartial else { return nil }
        let memory = configuration.memoryCache
        guard toDisk, let disk = configuration.diskCache else {
            generations.recordChange(of: .resource(key.resource)) { memory?.store(image, for: key) }
            counts.withLock { $0.stores += 1 }
            return nil
        }
        return generations.submit(.resource(key.resource)) {
            memory?.store(image, for: key)
        } _: {
            let result = await self.write(image, original: original, for: key, to: disk)
            switch result {
            case .success: self.counts.withLock { $0.stores += 1 }
            case .failure(let error):
                self.counts.withLock { $0.failures += 1 }
                onFailure?(error)
            }
            return result
        }
    }

    private func write(
        _ image: DecodedImage, original: Data?, for key: ImageKey, to disk: any DataCaching
    ) async -> Result<Bool, any Error> {
        let (serializer, codecs) = (configuration.serializer, configuration.codecs)
        do {
            let bytes = try await threads.run {
                serializer.bytes(of: image, original: original, isProcessed: !key.variant.isEmpty, codecs: codecs)
            }
            guard let bytes else {
                await disk.remove(key)
                return .success(false)
            }
            let metadata = ImageCacheMetadata(scale: image.scale, isOriginal: bytes.isOriginal && !key.variant.isEmpty)
            try await disk.store(CachedData(bytes.data, metadata: metadata.data), for: key)
            return .success(true)
        } catch {
            // The previous entry is outdated.
            await disk.remove(key)
            return .failure(error)
        }
    }

    /// Reads and decodes an image from disk.
    ///
    /// - Parameters:
    ///   - key: The key of the image.
    ///   - disk: The disk cache.
    ///   - generation: The generation before the read. With nil, the read stores nothing in memory and removes nothing.
    private func read(_ key: ImageKey, from disk: any DataCaching, generation: Generation?) async throws
        -> ImageCacheHit?
    {
        guard let entry = await disk.entry(for: key) else {
            try Task.checkCancellation()
            return nil
        }
        let metadata = ImageCacheMetadata(entry.metadata)
        var image: DecodedImage
        do {
            image = try await decode(entry.data)
        } catch let error as ImageDecodingError {
            guard error.code.meansDamage else { throw error }
            counts.withLock { $0.damagedEntries += 1 }
            if let generation {
                _ = await generations.submitIfUnchanged(key.resource, since: generation) { await disk.remove(key) }?
                    .value
            }
            return nil
        }
        // A read that was cancelled, or followed by a change, does not store its image in memory.
        try Task.checkCancellation()
        image.scale = metadata.scale
        let hit = ImageCacheHit(image, .disk, needsProcessing: metadata.isOriginal)
        if let generation, let memory = configuration.memoryCache, !hit.needsProcessing, !image.isPartial {
            generations.ifUnchanged(key.resource, since: generation) {
                // An image that was stored in memory only, just before the generation, is newer than the disk's.
                if !memory.contains(key) { memory.store(image, for: key) }
            }
        }
        return hit
    }

    private func decode(_ data: Data) async throws -> DecodedImage {
        let configuration = configuration
        return try await threads.decode(data, options: configuration.decoding) {
            try configuration.serializer.image(
                from: data, options: configuration.decoding, codecs: configuration.codecs)
        }
    }
}

extension ImageCache {
    /// Returns the name of an image in Kingfisher's form: `key@processor`, or the key alone for the original.
    ///
    /// The name is for display only. Two images can have the same one, so the caches use
    /// ``imageKey(_:processorIdentifier:)``.
    package static func computedKey(_ key: String, processorIdentifier: String = "") -> String {
        processorIdentifier.isEmpty ? key : "\(key)@\(processorIdentifier)"
    }

    /// Returns the key under which an image is stored. When `key` is an `http` URL, the key of the original is the one
    /// that an ``ImagePipeline`` uses.
    ///
    /// A disk cache of files returns the path of an image for this key:
    ///
    /// ```swift
    /// let path = files.path(for: ImageCache.imageKey("photo"))
    /// ```
    public static func imageKey(_ key: String, processorIdentifier: String = "") -> ImageKey {
        ImageKey(ResourceKey(key), variant: processorIdentifier)
    }
}

/// The metadata of an image that its encoded bytes do not contain.
///
/// The format is ten bytes: 0xA1, flags (bit 0: the original's bytes), and the bit pattern of the scale, little-endian.
/// The defaults are stored as no bytes, so that such entries equal those of other caches. Unknown bytes are read as the
/// defaults.
private struct ImageCacheMetadata: Equatable {
    private static let signature: UInt8 = 0xA1

    /// The number of pixels per point.
    var scale: Double
    var isOriginal: Bool

    init(scale: Double = 1, isOriginal: Bool = false) {
        self.scale = scale
        self.isOriginal = isOriginal
    }

    init(_ data: Data) {
        self.init()
        let bytes = Array(data)
        guard bytes.count == 10, bytes[0] == Self.signature else { return }
        isOriginal = bytes[1] & 1 == 1
        let scale = Double(bitPattern: bytes[2...].reversed().reduce(0) { $0 << 8 | UInt64($1) })
        if scale.isFinite, scale > 0 { self.scale = scale }
    }

    var data: Data {
        guard self != ImageCacheMetadata() else { return Data() }
        let bits = scale.bitPattern
        return Data([Self.signature, isOriginal ? 1 : 0] + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) })
    }
}
