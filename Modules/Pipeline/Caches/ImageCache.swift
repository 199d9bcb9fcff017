public import AlcedoCore
import AlcedoRuntime
public import FoundationEssentials

/// A cache of images in memory and on disk, with strings as keys. Its interface follows Kingfisher's `ImageCache`.
///
/// ```swift
/// let cache = ImageCache(
///     codecs: .standard, memoryCache: ImageMemoryCache(costLimit: 64 << 20),
///     diskCache: FileDiskCache(directory: directory, sizeLimit: 256 << 20))
/// try await cache.store(image, original: data, forKey: "photo")
/// let hit = try await cache.image(forKey: "photo")
/// ```
///
/// A read looks in memory first. An image found on disk is decoded once for all concurrent callers, and stored in
/// memory. An image that is removed or stored while a read is in progress is neither restored nor replaced by that
/// read.
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
        var lastChange: Int
    }

    private let codecs: CodecRegistry
    let memoryCache: (any MemoryCaching)?
    let diskCache: (any MeasurableDataCache)?
    private let serializer: any CacheSerializer
    private let decoding: DecodingOptions
    private let threads: DecodingThreads
    /// The observation of the disk cache's trims; nil without a handler, or when the disk cache has no `maintenance`.
    private let trims: (any Sendable)?
    private let counts = Locked(CacheStatistics())
    let generations: GenerationCounter
    private let reads: Coalescer<Read, Never, ImageCacheHit?>

    /// Creates a cache. Without a memory cache and a disk cache it stores nothing.
    ///
    /// - Parameters:
    ///   - codecs: The codecs of the formats to read and write.
    ///   - memoryCache: The cache of decoded images, or nil for none. Its eviction listener must not call the image
    ///     cache. Default: nil.
    ///   - diskCache: The cache of encoded bytes, or nil for none. ``cleanExpired()`` and `onClean` require one with
    ///     ``/AlcedoCore/MeasurableDataCache/maintenance``, as the package's disk caches have. Default: nil.
    ///   - serializer: The serializer, which decides which bytes are stored for an image. Default:
    ///     ``DefaultCacheSerializer``.
    ///   - decoding: The decoding options of all images, because keys do not contain them. Default: the default
    ///     options.
    ///   - maxConcurrentDecodes: The maximum number of images that are decoded or encoded concurrently, each on its own
    ///     thread. Values below one count as one. Default: 2.
    ///   - maximumDecodingByteCount: The maximum number of bytes that concurrent decodes hold together. Returned images
    ///     do not count. An image that needs more is an error. Default: 512 MiB.
    ///   - asyncCodecTimeout: The maximum time of one call of an asynchronous decoder or encoder, after which its task
    ///     is canceled; nil for no limit. A read then throws `timedOut`, and a store writes what the serializer makes
    ///     without the encoder. Until a store has ended, later changes and disk reads of the same key wait, and so do
    ///     ``flush()`` and other calls for all keys. Default: 60 s.
    ///   - clock: The clock that measures `asyncCodecTimeout`. Default: the system's clock.
    ///   - onClean: A closure that receives the ``/AlcedoCore/ImageKey/fileName`` of each entry that a trim of the
    ///     disk cache removed, on request or in the background. Trims that other users of the disk cache cause are
    ///     included. The closure is called on any thread, and not when nothing was removed. Default: nil.
    ///   - taskExecutor: An executor for the tasks, decoding and encoding of the cache: for tests, with the
    ///     `ManualExecutor` of `AlcedoTesting`. Default: nil, for Swift's own executor and threads of the cache.
    public init(
        codecs: CodecRegistry,
        memoryCache: (any MemoryCaching)? = nil,
        diskCache: (any MeasurableDataCache)? = nil,
        serializer: any CacheSerializer = DefaultCacheSerializer(),
        decoding: DecodingOptions = DecodingOptions(),
        maxConcurrentDecodes: Int = 2,
        maximumDecodingByteCount: Int = 512 << 20,
        asyncCodecTimeout: Duration? = .seconds(60),
        clock: any TimeSource = SystemClock(),
        onClean: (@Sendable (_ names: [String]) -> Void)? = nil,
        taskExecutor: (any TaskExecutor)? = nil
    ) {
        self.codecs = codecs
        self.memoryCache = memoryCache
        self.diskCache = diskCache
        self.serializer = serializer
        self.decoding = decoding
        generations = GenerationCounter(taskExecutor: taskExecutor)
        reads = Coalescer(taskExecutor: taskExecutor)
        threads = DecodingThreads(
            codecs: codecs, maxConcurrentDecodes: maxConcurrentDecodes, byteBudget: maximumDecodingByteCount,
            asyncDeadline: asyncCodecTimeout.map { AsyncCodecDeadline($0, clock: clock) }, taskExecutor: taskExecutor)
        trims = onClean.flatMap { onClean in
            // The `maintenance` of a cache that wraps another one can be the wrapped cache, whose trims are then
            // observed.
            diskCache?.maintenance?.observeTrims { report in onClean(report.removals.map(\.name)) }
        }
    }

    // MARK: Storing

    /// Stores an image in memory, before the first suspension point, and then on disk. Returns when the write has
    /// ended. Until then, the write holds the image, even if the memory cache evicts it. To write in the background,
    /// call this method in a task of its own.
    ///
    /// The serializer decides which bytes are written. When it returns no bytes, or the write fails or is canceled, the
    /// previous entry under this key is removed from disk; memory keeps the image. A partial image is not stored and
    /// replaces nothing.
    ///
    /// - Parameters:
    ///   - image: The image to store.
    ///   - original: The encoded bytes of the image before processing, or nil when they are not known.
    ///   - key: The key of the image.
    ///   - processorIdentifier: The identifier of the processing that was applied. Default: empty, for an unprocessed
    ///     image.
    ///   - toDisk: Whether to write the image to disk. When false, the disk does not change. Default: true.
    /// - Returns: Whether the image was written to disk. False also when the serializer returns no bytes, without a
    ///   disk cache, and for a partial image.
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

    // MARK: Reading

    /// Returns the image from memory, or nil when memory does not have it. Synchronous. Updates the recency of the
    /// entry.
    public func imageInMemory(forKey key: String, processorIdentifier: String = "") -> DecodedImage? {
        let image = memoryCache?.image(for: Self.imageKey(key, processorIdentifier: processorIdentifier))
        recordRead(isHit: image != nil)
        return image
    }

    /// Returns an image from memory or disk, or nil when neither has it. An image found on disk is then stored in
    /// memory, if it is whole and its ``ImageCacheHit/needsProcessing`` is false.
    ///
    /// Damaged bytes are removed, and count as a miss.
    ///
    /// - Throws: ``/AlcedoCore/ImageDecodingError`` when the bytes exceed the limits or use an unsupported variant of
    ///   their format, when the memory cannot be allocated, or `timedOut` when an asynchronous decoder exceeds the
    ///   cache's `asyncCodecTimeout`. ``PipelineError`` when an asynchronous decoder fails with another error.
    ///   `CancellationError` when the task is canceled; the image is then stored in memory only if another caller waits
    ///   for it.
    public func image(forKey key: String, processorIdentifier: String = "") async throws -> ImageCacheHit? {
        let hit = try await find(Self.imageKey(key, processorIdentifier: processorIdentifier))
        recordRead(isHit: hit != nil)
        return hit
    }

    private func find(_ key: ImageKey) async throws -> ImageCacheHit? {
        if let image = memoryCache?.image(for: key) { return ImageCacheHit(image, .memory) }
        guard let disk = diskCache else { return nil }
        await generations.settle(.resource(key.resource))
        guard let generation = generations.current(key.resource) else {
            // Another change is in progress, so the result may be outdated: it is not shared and not stored in memory.
            return try await read(key, from: disk, generation: nil)
        }
        return try await reads.value(for: Read(key: key, lastChange: generation.lastChange)) { _ in
            try await self.read(key, from: disk, generation: generation)
        }
    }

    /// Returns the layer that contains an image, `memory` or `disk`, or nil when neither does; memory is checked first.
    /// Does not read the data and does not update the entry's recency.
    public func cachedLayer(
        forKey key: String, processorIdentifier: String = ""
    ) async -> ImageResponse.Layer? {
        let key = Self.imageKey(key, processorIdentifier: processorIdentifier)
        if memoryCache?.contains(key) == true { return .memory }
        await generations.settle(.resource(key.resource))
        return await diskCache?.contains(key) == true ? .disk : nil
    }

    // MARK: Counting

    /// The reads and stores through this cache. Each counts once, whether memory, disk or both took part.
    public var statistics: CacheStatistics { counts.withLock { $0 } }

    private func recordRead(isHit: Bool) {
        counts.withLock { counts in
            if isHit { counts.hits += 1 } else { counts.misses += 1 }
        }
    }

    // MARK: Parts

    /// Stores an image in memory and starts the write to disk. Returns nil when there is nothing to write. Does nothing
    /// for a partial image.
    private func begin(
        _ image: DecodedImage, original: Data?, for key: ImageKey, toDisk: Bool
    ) -> Task<Result<Bool, any Error>, Never>? {
        guard !image.isPartial else { return nil }
        let memory = memoryCache
        guard toDisk, let disk = diskCache else {
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
            case .failure: self.counts.withLock { $0.failures += 1 }
            }
            return result
        }
    }

    private func write(
        _ image: DecodedImage, original: Data?, for key: ImageKey, to disk: any DataCaching
    ) async -> Result<Bool, any Error> {
        do {
            let bytes = try await threads.bytes(
                of: image, original: original, by: serializer,
                in: CacheSerializationContext(key: key, isProcessed: !key.variant.isEmpty, codecs: codecs),
                priority: .normal)
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

    /// Reads and decodes an image from disk, and stores it in memory. Returns nil if the entry is missing or damaged. A
    /// damaged entry is removed.
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
            image = try await decode(entry.data, key)
        } catch let error as ImageDecodingError {
            guard error.code.meansDamage else { throw error }
            counts.withLock { $0.damagedEntries += 1 }
            if let generation {
                _ = await generations.submitIfUnchanged(key.resource, since: generation) { await disk.remove(key) }?
                    .value
            }
            return nil
        }
        // A read that was canceled, or followed by a change, does not store its image in memory.
        try Task.checkCancellation()
        image.scale = metadata.scale
        let hit = ImageCacheHit(image, .disk, needsProcessing: metadata.isOriginal)
        if let generation, let memory = memoryCache, !hit.needsProcessing, !image.isPartial {
            generations.ifUnchanged(key.resource, since: generation) {
                // An image that was stored in memory only, before this read began, is newer than the image on disk.
                if !memory.contains(key) { memory.store(image, for: key) }
            }
        }
        return hit
    }

    private func decode(_ data: Data, _ key: ImageKey) async throws -> DecodedImage {
        let context = CacheSerializationContext(
            key: key, isProcessed: !key.variant.isEmpty, codecs: codecs, decoding: decoding)
        if codecs.hasAsyncCodecs, let decoder = serializer.asyncDecoder(of: data, in: context) {
            return try await threads.decode(data, options: decoding, by: decoder, priority: PriorityHandle()) {
                image, _, _ in image
            }
        }
        return try await threads.decodeStored(data, options: decoding) { [serializer] in
            try serializer.image(from: data, in: context)
        }
    }
}

extension ImageCache {
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
