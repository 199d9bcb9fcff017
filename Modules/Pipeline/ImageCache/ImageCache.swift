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
        var mark: Generation
    }

    let configuration: Configuration
    private let threads: DecodingThreads
    /// nil when the disk cache does not tell of its trims, or no handler wants them.
    private let trims: (any Sendable)?
    private let changes: GenerationCounter
    private let reads: Coalescer<Read, Never, ImageCacheHit?>

    /// A cache of the parts that the configuration names.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        changes = GenerationCounter(taskExecutor: configuration.taskExecutor)
        reads = Coalescer(taskExecutor: configuration.taskExecutor)
        threads = DecodingThreads(
            codecs: configuration.codecs, width: configuration.maxConcurrentDecodes,
            byteBudget: configuration.maximumDecodingByteCount, taskExecutor: configuration.taskExecutor)
        trims = configuration.onClean.flatMap { onClean in
            configuration.maintainableDiskCache?.observeTrims { report in onClean(report.removals.map(\.name)) }
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
        configuration.memoryCache?.image(for: Self.imageKey(key, processorIdentifier: processorIdentifier))
    }

    /// Finds an image in memory, or on disk, whence it comes to memory. nil when it is nowhere.
    ///
    /// Bytes that turn out to be no image are removed, and are a miss.
    ///
    /// - Throws: ``ImageDecodingError`` when the bytes exceed the limits or are in a variant that nobody decodes.
    ///   `CancellationError`; nothing has then come to memory, unless others wait for it.
    public func image(forKey key: String, processorIdentifier: String = "") async throws -> ImageCacheHit? {
        let key = Self.imageKey(key, processorIdentifier: processorIdentifier)
        if let image = configuration.memoryCache?.image(for: key) { return ImageCacheHit(image, .memory) }
        guard let disk = configuration.diskCache else { return nil }
        await changes.settle(.resource(key.resource))
        guard let mark = changes.mark(key.resource) else {
            // It changes again. Whether what is there stays is not known, so it goes to this caller only.
            return try await read(key, from: disk, mark: nil)
        }
        return try await reads.value(for: Read(key: key, mark: mark)) { _ in
            try await self.read(key, from: disk, mark: mark)
        }
    }

    /// Where an image is, memory first. Reads nothing and is no use of it.
    public func cachedType(forKey key: String, processorIdentifier: String = "") async -> ImageCacheType {
        let key = Self.imageKey(key, processorIdentifier: processorIdentifier)
        if configuration.memoryCache?.contains(key) == true { return .memory }
        await changes.settle(.resource(key.resource))
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
        let removal = changes.submit(.resource(key.resource)) {
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
        let removal = changes.submit(.resource(resource)) {
            count = memory?.removeAll(of: resource) ?? 0
        } _: {
            await disk?.removeAll(of: resource) ?? 0
        }
        return await max(count, removal.value)
    }

    /// Removes everything from memory. What is being read from disk does not come there any more.
    public func clearMemory() { changes.change(.everything) { configuration.memoryCache?.removeAll() } }

    /// Removes everything from disk.
    public func clearDisk() async {
        let disk = configuration.diskCache
        await changes.submit(.everything) { await disk?.removeAll() }.value
    }

    // MARK: Maintaining

    /// Removes what has expired from disk, and what its limits do not allow. Calls `onClean` of the ``Configuration``.
    ///
    /// How much goes is the disk cache's matter: with a `trimTarget` of a half in its limits, as much as with Kingfisher.
    ///
    /// - Returns: What went, by ``ImageKey/fileName``; nothing where the disk cache is not a
    ///   ``/AlcedoCore/MaintainableDataCache``.
    @discardableResult
    public func cleanExpired() async -> [String] {
        await changes.settle(.everything)
        guard let disk = configuration.maintainableDiskCache else {
            await configuration.diskCache?.flush()
            return []
        }
        return await disk.clean().removals.map(\.name)
    }

    /// Bytes that the entries on disk occupy, once what was stored so far is there; zero for a disk cache that is no
    /// ``MeasurableDataCache``.
    public func calculateDiskCacheSize() async -> Int {
        await changes.settle(.everything)
        return await (configuration.diskCache as? any MeasurableDataCache)?.totalSize ?? 0
    }

    /// Returns when everything that was asked for so far is done.
    public func flush() async {
        await changes.settle(.everything)
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
            changes.change(.resource(key.resource)) { memory?.store(image, for: key) }
            return nil
        }
        return changes.submit(.resource(key.resource)) {
            memory?.store(image, for: key)
        } _: {
            let result = await self.write(image, original: original, for: key, to: disk)
            if case .failure(let error) = result { onFailure?(error) }
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
            let notes = ImageCacheNotes(scale: image.scale, isOriginal: bytes.isOriginal && !key.variant.isEmpty)
            try await disk.store(CachedData(bytes.data, metadata: notes.data), for: key)
            return .success(true)
        } catch {
            // What was there is no longer right.
            await disk.remove(key)
            return .failure(error)
        }
    }

    /// - Parameter mark: From before the read. nil brings nothing to memory, and removes nothing.
    private func read(_ key: ImageKey, from disk: any DataCaching, mark: Generation?) async throws -> ImageCacheHit? {
        guard let entry = await disk.entry(for: key) else {
            try Task.checkCancellation()
            return nil
        }
        let notes = ImageCacheNotes(entry.metadata)
        var image: DecodedImage
        do {
            image = try await decode(entry.data)
        } catch let error as ImageDecodingError {
            guard error.code.meansDamage else { throw error }
            if let mark {
                _ = await changes.submitIfUnchanged(key.resource, since: mark) { await disk.remove(key) }?.value
            }
            return nil
        }
        // Who was cancelled, or overtaken by a change, does not fill the memory.
        try Task.checkCancellation()
        image.scale = notes.scale
        let hit = ImageCacheHit(image, .disk, needsProcessing: notes.isOriginal)
        if let mark, let memory = configuration.memoryCache, !hit.needsProcessing, !image.isPartial {
            changes.ifUnchanged(key.resource, since: mark) {
                // What came to memory alone just before the mark is newer than the disk.
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

    /// What an image is stored under. With the text of an `http` URL as key, the originals are those of an
    /// ``ImagePipeline``.
    package static func imageKey(_ key: String, processorIdentifier: String = "") -> ImageKey {
        ImageKey(ResourceKey(key), variant: processorIdentifier)
    }

    /// The name of the file that keeps an image, without the path extension that a disk cache may add. Whether there is one
    /// or not.
    public static func fileName(forKey key: String, processorIdentifier: String = "") -> String {
        imageKey(key, processorIdentifier: processorIdentifier).fileName
    }

    /// Where the file of an image is, or would be; nil when the disk cache cannot tell. See ``Configuration``.
    public func path(forKey key: String, processorIdentifier: String = "") -> URL? {
        configuration.filePath?(Self.imageKey(key, processorIdentifier: processorIdentifier))
    }
}

/// What is kept beside the bytes of an image, because they do not say it.
///
/// Ten bytes: 0xA1, flags (bit 0: the original's bytes), the scale's bit pattern, little-endian. None at all for the
/// usual case, so that entries are the same as those of others. What is not understood is taken for none.
private struct ImageCacheNotes: Equatable {
    private static let mark: UInt8 = 0xA1

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
        guard bytes.count == 10, bytes[0] == Self.mark else { return }
        isOriginal = bytes[1] & 1 == 1
        let scale = Double(bitPattern: bytes[2...].reversed().reduce(0) { $0 << 8 | UInt64($1) })
        if scale.isFinite, scale > 0 { self.scale = scale }
    }

    var data: Data {
        guard self != ImageCacheNotes() else { return Data() }
        let bits = scale.bitPattern
        return Data([Self.mark, isOriginal ? 1 : 0] + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) })
    }
}
