import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The stage that makes the images of requests. Each size is decoded once and each processor runs once for all requests
/// that need the result.
struct ProcessStage: Sendable {
    private let decode: DecodeStage
    private let color: ColorStage
    private let memory: MemoryStage
    private let recent: RecentImages
    private let threads: DecodingThreads
    private let report: Reporter
    private let steps: Coalescer<StepKey, LoadUpdate, LoadedImage>

    init(
        decode: DecodeStage, color: ColorStage, memory: MemoryStage, recent: RecentImages, threads: DecodingThreads,
        report: Reporter
    ) {
        self.decode = decode
        self.color = color
        self.memory = memory
        self.recent = recent
        self.threads = threads
        steps = Coalescer(taskExecutor: threads.taskExecutor, isOfSource: PipelineError.isOfSource)
        self.report = report
    }

    /// Returns the image of a request. Throws ``PipelineError`` or `CancellationError`.
    func image(
        _ request: ImageRequest, _ priority: PriorityHandle, _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> LoadedImage {
        let previews = ProcessedPreviews(request.processors, threads: threads) { update(.preview($0)) }
        return try await step(request.processors.count, of: request, priority) { event in
            if case .preview(let preview) = event { previews.take(preview) } else { update(event) }
        }
    }

    /// Makes the image of a request from bytes that are already loaded. Throws ``PipelineError`` or
    /// `CancellationError`.
    func remake(_ request: ImageRequest, of original: Original, _ priority: PriorityHandle) async throws -> LoadedImage
    {
        try await remakeStep(request.processors.count, of: request, from: original, original.data.digest, priority)
    }

    private func remakeStep(
        _ count: Int, of request: ImageRequest, from original: Original, _ digest: UInt64, _ priority: PriorityHandle
    ) async throws -> LoadedImage {
        let key = StepKey(request, stepCount: count, of: digest)
        return try await steps.value(for: key, priority: priority) { _, priority in
            guard count > request.fusedStepCount else {
                return try await self.decode.decode(original, for: request, priority)
            }
            let before = try await self.remakeStep(count - 1, of: request, from: original, digest, priority)
            return try await self.process(before, request.processors[count - 1], request, priority)
        }
    }

    /// Releases the intermediate images of a resource.
    func forget(_ resource: ResourceKey) { recent.removeResource(resource) }

    /// Releases all intermediate images.
    func forgetAll() { recent.removeAll() }

    func shutDown() async {
        await steps.shutDown(throwing: PipelineError.shutDown)
        recent.removeAll()
    }

    /// Returns the image after the first processors of a request.
    ///
    /// - Parameters:
    ///   - count: The number of processors to apply. Zero returns the decoded image.
    ///   - request: The request.
    ///   - priority: The priority of the work.
    ///   - update: A closure that receives progress and previews.
    private func step(
        _ count: Int, of request: ImageRequest, _ priority: PriorityHandle,
        _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> LoadedImage {
        let key = StepKey(request, stepCount: count)
        // The caller looks up and stores the image of the last step.
        let isIntermediate = count < request.processors.count
        if isIntermediate, let loaded = heldStep(key, request, steps: count, isRepeated: false) { return loaded }
        return try await steps.value(for: key, from: request, priority: priority, onUpdate: update) {
            update, priority in
            // An equal step may have ended after the lookup and before this one began.
            if isIntermediate, let loaded = self.heldStep(key, request, steps: count, isRepeated: true) {
                return loaded
            }
            let generation = isIntermediate ? self.recent.generation(request) : nil
            let loaded = try await self.makeStep(count, of: request, priority, update)
            self.recent.remember(loaded, for: key, request, since: generation)
            return loaded
        }
    }

    /// Returns the image after the first processors of a request, if it is held and was made from the newest bytes.
    /// `isRepeated` has the same meaning as in ``MemoryStage/image(_:isRepeated:)``.
    private func heldStep(
        _ key: StepKey, _ request: ImageRequest, steps count: Int, isRepeated: Bool
    ) -> LoadedImage? {
        if let loaded = memory.intermediate(request, steps: count, isRepeated: isRepeated),
            decode.isCurrent(loaded, request)
        {
            return loaded
        }
        guard let loaded = recent.image(key, request), decode.isCurrent(loaded, request) else { return nil }
        return loaded
    }

    private func makeStep(
        _ count: Int, of request: ImageRequest, _ priority: PriorityHandle,
        _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> LoadedImage {
        // The full-size image, decoded for another request, is usable instead of decoding with the first processor.
        let full = StepKey(request, stepCount: 0)
        if count == 1, request.fusedStepCount == 1,
            let loaded = heldStep(full, request, steps: 0, isRepeated: false)
        {
            return try await process(loaded, request.processors[0], request, priority)
        }
        guard count > request.fusedStepCount else {
            if case .image(let image, _) = request.source {
                let origin = LoadedImage.Origin(digest: nil, allowsStoring: true)
                let loaded = LoadedImage(image: image, layer: .local, origin: origin)
                return color.mayConvert(image, for: request) ? try await convert(loaded, request, priority) : loaded
            }
            return try await decode.load(request, priority, update)
        }
        let before = try await step(count - 1, of: request, priority, update)
        return try await process(before, request.processors[count - 1], request, priority)
    }

    private func convert(
        _ loaded: LoadedImage, _ request: ImageRequest, _ priority: PriorityHandle
    ) async throws -> LoadedImage {
        var converted = loaded
        converted.image = try await threads.run(priority: priority) {
            var image = loaded.image
            color.convert(&image, for: request)
            return image
        }
        return converted
    }

    private func process(
        _ loaded: LoadedImage, _ processor: any ImageProcessing, _ request: ImageRequest, _ priority: PriorityHandle
    ) async throws -> LoadedImage {
        var processed = loaded
        processed.image = try await threads.run(priority: priority) {
            try decode.process(loaded.image, by: processor, for: request)
        }
        return processed
    }
}

extension ImageRequest {
    /// The number of processors that are applied while the image is decoded: one if the first has a derived target.
    fileprivate var fusedStepCount: Int {
        if case .image = source { return 0 }
        return derivedTarget == nil ? 0 : 1
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
