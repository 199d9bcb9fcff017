public import AlcedoCore
import AlcedoRuntime
public import FoundationEssentials

/// Images in memory and on disk as one cache, by keys that are strings, after Kingfisher's.
///
/// Memory answers at once; what is found on disk is decoded, once for all who ask, and brought to memory. Reading never
/// brings back what was removed, and never covers what was stored, meanwhile. Changes of one key reach the disk in the
/// order in which they were asked for, and reads see them. Changes made to the parts directly are not seen.
///
/// A processed image is kept under its processor's identifier, beside its original. Only whole images are kept.
public final class ImageCache: Sendable {
    private struct Read: Hashable, Sendable {
        var key: ImageKey
        /// Who asks after a change must not get what was read before it.
        var generation: Generation
    }

    let configuration: Configuration
    private let threads: DecodingThreads
    /// nil when the disk cache does not report its trims, or there is no handler for them.
    private let trims: (any Sendable)?
    private let counts = Locked(DataCacheStatistics())
    private let generations: GenerationCounter
    private let reads: Coalescer<Read, Never, ImageCacheHit?>

    /// A cache of the parts that the configuration names.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        generations = GenerationCounter(taskExecutor: configuration.taskExecutor)
        reads = Coalescer(taskExecutor: configuration.taskExecutor)
        threads = DecodingThreads(
            codecs: configuration.codecs, maxConcurrentDecodes: configuration.maxConcurrentDecodes,
            byteBudget: configuration.maximumDecodingByteCount, taskExecutor: configuration.taskExecutor)
        trims = configuration.onClean.flatMap { onClean -> (any Sendable)? in
            let disk = configuration.diskCache as? any MaintainableDataCache
            return disk?.observeTrims { report in onClean(report.removals.map(\.name)) }
        }
    }

    // MARK: Storing

    /// Stores an image: in memory before this first waits, then on disk. Returns when it is there.
    ///
    /// The serializer decides what bytes are written. If they are not, for whatever reason, the disk keeps nothing under
    /// this key; memory keeps the image.
    ///
    /// - Parameters:
    ///   - image: What is kept.
    ///   - original: The bytes that the image came from, where they are known.
    ///   - key: The name it is found by.
    ///   - processorIdentifier: Tells what was done to the image. Default: empty, nothing.
    ///   - toDisk: False keeps it in memory only, and leaves the disk as it is. Default: true.
    /// - Returns: Whether it is on disk. False also when the serializer has no bytes for it, or the image is a part.
    /// - Throws: The disk cache's ``DataCacheError``, or `CancellationError`.
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

    /// Stores an image as ``store(_:original:forKey:processorIdentifier:toDisk:)`` does, and returns when it is in memory.
    ///
    /// The disk is written behind; until then the image stays in memory, whatever the memory cache says. ``flush()`` waits
    /// for it, and `onWriteFailure` of the ``Configuration`` is told when it fails.
    public func startStoring(
        _ image: DecodedImage, original: Data? = nil, forKey key: String, processorIdentifier: String = "",
        toDisk: Bool = true
    ) {
        let key = Self.imageKey(key, processorIdentifier: processorIdentifier)
        let report = configuration.onWriteFailure
        _ = begin(image, original: original, for: key, toDisk: toDisk) { report?(key, $0) }
    }

    // MARK: Reading

    /// The image if it is in memory. Synchronous. Counts as a use.
    public func imageInMemory(forKey key: String, processorIdentifier: String = "") -> DecodedImage? {
        let image = configuration.memoryCache?.image(for: Self.imageKey(key, processorIdentifier: processorIdentifier))
        recordRead(isHit: image != nil)
        return image
    }

    /// Finds an image in memory, or on disk, whence it comes to memory. nil when it is nowhere.
    ///
    /// Bytes that turn out to be no image are removed, and are a miss.
    ///
    /// - Throws: ``ImageDecodingError`` when the bytes exceed the limits or are in a variant that nobody decodes.
    ///   `CancellationError`; nothing has then come to memory, unless others wait for it.
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
            // It changes again. Whether what is there stays is not known, so it goes to this caller only.
            return try await read(key, from: disk, generation: nil)
        }
        return try await reads.value(for: Read(key: key, generation: generation)) { _ in
            try await self.read(key, from: disk, generation: generation)
        }
    }

    /// Where an image is, memory first. Reads nothing and is no use of it.
    public func cachedType(forKey key: String, processorIdentifier: String = "") async -> ImageCacheType {
        let key = Self.imageKey(key, processorIdentifier: processorIdentifier)
        if configuration.memoryCache?.contains(key) == true { return .memory }
        await generations.settle(.resource(key.resource))
        return await configuration.diskCache?.contains(key) == true ? .disk : .none
    }

    // MARK: Removing

    /// Removes one image: from memory before this first waits, then from disk. Returns whether there was anything.
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

    /// Removes the original of a key and all that was made of it, as ``remove(forKey:processorIdentifier:fromMemory:fromDisk:)``
    /// does for one. Returns how many images that were, the greater of memory's number and the disk's.
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

    /// Removes everything from memory. What is being read from disk does not come there any more.
    public func clearMemory() { generations.recordChange(of: .everything) { configuration.memoryCache?.removeAll() } }

    /// Removes everything from disk.
    public func clearDisk() async {
        let disk = configuration.diskCache
        await generations.submit(.everything) { await disk?.removeAll() }.value
    }

    // MARK: Maintaining

    /// The reads and stores through this cache, each once whether memory or disk took part.
    public var statistics: DataCacheStatistics { counts.withLock { $0 } }

    private func recordRead(isHit: Bool) {
        counts.withLock { counts in
            if isHit { counts.hits += 1 } else { counts.misses += 1 }
        }
    }

    /// Removes what has expired from disk, and what its limits do not allow. Calls `onClean` of the ``Configuration``.
    ///
    /// How much goes is the disk cache's matter: with a `trimTarget` of a half in its limits, as much as with Kingfisher.
    ///
    /// - Returns: What went, by ``ImageKey/fileName``; nothing where the disk cache is not a
    ///   ``/AlcedoCore/MaintainableDataCache``.
    @discardableResult
    public func cleanExpired() async -> [String] {
        await generations.settle(.everything)
        guard let disk = configuration.diskCache as? any MaintainableDataCache else {
            await configuration.diskCache?.flush()
            return []
        }
        return await disk.clean().removals.map(\.name)
    }

    /// Bytes that the entries on disk occupy, once what was stored so far is there; zero for a disk cache that is no
    /// ``MeasurableDataCache``.
    public func calculateDiskCacheSize() async -> Int {
        await generations.settle(.everything)
        return await (configuration.diskCache as? any MeasurableDataCache)?.totalSize ?? 0
    }

    /// Returns when everything that was asked for so far is done.
    public func flush() async {
        await generations.settle(.everything)
        await configuration.diskCache?.flush()
    }

    // MARK: Parts

    /// Stores in memory, and starts the write to disk; nil when there is none to do.
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
            // What was there is no longer right.
            await disk.remove(key)
            return .failure(error)
        }
    }

    /// - Parameter generation: From before the read. nil brings nothing to memory, and removes nothing.
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
        // Who was cancelled, or overtaken by a change, does not fill the memory.
        try Task.checkCancellation()
        image.scale = metadata.scale
        let hit = ImageCacheHit(image, .disk, needsProcessing: metadata.isOriginal)
        if let generation, let memory = configuration.memoryCache, !hit.needsProcessing, !image.isPartial {
            generations.ifUnchanged(key.resource, since: generation) {
                // What came to memory alone just before the generation is newer than the disk.
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
    /// The name of an image as Kingfisher spells it: `key@processor`, or the key alone for the original.
    ///
    /// For display. Two images can share one, so the caches go by ``imageKey(_:processorIdentifier:)``.
    package static func computedKey(_ key: String, processorIdentifier: String = "") -> String {
        processorIdentifier.isEmpty ? key : "\(key)@\(processorIdentifier)"
    }

    /// The key under which an image is stored. With the text of an `http` URL as key, the originals are those of an
    /// ``ImagePipeline``.
    ///
    /// A disk cache on files tells the path of an image by it: `files.path(for: ImageCache.imageKey("photo"))`.
    public static func imageKey(_ key: String, processorIdentifier: String = "") -> ImageKey {
        ImageKey(ResourceKey(key), variant: processorIdentifier)
    }
}

/// What is kept beside the bytes of an image, because they do not say it.
///
/// Ten bytes: 0xA1, flags (bit 0: the original's bytes), the scale's bit pattern, little-endian. None at all for the
/// usual case, so that entries are the same as those of others. What is not understood is taken for none.
private struct ImageCacheMetadata: Equatable {
    private static let signature: UInt8 = 0xA1

    /// Pixels for each point.
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
