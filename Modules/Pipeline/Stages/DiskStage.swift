import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// The disk caches as used by loads: reads are reported, and background writes never fail a load.
///
/// The key of an entry selects the cache: that of the original bytes, or that of the processed images. Both may be the
/// same one. A change of a resource affects both, and writes have one queue, so that it orders them all.
struct DiskStage: Sendable {
    /// The cache of processed images.
    private let images: (any DataCaching)?
    /// The cache of original bytes, and of the ``VaryMarker``s in their place.
    private let originals: (any DataCaching)?
    /// Both caches, or the one that has all entries.
    private let caches: [any DataCaching]
    private let generations: GenerationCounter
    private let writes: DiskWriteQueue
    private let report: Reporter
    private let reads = ByteBudget(limit: Self.maxConcurrentReads)

    /// The maximum number of concurrent reads, limited because each may return the bytes of an image.
    private static let maxConcurrentReads = 16

    /// Creates a stage.
    ///
    /// - Parameters:
    ///   - images: The cache of processed images, or nil for none.
    ///   - originals: The cache of original bytes, or nil for that of processed images.
    ///   - generations: The generations of resources.
    ///   - writes: The queue of background writes.
    ///   - report: The observers.
    init(
        _ images: (any DataCaching)?, originals: (any DataCaching)?, generations: GenerationCounter,
        writes: DiskWriteQueue, report: Reporter
    ) {
        self.images = images
        self.originals = originals ?? images
        caches = [images, originals].compactMap { $0 }
        self.generations = generations
        self.writes = writes
        self.report = report
    }

    /// Returns the cache of an entry; nil if there is none for its kind.
    private func cache(of key: ImageKey) -> (any DataCaching)? { key.isOriginal ? originals : images }

    /// Whether there is a cache for the entry under a key.
    func hasCache(of key: ImageKey) -> Bool { cache(of: key) != nil }

    /// Returns the entry under a key, after admission by the budget of encoded bytes. It may still be on its way to the
    /// disk. Returns nil when the request does not allow reading, or the cache has no usable entry.
    ///
    /// - Parameters:
    ///   - key: The key of the entry.
    ///   - isAllowed: Whether the request's cache policy allows reading.
    ///   - mayBeMarker: Whether the entry may be a ``VaryMarker``. Default: false.
    ///   - digests: The digests of the newest known bytes. The image of the entry must have been made from them, so
    ///     different ones leave no usable entry. Default: empty, for an image of any bytes.
    ///   - reservation: The reservation that counts the bytes.
    ///   - priority: The priority of the wait for admission.
    /// - Throws: ``VaryMarker`` if the entry is one, or `CancellationError`.
    func read(
        _ key: ImageKey, isAllowed: Bool, mayBeMarker: Bool = false, madeOf digests: [UInt64] = [],
        into reservation: EncodedByteReservation, _ priority: PriorityHandle
    ) async throws -> CachedData? {
        let cache = cache(of: key)
        let lookup = report.begin(.diskLookup, key)
        guard let cache, isAllowed else {
            let reason: CacheMissReason = cache == nil ? .noCache : .notAllowed
            lookup?.end(.miss(reason))
            report(key, .diskMiss(reason))
            return nil
        }
        let wait = lookup?.begin(.queueWait)
        // All other ends come first.
        defer {
            wait?.end(.cancelled)
            lookup?.end(.cancelled)
        }
        // A load that waits for the budget of encoded bytes must not hold a slot, or prefetches would block a visible
        // image.
        try await reservation.waitForAdmission(priority)
        @Sendable func usable(_ entry: CachedData, since start: Duration?) throws -> CachedData? {
            if mayBeMarker, let marker = VaryMarker(entry) {
                lookup?.end(.miss(.otherFields))
                throw marker
            }
            guard digests.allSatisfy({ $0 == DigestMetadata.digest(in: entry.metadata) }) else {
                lookup?.end(.miss(.otherVersion))
                report(key, .diskMiss(.otherVersion), since: start)
                return nil
            }
            lookup?.end(.success)
            report(key, .diskHit(bytes: entry.data.count), since: start)
            return entry
        }
        if let entry = writes.pendingEntry(for: key) {
            wait?.end(.success)
            return try usable(entry, since: nil)
        }
        return try await reads.withReservation(of: 1, priority: priority) {
            wait?.end(.success)
            let start = report.now
            guard let entry = await cache.entry(for: key) else {
                try Task.checkCancellation()
                lookup?.end(.miss(.notStored))
                report(key, .diskMiss(.notStored), since: start)
                return nil
            }
            return try usable(entry, since: start)
        }
    }

    /// Returns the digest in the metadata of the entry under a key, without reading its bytes. Returns nil if there is
    /// no entry, or its digest is not known. The entry may still be on its way to the disk.
    func digest(_ key: ImageKey) async -> UInt64? {
        guard let cache = cache(of: key) else { return nil }
        if let entry = writes.pendingEntry(for: key) { return DigestMetadata.digest(in: entry.metadata) }
        return await cache.metadata(for: key).flatMap { DigestMetadata.digest(in: $0) }
    }

    /// Returns the fields by which the resource of an original varies, if the entry under its plain key says so.
    func marker(_ key: ImageKey) async -> VaryMarker? {
        guard let originals else { return nil }
        return await Self.marker(key, in: originals)
    }

    private static func marker(_ key: ImageKey, in cache: any DataCaching) async -> VaryMarker? {
        // Most entries are originals, whose bytes are not read.
        guard await cache.contains(key), let metadata = await cache.metadata(for: key),
            VaryMarker(metadata: metadata) != nil, let entry = await cache.entry(for: key)
        else { return nil }
        return VaryMarker(entry)
    }

    func contains(_ key: ImageKey) async -> Bool { await cache(of: key)?.contains(key) == true }

    /// Stores bytes in the background, unless the resource changed after the generation. When the write queue is full,
    /// waits for this write, at most until the timeout. When the disk is also stalled, stores nothing. A failure is
    /// reported to the observers.
    ///
    /// - Parameters:
    ///   - key: The key of the entry.
    ///   - generation: The generation when the work began, or nil when nothing must be stored.
    ///   - timeToLive: The time until the entry expires, or nil for the limits of the cache.
    ///   - digest: The digest of the original bytes, or nil when it is not known.
    ///   - byteCount: The number of bytes that are held until the write ends.
    ///   - data: The bytes that ``read(_:isAllowed:mayBeMarker:madeOf:into:_:)`` returns until the write ends. Default:
    ///     nil.
    ///   - makeData: A closure that makes the bytes when the write begins. Nothing is stored when it returns nil or
    ///     throws.
    func write(
        for key: ImageKey, since generation: Generation?, timeToLive: Duration?, digest: UInt64?, byteCount: Int,
        data: Data? = nil, _ makeData: @escaping @Sendable () async throws -> Data?
    ) async {
        let metadata = DigestMetadata.data(digest)
        let expiry = timeToLive.map { report.clock.now.addingTimeInterval($0 / .seconds(1)) }
        let isAlive = timeToLive.map { $0 > .zero } != false
        await write(
            for: key, since: generation, byteCount: byteCount,
            entry: isAlive ? data.map { CachedData($0, metadata: metadata) } : nil
        ) {
            try await makeData().map { CachedData($0, metadata: metadata, expiry: expiry) }
        }
    }

    /// Stores under the plain key of an original, in the background, that the resource varies. Does nothing for a
    /// request without a variance.
    func mark(_ request: ImageRequest, since generation: Generation?) async {
        guard let variance = request.variance, let entry = VaryMarker.entry(variance.fields),
            request.diskTimeToLive.map({ $0 > .zero }) != false
        else { return }
        await write(
            for: Self.plainKey(of: request), since: generation, byteCount: entry.metadata.count, entry: entry
        ) { entry }
    }

    /// Removes the entries of a resource that were stored before its responses varied by the fields, because the next
    /// process would find them for every request. Removes nothing if the marker on disk names the same fields. Without
    /// a marker, the resource does not vary.
    ///
    /// Does not wait. The removal runs after the writes of the resource that were submitted before it, and before all
    /// later ones. With a generation, it removes nothing if the resource has changed since.
    func removeSoon(unvaried request: ImageRequest, unless fields: VaryingFields, since generation: Generation? = nil) {
        guard let originals else { return }
        let key = Self.plainKey(of: request)
        writes.submitBarrier(key) { [generations, caches] in
            if let generation, !generations.isUnchanged(key.resource, since: generation) { return }
            if await Self.marker(key, in: originals)?.fields ?? .none == fields { return }
            for cache in caches { await cache.removeAll(of: key.resource) }
        }
    }

    /// Returns the key of the original of a resource that does not vary.
    private static func plainKey(of request: ImageRequest) -> ImageKey {
        // A change of the request would compute its keys again.
        guard request.variance != nil else { return request.originalKey }
        var plain = request
        plain.variance = nil
        return plain.originalKey
    }

    private func write(
        for key: ImageKey, since generation: Generation?, byteCount: Int, entry: CachedData? = nil,
        _ makeEntry: @escaping @Sendable () async throws -> CachedData?
    ) async {
        guard let cache = cache(of: key), let generation else { return }
        let pending = entry.map { entry in
            { @Sendable [generations] in generations.isUnchanged(key.resource, since: generation) ? entry : nil }
        }
        let span = report.begin(.diskStore, key)
        let wait = span?.begin(.queueWait)
        let isAccepted = await writes.submit(key, byteCount: byteCount, entry: pending) { [generations, report] in
            wait?.end(.success)
            // A write that stores nothing counts as canceled.
            defer { span?.end(.cancelled) }
            guard generations.isUnchanged(key.resource, since: generation),
                let entry = try? await Self.entry(makeEntry, in: span)
            else { return }
            guard generations.isUnchanged(key.resource, since: generation) else { return }
            do {
                try await cache.store(entry, for: key)
                span?.end(.success)
            } catch is CancellationError {
                return
            } catch {
                span?.end(.failure(error))
                report(key, .diskWriteFailed(error))
            }
        }
        if !isAccepted {
            wait?.end(.cancelled)
            span?.end(.failure(Self.stalled))
            report(key, .diskWriteFailed(Self.stalled))
        }
    }

    private static func entry(
        _ makeEntry: @Sendable () async throws -> CachedData?, in span: ActiveSpan?
    ) async throws -> CachedData? {
        guard let span else { return try await makeEntry() }
        return try await ActiveSpan.$current.withValue(span, operation: makeEntry)
    }

    /// Stores an entry after the earlier writes under its key. Returns when it is stored, or when the resource changed
    /// after the generation.
    ///
    /// - Throws: ``PipelineError`` `notStored` when the cache fails, the write times out, or the disk is stalled.
    func store(_ entry: CachedData, for key: ImageKey, since generation: Generation) async throws {
        guard let cache = cache(of: key) else { return }
        let outcome = Locked<Result<Void, any Error>?>(nil)
        let isAccepted = await writes.submit(key, byteCount: entry.data.count) { [generations] in
            var result = Result<Void, any Error>.success(())
            do {
                if generations.isUnchanged(key.resource, since: generation) { try await cache.store(entry, for: key) }
            } catch {
                result = .failure(error)
            }
            outcome.withLock { [result] in $0 = result }
        }
        if isAccepted { await writes.flushEntry(key) }
        guard isAccepted else { throw Self.stalled }
        guard let result = outcome.withLock({ $0 }) else {
            throw PipelineError(.notStored, "the disk cache has not stored the data in time; it may still store it")
        }
        if case .failure(let error) = result { throw PipelineError(.notStored, "\(error)", cause: error) }
    }

    /// Removes all entries, after waiting for the pending writes as ``flush()`` does. A write that has timed out may
    /// still store its entry afterwards. The caller must have recorded the change.
    func removeAll() async {
        await flush()
        for cache in caches { await cache.removeAll() }
    }

    /// Removes the entry under a key.
    func remove(_ key: ImageKey) async { await cache(of: key)?.remove(key) }

    /// Removes the entry under a key in the background, after the pending writes under the key. When the write queue is
    /// full, waits for the removal, at most until the timeout. When the disk is also stalled, removes nothing.
    func removeSoon(_ key: ImageKey) async {
        guard let cache = cache(of: key) else { return }
        _ = await writes.submit(key, byteCount: 0) { await cache.remove(key) }
    }

    /// Removes the entries of a resource, after waiting for its pending writes as ``flush()`` does. A write that has
    /// timed out may still store its entry afterwards. The caller must have recorded the change.
    func removeResource(_ resource: ResourceKey) async {
        await flush(resource)
        for cache in caches { await cache.removeAll(of: resource) }
    }

    /// Returns when all writes so far, or those of a resource, have ended or timed out, or when the disk is stalled.
    func flush(_ resource: ResourceKey? = nil) async { await writes.flush(resource) }

    /// Returns when the last write under a key has ended or timed out, or when the disk is stalled.
    func flushEntry(_ key: ImageKey) async { await writes.flushEntry(key) }

    private static let stalled = PipelineError(.notStored, "the disk cache is stalled, and its write queue is full")
}
