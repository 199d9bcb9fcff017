import AlcedoCore
import AlcedoRuntime
import FoundationEssentials
import Synchronization

/// The stage that makes the images of requests. Each size is decoded once for all requests that need it. The processors
/// of a request run one after another in one job, and begin with the longest prefix whose image is still held, or else
/// is on disk. The prefixes that lack at most the last 16 processors are looked up.
struct ProcessStage: Sendable {
    /// The maximum number of prefixes of a chain of processors that are looked up.
    private static let prefixLimit = 16

    private let decode: DecodeStage
    private let color: ColorStage
    private let memory: MemoryStage
    private let recent: RecentImages
    private let processedImages: ProcessedImageStore
    private let threads: DecodingThreads
    private let waits: ProviderWaits
    private let decodes: Coalescer<StepKey, LoadUpdate, LoadedImage>

    init(
        decode: DecodeStage, color: ColorStage, memory: MemoryStage, recent: RecentImages,
        processedImages: ProcessedImageStore, threads: DecodingThreads, waits: ProviderWaits
    ) {
        self.decode = decode
        self.color = color
        self.memory = memory
        self.recent = recent
        self.processedImages = processedImages
        self.threads = threads
        self.waits = waits
        decodes = Coalescer(taskExecutor: threads.taskExecutor)
    }

    /// Returns the image of a request. Throws ``PipelineError`` or `CancellationError`.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - readsDisk: Whether the image after the first processors may be on disk, because the request's policy stores
    ///     processed images there. Default: false.
    ///   - priority: The priority of the work.
    ///   - update: A closure that receives progress and previews.
    func image(
        _ request: ImageRequest, readsDisk: Bool = false, _ priority: PriorityHandle,
        _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> LoadedImage {
        let generation = recent.generation(request)
        if let (loaded, count) = await longestHeldPrefix(request) {
            return try await process(loaded, after: count, request, priority, since: generation)
        }
        if readsDisk, let (loaded, count) = try await longestStoredPrefix(request, priority) {
            // No image between two processors is held: requests that read none from disk expect that of the original
            // bytes, which does not have the loss of a stored one.
            return try await process(loaded, after: count, request, priority, since: nil)
        }
        let previews = ProcessedPreviews(request.processors, threads: threads) { update(.preview($0)) }
        let decoded = try await decoded(request, priority) { event in
            if case .preview(let preview) = event { previews.take(preview) } else { update(event) }
        }
        let begun = generation.joining(decoded.original?.generation)
        return try await process(
            consume decoded, after: request.fusedStepCount, request, priority, since: begun)
    }

    /// Makes the image of a request from bytes that are already loaded. Throws ``PipelineError`` or
    /// `CancellationError`.
    func remake(_ request: ImageRequest, of original: Original, _ priority: PriorityHandle) async throws -> LoadedImage
    {
        let count = request.fusedStepCount
        let key = StepKey(request, stepCount: count, of: original.data.digest)
        let decoded = try await decodes.value(for: key, within: priority.task, priority: priority.level) {
            _, level, _ in
            try await decode.decode(original, for: request, PriorityHandle(level: level))
        }
        return try await process(decoded, after: count, request, priority, since: nil)
    }

    /// Releases the intermediate images of a resource.
    func forget(_ resource: ResourceKey) { recent.removeResource(resource) }

    /// Releases all intermediate images.
    func forgetAll() { recent.removeAll() }

    func shutDown() async {
        await decodes.shutDown(throwing: PipelineError.shutDown)
        recent.removeAll()
    }

    /// Returns the numbers of processors of the proper prefixes to look up, the longest first. A key has the
    /// identifiers of all its processors, so the look-up of every prefix of a long chain would take quadratic time.
    private static func prefixes(of request: ImageRequest) -> some Sequence<Int> {
        (max(0, request.processors.count - prefixLimit)..<request.processors.count).reversed()
    }

    /// Returns the image of the longest proper prefix of a request's processors that is held, with the number of
    /// processors, and nil when none is. The caller looks up the image after all processors.
    private func longestHeldPrefix(_ request: ImageRequest) async -> (LoadedImage, count: Int)? {
        for count in Self.prefixes(of: request) {
            if let loaded = await held(request, steps: count, isRepeated: false) { return (loaded, count) }
        }
        return nil
    }

    /// Returns the image of the longest proper prefix of a request's processors that is on disk, and was made from the
    /// newest bytes, with the number of processors. Returns nil when none is.
    ///
    /// - Throws: `CancellationError` only.
    private func longestStoredPrefix(
        _ request: ImageRequest, _ priority: PriorityHandle
    ) async throws -> (LoadedImage, count: Int)? {
        guard request.cachePolicy.disk.reads else { return nil }
        for count in Self.prefixes(of: request) {
            let earlier = request.afterProcessors(count)
            // The image of no processor is the original, which is decoded, unless the request has a size or the like.
            guard earlier.isProcessed else { continue }
            let loaded = try await processedImages.imageIfStored(
                earlier, madeOf: { await decode.newestDigests(of: request) }, priority)
            if let loaded { return (loaded, count) }
        }
        return nil
    }

    /// Returns the image after the first processors of a request, if it is held and was made from the newest bytes.
    /// `isRepeated` has the same meaning as in ``MemoryStage/image(_:isRepeated:)``.
    private func held(_ request: ImageRequest, steps count: Int, isRepeated: Bool) async -> LoadedImage? {
        if let loaded = memory.intermediate(request, steps: count, isRepeated: isRepeated),
            await decode.isCurrent(loaded.origin, request)
        {
            return loaded
        }
        guard let loaded = recent.image(StepKey(request, stepCount: count), request),
            await decode.isCurrent(loaded.origin, request)
        else { return nil }
        return loaded
    }

    /// Returns the decoded image, after the first processor if it takes the rows of the decoder.
    private func decoded(
        _ request: ImageRequest, _ priority: PriorityHandle, _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> LoadedImage {
        let count = request.fusedStepCount
        let key = StepKey(request, stepCount: count)
        let isIntermediate = count < request.processors.count
        return try await decodes.value(
            for: key, from: request.workSource, within: priority.task, priority: priority.level, onUpdate: update
        ) { update, level, task in
            let priority = PriorityHandle(level: level, in: task)
            // An equal decode may have ended after the lookup and before this one began.
            if isIntermediate, let loaded = await held(request, steps: count, isRepeated: true) { return loaded }
            let generation = isIntermediate ? recent.generation(request) : nil
            let loaded: LoadedImage
            switch request.source {
            case .image(let image, _): loaded = try await converted(image, request, priority)
            case .imageProvider(let identity, let provide):
                loaded = try await provided(identity, request, priority, provide)
            case .http, .file, .dataURL, .bytes, .provider, .url:
                loaded = try await decode.load(request, priority, update)
            }
            recent.remember(
                loaded, for: key, request, since: generation.joining(loaded.original?.generation))
            return loaded
        }
    }

    /// Returns the image of an `.imageProvider` source in the color space of its request.
    private func provided(
        _ identity: String, _ request: ImageRequest, _ priority: PriorityHandle,
        _ provide: @Sendable () async throws -> DecodedImage
    ) async throws -> LoadedImage {
        guard request.cachePolicy.allowsNetwork else { throw DownloadStage.notInCache(nil) }
        let image: DecodedImage
        do {
            image = try await LoadSpan.run(.download) {
                try await waits.image(of: request, from: identity, provide)
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw PipelineError.provider(identity, error)
        }
        return try await converted(image, request, priority)
    }

    /// Returns the image of a source without encoded bytes in the color space of its request.
    private func converted(
        _ image: DecodedImage, _ request: ImageRequest, _ priority: PriorityHandle
    ) async throws -> LoadedImage {
        let origin = LoadedImage.Origin(digest: nil, allowsStoring: true)
        var loaded = LoadedImage(image: image, layer: .local, origin: origin)
        guard color.mayConvert(image, for: request) else { return loaded }
        loaded.image = try await threads.run(priority: priority) {
            var image = image
            color.convert(&image, for: request)
            return image
        }
        return loaded
    }

    /// Applies the processors of a request after the first `count` in one job, and holds the images between them.
    private func process(
        _ loaded: consuming LoadedImage, after count: Int, _ request: ImageRequest, _ priority: PriorityHandle,
        since generation: Generation?
    ) async throws -> LoadedImage {
        guard count < request.processors.count else { return loaded }
        let header = loaded.image.rowHeader
        let chain = ProcessorChain(input: loaded)
        return try await withTaskCancellationHandler {
            try await threads.process(header, by: request.processors.dropFirst(count), priority: priority) {
                var loaded = try chain.takeInput()
                var identifiers: [String]?
                for (index, processor) in request.processors.enumerated().dropFirst(count) {
                    if index > count {
                        try chain.checkCancellation()
                        identifiers = identifiers ?? request.processors.map(\.identifier)
                        let key = StepKey(request, stepCount: index, identifiers: identifiers)
                        recent.remember(loaded, for: key, request, since: generation)
                    }
                    loaded.image = try decode.process(loaded.image, by: processor, for: request)
                }
                return loaded
            }
        } onCancel: {
            chain.cancel()
        }
    }
}

/// The processors of one load, which run in one job.
private final class ProcessorChain: Sendable {
    private let input: Locked<LoadedImage?>
    private let isCanceled = Atomic(false)

    init(input: LoadedImage) { self.input = Locked(input) }

    /// Returns the image before the first processor, once. It is released when the first processor has ended, because
    /// nothing else of the load holds it.
    func takeInput() throws(CancellationError) -> LoadedImage {
        guard let input = input.withLock({ $0.take() }) else { throw CancellationError() }
        return input
    }

    func cancel() { isCanceled.store(true, ordering: .relaxed) }

    func checkCancellation() throws(CancellationError) {
        if isCanceled.load(ordering: .relaxed) { throw CancellationError() }
    }
}

extension ImageRequest {
    /// Returns the request for the image after the first processors. The scale is that of the finished image.
    func afterProcessors(_ count: Int) -> ImageRequest {
        var earlier = self
        earlier.processors.removeLast(processors.count - count)
        earlier.scale = 1
        return earlier
    }

    /// The number of processors that are applied while the image is decoded: one if the first has a derived target.
    fileprivate var fusedStepCount: Int {
        switch source {
        case .image, .imageProvider: 0
        case .http, .file, .dataURL, .bytes, .provider, .url: derivedTarget == nil ? 0 : 1
        }
    }
}

extension ImageProcessing {
    /// Processes an image, and corrects properties of the result that a processor may have copied by mistake or left
    /// unset.
    func consistentResult(for image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        var result = try process(image)
        // The reduction was meant for this processor. Frames of another size belong to another image. The result of a
        // damaged image is damaged, even if the processor does not say so.
        result.reduction = nil
        if result.frames?.canvasSize != result.size { result.frames = nil }
        result.damage = .worst(result.damage, image.damage)
        return result
    }
}

/// A processor of previews, one at a time. Previews that arrive in the meantime are skipped.
private final class ProcessedPreviews: Sendable {
    private let processors: [any ImageProcessing]
    private let threads: DecodingThreads
    private let show: @Sendable (ImagePreview) -> Void
    private let isBusy = Locked(false)

    init(
        _ processors: [any ImageProcessing], threads: DecodingThreads, show: @escaping @Sendable (ImagePreview) -> Void
    ) {
        self.processors = processors
        self.threads = threads
        self.show = show
    }

    /// Processes a preview and shows it. Does not block.
    func take(_ preview: ImagePreview) {
        guard !processors.isEmpty else { return show(preview) }
        let isFree = isBusy.withLock { isBusy in
            defer { isBusy = true }
            return !isBusy
        }
        guard isFree else { return }
        Task(executorPreference: threads.taskExecutor) { [self] in
            // An error of a processor is ignored here; the whole image reports it.
            let processed = try? await threads.run(priority: PriorityHandle(.low)) { [processors] in
                var processed = preview
                for processor in processors {
                    processed.image = try processor.consistentResult(for: processed.image)
                }
                return processed
            }
            isBusy.withLock { $0 = false }
            if let processed { show(processed) }
        }
    }
}
