// The path of an image. Each stage is a file in the directory Stages; types that several stages use are in Shared.
//
//   ImageRequest ─► ImagePipeline ─► interceptors ─►
//     1 MemoryStage      MemoryCaching      the finished image, synchronous
//     2 DiskStage        DataCaching        encoded bytes: the processed image, or the original
//     3 DownloadStage    Downloading        the original, one download per resource
//     4 DecodeStage      CodecRegistry      one decode per size, on threads of the pipeline, within a budget of bytes
//     5 ColorStage       ColorConverting    the color space of the request
//     6 ProcessStage     ImageProcessing    one job for the processors of a request
//     7 StoreStage       the caches         memory at once, disk in the background
//   ─► ImageResponse
//
// A stage that finds the image or its bytes skips the stages that would make them.
// Modules/Standard/Documentation.docc/Architecture.md follows one load through all files.

public import AlcedoCore
import AlcedoHTTP
package import AlcedoRuntime
public import FoundationEssentials
import Synchronization

/// A pipeline that loads images through caches, download, decoding and processing, and stores the results in caches.
///
/// ```swift
/// let pipeline = ImagePipeline.standard()
/// let image = try await pipeline.image(for: url)
/// ```
///
/// Keep the pipeline, because it owns its caches. Requests that send the same HTTP request share one download, and the
/// decode of each size. A request begins with the longest prefix of its processors whose image is still held, or else
/// is on disk, and was made of the newest known bytes; only prefixes without at most the last 16 processors are looked
/// up. Canceling a task ends its own wait, and the load ends when no caller waits for it. Concurrent decodes share one
/// budget of bytes.
///
/// Bytes are stored on disk only after they were decoded to a whole image, by ``data(for:)`` and by prefetching to disk
/// after their header was decoded, and never if the server forbids it. A partial image is never cached.
///
/// Errors are ``PipelineError``, an interceptor's own error, or `CancellationError`. The page of the module has the
/// rules for shared work, and "Caching explained" of the module `Alcedo` those for responses that are no image.
public final class ImagePipeline: ImageLoading {
    let configuration: Configuration
    let report: Reporter
    let memory: MemoryStage
    let disk: DiskStage
    let processedImages: ProcessedImageStore
    let download: DownloadStage
    let decode: DecodeStage
    let process: ProcessStage
    let store: StoreStage
    let threads: DecodingThreads
    /// The generations of resources. A removal, or a store by the app, prevents earlier loads from writing to the
    /// caches.
    let generations: GenerationCounter
    /// The last change of each resource by which its responses began to vary by other fields.
    private let variations = Locked(RecentTable<ResourceKey, Variation>(limit: 256))
    let waits = ProviderWaits()
    let versions: FileVersions
    let resolver: RequestResolver
    private let loads: Coalescer<LoadKey, LoadUpdate, ImageResponse>
    /// The tasks of ``imageTask(with:onUpdate:onResult:)`` that have not ended.
    private let tasks = Locked<[ImageTask.ID: ImageTask]>([:])
    private let shutDownFlag = Atomic(false)

    /// Creates a pipeline. Starts no work.
    public init(_ configuration: Configuration) {
        var configuration = configuration
        report = Reporter(
            observers: configuration.observers, tracers: configuration.tracers, clock: configuration.clock)
        if !configuration.tracers.isEmpty { configuration.interceptors.insert(LoadTracer(report: report), at: 0) }
        self.configuration = configuration
        let (codecs, taskExecutor) = (configuration.codecs, configuration.taskExecutor)
        generations = GenerationCounter(taskExecutor: taskExecutor)
        versions = FileVersions(taskExecutor: taskExecutor)
        resolver = RequestResolver(downloader: configuration.downloader, versions: versions)
        loads = Coalescer(taskExecutor: taskExecutor)
        let unusable = UnusableResponses(clock: configuration.clock)
        memory = MemoryStage(
            configuration.memoryCache, generations: generations, unusable: unusable,
            history: report.isObserved ? MemoryHistory(clock: configuration.clock) : nil)
        let encodedBudget = EncodedByteBudget(
            limit: configuration.maximumEncodedByteCount, turns: configuration.decodingTurns)
        disk = DiskStage(
            configuration.diskCache, originals: configuration.originalDiskCache, generations: generations,
            writes: DiskWriteQueue(
                limit: configuration.maximumPendingWriteByteCount, timeout: configuration.writeTimeout,
                clock: configuration.clock, taskExecutor: taskExecutor),
            report: report)
        download = DownloadStage(
            downloader: configuration.downloader, disk: disk, generations: generations, encodedBudget: encodedBudget,
            waits: waits, versions: versions, resolver: resolver, unusable: unusable, report: report,
            taskExecutor: taskExecutor)
        threads = DecodingThreads(
            codecs: codecs, maxConcurrentDecodes: configuration.maxConcurrentDecodes,
            byteBudget: configuration.maximumDecodingByteCount, turns: configuration.decodingTurns,
            asyncDeadline: configuration.asyncCodecTimeout.map { AsyncCodecDeadline($0, clock: configuration.clock) },
            taskExecutor: taskExecutor)
        let color = ColorStage(configuration.colorConverter, report: report)
        processedImages = ProcessedImageStore(
            disk: disk, serializer: configuration.serializer, codecs: codecs, color: color, threads: threads,
            encodedBudget: encodedBudget, report: report)
        let recent = RecentImages(
            limit: configuration.memoryCache == nil ? 0 : configuration.intermediateByteLimit,
            generations: generations)
        decode = DecodeStage(
            download: download, codecs: codecs, color: color, threads: threads,
            previewInterval: configuration.previewInterval, report: report)
        process = ProcessStage(
            decode: decode, color: color, memory: memory, recent: recent, processedImages: processedImages,
            threads: threads, waits: waits)
        store = StoreStage(
            memory: memory, disk: disk, processedImages: processedImages, download: download, versions: versions,
            policy: configuration.dataCachePolicy)
    }

    /// The budget of decodes and encodes, for work outside of the pipeline that shares it, and its limit.
    package var decodingBudget: (bytes: ByteBudget, limit: Int) { (threads.budget, threads.limit) }

    // MARK: Loading

    /// Returns the finished image from memory. Returns nil when memory does not have it, when the request's cache
    /// policy forbids reading memory, and after ``shutDown()``. Interceptors are not called.
    ///
    /// ```swift
    /// if let image = pipeline.cachedImage(for: request) { show(image) }
    /// ```
    ///
    /// Also returns nil when the request or the downloader has a modifier and the request has no
    /// ``/AlcedoCore/ImageRequest/additionalIdentifier``, because only the changed request tells whose image it is.
    ///
    /// Synchronous. Costs a lookup in the memory cache, and one `stat` call for a local file
    /// (``/AlcedoCore/ImageRequest/tracksFileChanges``). If the default fields of the downloader have credentials, each
    /// call computes the key. A request that accepts a larger image
    /// (``/AlcedoCore/ImageRequest/acceptsLargerCachedImage``) may cost up to nine further lookups.
    public func cachedImage(for request: ImageRequest) -> DecodedImage? {
        guard !isShutDown else { return nil }
        if resolver.isComplete(request) { return memory.image(request) }
        return resolver.resolveNow(request).flatMap { memory.image($0) }
    }

    /// Loads the image of a request, through the interceptors.
    ///
    /// ```swift
    /// let response = try await pipeline.load(request, priority: PriorityHandle(.low)) { update in
    ///     if case .preview(let preview) = update { show(preview.image) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - request: The image to load.
    ///   - priority: The priority of the load, which can change during the load. It replaces the priority of the
    ///     request.
    ///   - onUpdate: A closure that receives progress, previews and the cached image. It is called on any thread and
    ///     must not block. A last call may come after the load has ended.
    /// - Throws: ``PipelineError``, an interceptor's own error, or `CancellationError`.
    public func load(
        _ request: ImageRequest, priority: PriorityHandle, onUpdate: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        try await configuration.interceptors.load(request) { request in
            if request.alternativeSources.isEmpty { return try await loadSource(of: request, priority, onUpdate) }
            return try await firstSuccess(request) { request, index in
                guard let index else { return try await loadSource(of: request, priority, onUpdate) }
                var response = try await loadSource(of: request, priority) { onUpdate($0.ofAlternative(index)) }
                response.alternativeIndex = index
                return response
            }
        }
    }

    /// Starts a load, and returns a task that follows and controls it.
    ///
    /// ```swift
    /// let task = pipeline.imageTask(with: request, onResult: { show($0) })
    /// ```
    ///
    /// The closures are called on the main actor. To receive the updates and the result on another actor, iterate
    /// ``ImageTask/progress`` and ``ImageTask/previews``, and await ``ImageTask/response``. To receive the updates on
    /// the threads where they happen, call ``load(_:priority:onUpdate:)``.
    ///
    /// - Parameters:
    ///   - request: The image to load.
    ///   - onUpdate: A closure that receives progress, previews and the cached image, in order. Consecutive progress
    ///     updates that wait for the main actor are replaced by the latest; so are consecutive previews. Default: none.
    ///   - onResult: A closure that receives the image or the error once, after all updates. Default: none.
    @discardableResult
    public func imageTask(
        with request: ImageRequest, onUpdate: (@MainActor @Sendable (LoadUpdate) -> Void)? = nil,
        onResult: (@MainActor @Sendable (Result<ImageResponse, any Error>) -> Void)? = nil
    ) -> ImageTask {
        guard onUpdate != nil || onResult != nil else { return startTask(request, onEvent: nil) }
        return startTask(request, on: { work in Task { @MainActor in work() } }) { event in
            MainActor.assumeIsolated {
                switch event {
                case .update(let update): onUpdate?(update)
                case .finished(let result): onResult?(result)
                }
            }
        }
    }

    /// Starts a load of the image at `url` at full size, without processing.
    public func imageTask(with url: URL) -> ImageTask { imageTask(with: ImageRequest(url: url)) }

    /// Starts a load. `onEvent` receives the events through `executor`; by default, on the threads where they happen.
    @discardableResult
    package func startTask(
        _ request: ImageRequest, on executor: @escaping ImageTask.CallbackExecutor = { $0() },
        onEvent: (@Sendable (ImageTask.Event) -> Void)?
    ) -> ImageTask {
        let task = ImageTask(request, on: executor, onEvent: onEvent)
        tasks.withLock { $0[task.id] = task }
        task.start(on: configuration.taskExecutor) { priority, update in
            defer { self.tasks.withLock { _ = $0.removeValue(forKey: task.id) } }
            return try await self.load(request, priority: priority, onUpdate: update)
        }
        return task
    }

    // MARK: Ending

    /// Cancels all loads of the image at a URL, at every size and with every processor.
    ///
    /// ```swift
    /// pipeline.cancelLoads(of: url)
    /// ```
    ///
    /// Cancels every ``ImageTask`` whose request has the URL. Also cancels the calls of `load`, `data(for:)` and their
    /// conveniences that wait for the URL, including those of views and prefetchers. The callers receive
    /// `CancellationError`.
    ///
    /// Later loads are not affected, nor are these:
    ///
    /// - requests for another URL with the same ``/AlcedoCore/ImageRequest/resource``, which continue to share the load
    /// - calls whose interceptor or modifier still runs, unless they belong to an ``ImageTask``
    /// - requests that a prefetcher has not begun
    ///
    /// The fragment of the URL and the header fields of requests do not count. An alternative source of a request
    /// counts while it is loaded. If a modifier has changed the URL of a call, the changed URL counts.
    public func cancelLoads(of url: URL) {
        let source = ImageSource(url)
        let canceled = tasks.withLock { $0.values.filter { $0.request.source.hasSameURL(as: source) } }
        for task in canceled { task.cancel() }
        loads.cancel(source)
        download.cancel(source)
    }

    /// The number of calls that wait and that ``cancelLoads(of:)`` can cancel.
    package var cancelableCount: Int { loads.cancelableCount + download.cancelableCount }

    /// Waits for all pending writes to the disk cache, each for at most ``Configuration/writeTimeout``.
    public func flush() async { await disk.flush() }

    /// Ends every load with ``PipelineError`` `shutDown`. Later loads fail with the same error.
    ///
    /// Returns when all work has ended, after waiting for the pending writes as ``flush()`` does.
    public func shutDown() async {
        shutDownFlag.store(true, ordering: .sequentiallyConsistent)
        await loads.shutDown(throwing: PipelineError.shutDown)
        await process.shutDown()
        await download.shutDown()
        await disk.flush()
    }

    /// Whether ``shutDown()`` was called.
    var isShutDown: Bool { shutDownFlag.load(ordering: .sequentiallyConsistent) }

    // MARK: Sources

    /// Calls `load` with a request, and after an error with each of its alternatives, until one call succeeds. Each
    /// call also receives the index of the alternative; nil for the request itself.
    ///
    /// - Throws: The error of the request, with those of the alternatives; the first error with the code `shutDown` or
    ///   `notStored`; `CancellationError`.
    func firstSuccess<Value: Sendable>(
        _ request: ImageRequest, _ load: (_ request: ImageRequest, _ index: Int?) async throws -> Value
    ) async throws -> Value {
        do {
            return try await load(request, nil)
        } catch var failure as PipelineError where failure.mayHaveAlternative {
            for (index, source) in request.alternativeSources.enumerated() {
                // The source may have failed although the caller has canceled the load.
                try Task.checkCancellation()
                let alternative = request.replacingSource(with: source)
                report(request.key, .alternative(alternative.key))
                do {
                    return try await load(alternative, index)
                } catch let error as PipelineError where error.mayHaveAlternative {
                    failure.alternativeErrors.append(error)
                }
            }
            throw failure
        }
    }

    private func loadSource(
        of request: ImageRequest, _ priority: PriorityHandle, _ onUpdate: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        do {
            let request = resolver.isComplete(request) ? request : try await resolved(request)
            guard request.showsCachedFirst else { return try await share(request, priority, onUpdate) }
            return try await refresh(request, priority, onUpdate)
        } catch let error as PipelineError {
            throw error.naming(request.source)
        }
    }

    // MARK: One load

    /// Returns the request with complete keys.
    ///
    /// - Throws: ``PipelineError``, or `CancellationError`.
    func resolved(_ request: ImageRequest) async throws -> ImageRequest {
        guard !isShutDown else { throw PipelineError.shutDown }
        do {
            if resolver.isComplete(request) { return request }
            return try await LoadSpan.run(.resolve) { try await resolver.resolve(request) }
        } catch let error as PipelineError {
            report(request.key, .failed(error))
            throw error
        }
    }

    /// Returns the image from memory, or from the load that all equal requests share.
    private func share(
        _ request: ImageRequest, in phase: LoadKey.Phase = .single, _ priority: PriorityHandle,
        _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        guard !isShutDown else { throw PipelineError.shutDown }
        let key = request.key
        let lookup = report.begin(.memoryLookup, key)
        if let image = memory.image(request) {
            lookup?.end(.success)
            report(key, .memoryHit)
            return ImageResponse(image: image, layer: .memory)
        }
        if report.isObserved {
            let reason = memory.missReason(request)
            lookup?.end(.miss(reason))
            report(key, .memoryMiss(reason))
        }
        let request = resolver.sending(request)
        let wait = try waits.begin(request)
        defer { wait?.end() }
        let loadKey = LoadKey(request, key: key, phase: phase)
        // A closure that returns an image may block its thread, and must not hold up a caller that is canceled.
        let isImmediate = if case .imageProvider = request.source { false } else { true }
        let span = report.current
        return try await loads.value(
            for: loadKey, from: request.workSource, isCancelable: true, priority: priority.level, onUpdate: update,
            isImmediate: isImmediate
        ) { update, level, task in
            let priority = PriorityHandle(level: level, in: task)
            return try await self.reporting(key, phase, in: span) { try await self.run(request, priority, update) }
        }
    }

    private func run(
        _ request: ImageRequest, _ priority: PriorityHandle, _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        // An equal load may have ended after the caller's memory lookup and before this load began.
        if let image = memory.image(request, isRepeated: true) { return ImageResponse(image: image, layer: .memory) }
        let generation = generations.current(request.key.resource)
        let request = resolver.varyingNow(request)
        let keepsVariants = store.policy(for: request).keepsVariants && request.isVariant
        if keepsVariants, let loaded = try await processedImages.image(request, priority) {
            return await store.keepInMemory(loaded, request, since: generation)
        }
        let loaded: LoadedImage
        do {
            loaded = try await process.image(request, readsDisk: keepsVariants, priority, update)
        } catch let marker as VaryMarker {
            // The disk has the image under another key.
            return try await run(resolver.learning(marker, request), priority, update)
        } catch let error where PipelineError.isOfSource(error) {
            guard let image = memory.damagedImage(request) else { throw error }
            return ImageResponse(image: image, layer: .memory)
        }
        return await keep(loaded, request, since: generation.joining(loaded.original?.generation))
    }

    /// Stores a loaded image under the keys that its response specifies. Returns the response.
    private func keep(
        _ loaded: LoadedImage, _ request: ImageRequest, since generation: Generation?
    ) async -> ImageResponse {
        guard let origin = loaded.origin else { return await store.keep(loaded, request, since: generation) }
        // An image that was decoded for another load may be stored before that load has recorded the response.
        let isShared = loaded.layer == .memory
        let (request, generation) = varying(
            request, by: origin.varyingFields, from: isShared ? loaded.original?.layer ?? .memory : loaded.layer,
            isShared: isShared, at: origin.requestedAt, since: generation)
        return await store.keep(loaded, request, since: generation)
    }

    /// Returns the request with the keys of a response that varies by some fields, and the generation for the store. A
    /// response from the network is recorded. If it varies by other fields than the earlier ones, everything that is
    /// stored for the resource is removed first, and earlier loads store nothing. Only those whose response varies in
    /// the same way still do. A response of another load, whose image was shared, may be older than what is stored, and
    /// removes nothing then. An image from memory or disk keeps the keys under which it was found.
    func varying(
        _ request: ImageRequest, by fields: VaryingFields, from layer: ImageResponse.Layer, isShared: Bool = false,
        at start: Duration, since generation: Generation?
    ) -> (ImageRequest, Generation?) {
        guard layer == .network else { return (fields == .none ? request : request.varying(by: fields), generation) }
        let resource = request.key.resource
        // Under the lock, so that loads that share the response find the change.
        let current = variations.withLock { variations -> Generation? in
            let isCurrent = generation.map { generations.isUnchanged(resource, since: $0) } ?? false
            let known = resolver.names[resource]
            let last = variations[resource]
            // The response may be older than that of another load, by which the resource varies.
            let isOlder = !isCurrent || last.map { start < $0.time } ?? false
            if isOlder, known ?? VaryingFields.none != fields, fields == .none || isShared { return nil }
            if resolver.names.record(fields, of: resource) {
                let step = generations.advance(of: resource) { memory.removeResource(resource) }
                process.forget(resource)
                disk.removeSoon(unvaried: request, unless: fields)
                variations.set(Variation(fields: fields, step: step, time: report.clock.uptime), for: resource)
                return step.carrying(generation)
            }
            if isCurrent { return generation }
            return last?.fields == fields ? last?.step.carrying(generation) : nil
        }
        return (request.varying(by: fields), current)
    }

    /// Loads a request that shows the cached image first: reports the cached image, then loads the image from the
    /// source.
    private func refresh(
        _ request: ImageRequest, _ priority: PriorityHandle, _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        guard request.cachePolicy.allowsNetwork, request.source.isWorthStoring else {
            // No newer image can be loaded, so one lookup is enough.
            let response = try await share(request, priority, update)
            if response.layer != .network { update(.cached(response)) }
            return response
        }
        var cacheRequest = request
        cacheRequest.cachePolicy.allowsNetwork = false
        cacheRequest.cachePolicy.response = .none
        var cached: ImageResponse?
        do {
            cached = try await share(cacheRequest, in: .cached, priority) { _ in }
        } catch let error as PipelineError where error.code != .shutDown {
            cached = nil
        }
        // The lookup may have learned from the disk that the resource varies.
        let request = resolver.varying(request)
        // The digest of the image that is shown. It is read now, because other loads may decode newer bytes before the
        // source responds.
        let digest = cached.flatMap { sourceDigest(of: $0, request) }
        if let cached { update(.cached(cached)) }
        var sourceRequest = resolver.sending(request)
        sourceRequest.cachePolicy.memory.reads = false
        sourceRequest.cachePolicy.disk.reads = false
        sourceRequest.cachePolicy.protocolPolicy = .reloadRevalidatingCacheData
        let (key, span) = (sourceRequest.key, report.current)
        do {
            let wait = try waits.begin(sourceRequest)
            defer { wait?.end() }
            return try await loads.value(
                for: LoadKey(sourceRequest, key: key, phase: .refresh), from: sourceRequest.workSource,
                isCancelable: true, priority: priority.level, onUpdate: update
            ) { [sourceRequest, cached] update, level, task in
                try await self.reporting(key, .refresh, in: span) {
                    try await self.renew(
                        cached, madeOf: digest, sourceRequest, PriorityHandle(level: level, in: task), update)
                }
            }
        } catch let error as PipelineError {
            // Observers receive the error. The caller keeps the cached image, whether the network sends an error,
            // nothing, or bytes that are not an image.
            guard let cached, PipelineError.isOfSource(error) else { throw error }
            return cached
        }
    }

    /// Returns the digest of the bytes from which a cached image was made; nil if it is not known.
    private func sourceDigest(of cached: ImageResponse, _ request: ImageRequest) -> UInt64? {
        guard cached.sourceDigest == nil, cached.layer == .memory else { return cached.sourceDigest }
        return memory.digest(of: request.key) ?? decode.digest(of: request)
    }

    /// Loads the image from the source and stores it. If it replaces a cached image, all images of the resource, and
    /// its bytes, are removed from memory and disk before the store. Returns the cached image instead when it was made
    /// from equal bytes, or when the new bytes decode only to a partial image. Stores no image with wrong pixels.
    private func renew(
        _ cached: ImageResponse?, madeOf digest: UInt64?, _ request: ImageRequest, _ priority: PriorityHandle,
        _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        let resource = request.key.resource
        var generation = generations.current(resource)
        guard let cached else {
            // Previews are useful here, because no cached image is shown.
            let loaded = try await process.image(request, priority, update)
            return await keep(loaded, request, since: generation.joining(loaded.original?.generation))
        }
        let original = try await download.load(request, priority) { event in
            if case .progress(let progress) = event { update(.progress(progress)) }
        }
        generation = generation.joining(original.generation)
        let isSameVariance = original.varyingFields == request.variance?.fields ?? .none
        if digest == original.data.digest, isSameVariance {
            var cached = cached
            cached.data = original.data(for: request)
            return cached
        }
        let loaded: LoadedImage
        do {
            loaded = try await process.remake(request, of: original, priority)
        } catch let error as PipelineError {
            // The cached image is shown, so the next refresh is soon enough for another response.
            _ = try await decode.rejects(original, after: error, of: request, priority)
            throw error
        }
        // An image with damaged pixels replaces no other one in the caches, because the source may be mended soon.
        if let damage = loaded.image.damage, !loaded.image.isIntact {
            _ = download.reject(original, of: request, after: damage.error.code, isImage: true)
            return loaded.image.isPartial ? cached : await keep(loaded, request, since: nil)
        }
        download.accept(original, of: request)
        if let before = generation, generations.isUnchanged(resource, since: before) {
            // Other sizes of the old image are outdated, too.
            generation = await forget(resource)
        }
        return await keep(loaded, request, since: generation)
    }

    /// Removes all images of a resource, and its bytes, from memory and disk. Returns the generation after the removal,
    /// or nil while another change of the resource is in progress.
    private func forget(_ resource: ResourceKey) async -> Generation? {
        let generation = generations.advance(of: resource) { memory.removeResource(resource) }.after
        process.forget(resource)
        await disk.removeResource(resource)
        return generation
    }

    /// Runs the shared work of a load in the span of the caller that provides it, and reports its end.
    private func reporting(
        _ key: ImageKey, _ phase: LoadKey.Phase, in span: ActiveSpan?, _ body: () async throws -> ImageResponse
    ) async throws -> ImageResponse {
        do {
            // After a failure for another caller only, this task still has the span of that caller.
            let response =
                span === report.current
                ? try await body() : try await ActiveSpan.$current.withValue(span, operation: body)
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

extension LoadUpdate {
    /// Returns the update of the load of an alternative source.
    fileprivate func ofAlternative(_ index: Int) -> LoadUpdate {
        guard case .cached(var response) = self else { return self }
        response.alternativeIndex = index
        return .cached(response)
    }
}
