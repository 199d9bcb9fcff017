// The path of an image. Each stage is a file of the directory Stages; what several stages share is in Shared.
//
//   ImageRequest ─► ImagePipeline ─► interceptors ─►
//     1 MemoryStage      MemoryCaching      the finished image, synchronous
//     2 DiskStage        DataCaching        encoded bytes: the processed image, or the original
//     3 DownloadStage    Downloading        the original, one download per resource
//     4 DecodeStage      CodecRegistry      one decode per size, on threads of the pipeline, within a budget of bytes
//     5 ProcessStage     ImageProcessing    one run per processing step
//     6 StoreStage       the caches         memory at once, disk in the background
//   ─► ImageResponse
//
// A stage that finds the image or its bytes skips the stages that would make them. Stages know those before them only.

public import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime
public import FoundationEssentials

/// The way of an image: memory, disk, download, decode, process, and back into the caches.
///
/// Equal requests share one load; requests for variants of one resource share its download, the decoding of each size,
/// and each processor that they begin with. A load that fails because of its own URL, fields or credentials fails the
/// requests that have these; the next request's are tried for the others. The work is as urgent as the most urgent of
/// those who wait for it. Cancelling a task leaves the load; the load ends when nobody waits for it. Bytes reach the
/// disk cache only after they have proved to be a whole image, those of ``data(for:)`` and of loading ahead to disk
/// after their header could be read, and never when the server forbids storing. A part of an image, which only a
/// request that allows it gets, is kept in no cache. Concurrent decodes share one budget of bytes.
///
/// Errors are ``PipelineError``, an interceptor's own, or `CancellationError`.
public final class ImagePipeline: ImageLoading {
    let configuration: Configuration
    private let report: Reporter
    let memory: MemoryStage
    let disk: DiskStage
    let processedImages: ProcessedImageStore
    private let download: DownloadStage
    private let decode: DecodeStage
    let process: ProcessStage
    let store: StoreStage
    private let threads: DecodingThreads
    /// Counts removals, and stores by the app, so that what was asked for before one brings nothing back.
    let generations: GenerationCounter
    private let waits = ProviderWaits()
    let versions: FileVersions
    private let loads: Coalescer<LoadKey, LoadUpdate, ImageResponse>
    private let shutDownFlag = Locked(false)

    /// A pipeline of the parts that the configuration names. Begins nothing by itself.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        let (codecs, taskExecutor) = (configuration.codecs, configuration.taskExecutor)
        generations = GenerationCounter(taskExecutor: taskExecutor)
        versions = FileVersions(taskExecutor: taskExecutor)
        loads = Coalescer(taskExecutor: taskExecutor, isOfSource: PipelineError.isOfSource)
        report = Reporter(observers: configuration.observers, clock: configuration.clock)
        memory = MemoryStage(configuration.memoryCache, generations: generations)
        let encodedBudget = EncodedByteBudget(limit: configuration.maximumEncodedByteCount)
        disk = DiskStage(
            configuration.diskCache, generations: generations,
            writes: DiskWriteQueue(
                limit: configuration.maximumPendingWriteByteCount, timeout: configuration.writeTimeout,
                clock: configuration.clock, taskExecutor: taskExecutor),
            report: report)
        download = DownloadStage(
            downloader: configuration.downloader, disk: disk, hasResponseCache: configuration.responseCache != nil,
            encodedBudget: encodedBudget, waits: waits, versions: versions, report: report, taskExecutor: taskExecutor)
        threads = DecodingThreads(
            codecs: codecs, maxConcurrentDecodes: configuration.maxConcurrentDecodes,
            byteBudget: configuration.maximumDecodingByteCount, taskExecutor: taskExecutor)
        processedImages = ProcessedImageStore(
            disk: disk, serializer: configuration.serializer, codecs: codecs, threads: threads,
            encodedBudget: encodedBudget,
            report: report)
        let recent = RecentImages(
            limit: configuration.memoryCache == nil ? 0 : configuration.maximumIntermediateByteCount,
            generations: generations)
        decode = DecodeStage(
            download: download, codecs: codecs, threads: threads, previewInterval: configuration.previewInterval,
            report: report)
        process = ProcessStage(decode: decode, memory: memory, recent: recent, threads: threads, report: report)
        store = StoreStage(
            memory: memory, disk: disk, processedImages: processedImages, download: download, versions: versions,
            policy: configuration.dataCachePolicy)
    }

    // MARK: Loading

    /// Returns the finished image if it is in memory, as the request is: interceptors are not asked. Synchronous, without a
    /// task: a look-up and nothing else, after one `stat` of a local file (``ImageRequest/tracksFileChanges``).
    public func cachedImage(for request: ImageRequest) -> DecodedImage? {
        guard !isShutDown else { return nil }
        return request.fileNeedingVersion == nil ? memory.image(request) : memory.image(request.withFileVersion)
    }

    public func load(
        _ request: ImageRequest, priority: PriorityHandle, onUpdate: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        try await configuration.interceptors.load(request) { request in
            let request = request.fileNeedingVersion == nil ? request : await versions.settled(request)
            guard request.showsCachedFirst else { return try await share(request, priority, onUpdate) }
            return try await refresh(request, priority, onUpdate)
        }
    }

    /// Begins a load, and returns a task that follows and controls it.
    ///
    /// - Parameters:
    ///   - request: The image to load.
    ///   - executor: Where `onEvent` is called. Default: on the thread where the event happens; it must not block then.
    ///   - onEvent: Called with the events in order, `finished` last and once. Of progress and previews that wait for the
    ///     executor, only the last one is passed on. Default: none; the task's ``ImageTask/progress``,
    ///     ``ImageTask/previews`` and ``ImageTask/response`` tell the same.
    @discardableResult
    public func imageTask(
        with request: ImageRequest, on executor: CallbackExecutor = .immediate,
        onEvent: (@Sendable (ImageTaskEvent) -> Void)? = nil
    ) -> ImageTask {
        let task = ImageTask(request, on: executor, onEvent: onEvent)
        task.start(on: configuration.taskExecutor) { try await self.load(request, priority: $0, onUpdate: $1) }
        return task
    }

    /// Returns the bytes of a request's source, from the disk cache or the source, and keeps them as the request says,
    /// without decoding more than their header. As the request is: interceptors, which stand round images, are not asked.
    ///
    /// - Throws: ``PipelineError``, or `CancellationError` when the task is cancelled first.
    public func data(for request: ImageRequest) async throws -> Data {
        try await originalData(for: request, PriorityHandle(request.priority))
    }

    /// Brings the bytes of a request's source onto the disk, unless what the request needs is there.
    ///
    /// - Returns: False when it was there.
    /// - Throws: As ``data(for:)``; ``PipelineError`` `notStored` when no cache has kept them.
    func storeOriginal(of request: ImageRequest, _ priority: PriorityHandle) async throws -> Bool {
        guard request.source.isWorthStoring else { return false }
        var layers = await cache.contains(request)
        let enough: CachedLayers = store.policy(for: request).keepsVariants ? .disk : .original
        if request.cachePolicy.disk.reads, !layers.isDisjoint(with: enough) { return false }
        _ = try await originalData(for: request, priority)
        await disk.flushEntry(request.originalKey)
        layers = await cache.contains(request)
        guard !layers.isDisjoint(with: [.original, .response]) else {
            throw PipelineError(.notStored, "the bytes have come, and no cache on disk has kept them")
        }
        return true
    }

    private func originalData(for request: ImageRequest, _ priority: PriorityHandle) async throws -> Data {
        let request = await versions.settled(request)
        let wait = try waits.begin(request)
        defer { wait?.end() }
        let generation = generations.current(request.originalKey.resource)
        let original = try await download.load(request, priority) { _ in }
        do {
            _ = try await threads.run(priority: priority) { [codecs = request.codecs ?? configuration.codecs] in
                try codecs.inspect(original.data, limits: request.decoding.limits)
            }
        } catch let error as ImageDecodingError {
            if original.layer == .disk, error.code.meansDamage { await download.forget(request) }
            throw PipelineError(.decoding(error.code), error.message, cause: error)
        }
        await download.keep(original, for: request, since: generation)
        return original.data
    }

    // MARK: Ending

    /// Returns when everything that was loaded so far and belongs on disk is there. A write that takes longer than
    /// ``Configuration/writeTimeout`` is not waited for any longer.
    public func flush() async { await disk.flush() }

    /// Ends every load with ``PipelineError`` `shutDown`, and refuses later ones with it. Returns when the work has ended
    /// and what belongs on disk is there, as after ``flush()``.
    public func shutDown() async {
        shutDownFlag.withLock { $0 = true }
        await loads.shutDown(throwing: PipelineError.shutDown)
        await process.shutDown()
        await download.shutDown()
        await disk.flush()
    }

    /// Whether ``shutDown()`` was called.
    var isShutDown: Bool { shutDownFlag.withLock { $0 } }

    // MARK: One load

    /// The image from memory, or from the one load of all equal requests.
    private func share(
        _ request: ImageRequest, in phase: LoadKey.Phase = .single, _ priority: PriorityHandle,
        _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        guard !isShutDown else { throw PipelineError.shutDown }
        let key = request.key
        if let image = memory.image(request) {
            report(key, .memoryHit)
            return ImageResponse(image: image, layer: .memory)
        }
        report(key, .memoryMiss(memory.missReason(request)))
        let wait = try waits.begin(request)
        defer { wait?.end() }
        let work = LoadKey(request, key: key, phase: phase)
        return try await loads.value(for: work, from: request.source, priority: priority, onUpdate: update) {
            update, priority in
            try await self.reporting(key, phase) { try await self.run(request, priority, update) }
        }
    }

    private func run(
        _ request: ImageRequest, _ priority: PriorityHandle, _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        // An equal load may have ended between the look into memory and the beginning of this one.
        if let image = memory.image(request) { return ImageResponse(image: image, layer: .memory) }
        let generation = generations.current(request.key.resource)
        let keepsVariants = store.policy(for: request).keepsVariants && request.isVariant
        if keepsVariants, let loaded = try await processedImages.image(request, priority) {
            return await store.keepInMemory(loaded, request, since: generation)
        }
        let loaded = try await process.image(request, priority, update)
        return await store.keep(loaded, request, since: generation)
    }

    /// What the caches have, and then what the source has.
    private func refresh(
        _ request: ImageRequest, _ priority: PriorityHandle, _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        var stored = request
        stored.cachePolicy.allowsNetwork = false
        stored.cachePolicy.response = .none
        var cached: ImageResponse?
        do {
            cached = try await share(stored, in: .cached, priority) { _ in }
        } catch let error as PipelineError where error.code != .shutDown {
            cached = nil
        }
        // Of what was shown; other loads may have brought newer bytes when the source has answered.
        let digest = cached == nil ? nil : memory.digest(of: request.key) ?? decode.digest(of: request)
        if let cached { update(.cached(cached)) }
        guard request.cachePolicy.allowsNetwork, request.source.isWorthStoring else {
            guard let cached else { return try await share(request, priority, update) }
            return cached
        }
        var fresh = request
        fresh.cachePolicy.memory.reads = false
        fresh.cachePolicy.disk.reads = false
        fresh.cachePolicy.protocolPolicy = .reloadRevalidatingCacheData
        let key = fresh.key
        do {
            let wait = try waits.begin(fresh)
            defer { wait?.end() }
            return try await loads.value(
                for: LoadKey(fresh, key: key, phase: .refresh), from: fresh.source, priority: priority, onUpdate: update
            ) { [fresh, cached] update, priority in
                try await self.reporting(key, .refresh) {
                    try await self.renew(cached, madeOf: digest, fresh, priority, update)
                }
            }
        } catch let error as PipelineError {
            // It is reported; what there is stays.
            guard let cached, error.meansNoBytes else { throw error }
            return cached
        }
    }

    /// What the source has; the same image, when that was made of the same bytes. What was made of others goes.
    private func renew(
        _ cached: ImageResponse?, madeOf digest: UInt64?, _ request: ImageRequest, _ priority: PriorityHandle,
        _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        let resource = request.key.resource
        var generation = generations.current(resource)
        guard let cached else {
            // Nothing is shown yet, which previews would make worse.
            return await store.keep(try await process.image(request, priority, update), request, since: generation)
        }
        let original = try await download.load(request, priority) { event in
            if case .progress(let progress) = event { update(.progress(progress)) }
        }
        if digest == original.data.digest { return cached }
        let loaded = try await process.remake(request, of: original, priority)
        // A part is no reason to give up what is whole.
        if loaded.image.isPartial { return cached }
        if let before = generation, generations.isUnchanged(resource, since: before) {
            // Other sizes of what was there are as outdated.
            generation = await forget(resource)
        }
        return await store.keep(loaded, request, since: generation)
    }

    /// Removes everything that was made of a resource, and its bytes. Returns the moment behind it.
    private func forget(_ resource: ResourceKey) async -> Generation? {
        let generation = generations.advance(of: resource) { memory.removeResource(resource) }
        process.forget(resource)
        await disk.removeResource(resource)
        return generation
    }

    private func reporting(
        _ key: ImageKey, _ phase: LoadKey.Phase, _ body: () async throws -> ImageResponse
    ) async throws -> ImageResponse {
        do {
            let response = try await body()
            report(key, .finished(response.layer))
            return response
        } catch is CancellationError {
            report(key, .cancelled)
            throw CancellationError()
        } catch {
            let isMiss = phase == .cached && (error as? PipelineError)?.code == .notInCache
            if !isMiss { report(key, .failed(error)) }
            throw error
        }
    }
}
