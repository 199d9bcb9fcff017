import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The images of requests: each size is decoded once, and each processor runs once, for all requests that need the result.
struct ProcessStage: Sendable {
    private let decode: DecodeStage
    private let memory: MemoryStage
    private let recent: RecentImages
    private let threads: DecodingThreads
    private let report: Reporter
    private let steps: Coalescer<StepKey, LoadUpdate, LoadedImage>

    init(
        decode: DecodeStage, memory: MemoryStage, recent: RecentImages, threads: DecodingThreads, report: Reporter
    ) {
        self.decode = decode
        self.memory = memory
        self.recent = recent
        self.threads = threads
        steps = Coalescer(taskExecutor: threads.taskExecutor, isOfSource: PipelineError.isOfSource)
        self.report = report
    }

    /// The image of a request. Throws ``PipelineError``, or `CancellationError`.
    func image(
        _ request: ImageRequest, _ priority: PriorityHandle, _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> LoadedImage {
        let previews = ProcessedPreviews(request.processors, threads: threads) { update(.preview($0)) }
        return try await step(request.processors.count, of: request, priority) { event in
            if case .preview(let preview) = event { previews.take(preview) } else { update(event) }
        }
    }

    /// Makes the image of a request again, of bytes that are here. Throws ``PipelineError``, or `CancellationError`.
    func remake(_ request: ImageRequest, of original: Original, _ priority: PriorityHandle) async throws -> LoadedImage
    {
        try await remakeStep(request.processors.count, of: request, from: original, original.data.digest, priority)
    }

    private func remakeStep(
        _ count: Int, of request: ImageRequest, from original: Original, _ digest: UInt64, _ priority: PriorityHandle
    ) async throws -> LoadedImage {
        let key = StepKey(request, stepCount: count, of: digest)
        return try await steps.value(for: key, priority: priority) { _, priority in
            guard count > 0 else { return try await self.decode.decode(original, for: request, priority) }
            let before = try await self.remakeStep(count - 1, of: request, from: original, digest, priority)
            return try await self.process(before, request.processors[count - 1], request, priority)
        }
    }

    /// Releases what is held of a resource.
    func forget(_ resource: ResourceKey) { recent.removeResource(resource) }

    /// Releases everything that is held.
    func forgetAll() { recent.removeAll() }

    func shutDown() async {
        await steps.shutDown(throwing: PipelineError.shutDown)
        recent.removeAll()
    }

    /// The image after some of the processors of a request.
    ///
    /// - Parameter count: How many of the processors are done; with none it is the image as decoded.
    private func step(
        _ count: Int, of request: ImageRequest, _ priority: PriorityHandle,
        _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> LoadedImage {
        let key = StepKey(request, stepCount: count)
        // The last step's image is looked for, and kept, by whoever asks for it.
        let isOnTheWay = count < request.processors.count
        if isOnTheWay, let loaded = heldStep(key, request, steps: count) { return loaded }
        return try await steps.value(for: key, from: request.source, priority: priority, onUpdate: update) {
            update, priority in
            // An equal step may have ended between the look and the beginning of this one.
            if isOnTheWay, let loaded = self.heldStep(key, request, steps: count) { return loaded }
            let generation = isOnTheWay ? self.recent.generation(request) : nil
            let loaded = try await self.makeStep(count, of: request, priority, update)
            self.recent.remember(loaded, for: key, request, since: generation)
            return loaded
        }
    }

    /// The picture after some of a request's processors, if one is held that is of the bytes that came last.
    private func heldStep(_ key: StepKey, _ request: ImageRequest, steps count: Int) -> LoadedImage? {
        if let loaded = memory.intermediate(request, steps: count), decode.isCurrent(loaded, request) {
            return loaded
        }
        var keys = [key]
        // The whole image, which another request needed, will do as well.
        if count == 0, request.derivedTarget != nil { keys.append(StepKey(request, stepCount: 0, isShrunk: false)) }
        for key in keys {
            if let loaded = recent.image(key, request), decode.isCurrent(loaded, request) { return loaded }
        }
        return nil
    }

    private func makeStep(
        _ count: Int, of request: ImageRequest, _ priority: PriorityHandle,
        _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> LoadedImage {
        guard count > 0 else {
            if case .image(let image, _) = request.source {
                let origin = LoadedImage.Origin(digest: nil, allowsStoring: true)
                return LoadedImage(image: image, layer: .local, origin: origin)
            }
            return try await decode.load(request, priority, update)
        }
        let before = try await step(count - 1, of: request, priority, update)
        return try await process(before, request.processors[count - 1], request, priority)
    }

    private func process(
        _ loaded: LoadedImage, _ processor: any ImageProcessing, _ request: ImageRequest, _ priority: PriorityHandle
    ) async throws -> LoadedImage {
        let key = request.key
        var processed = loaded
        processed.image = try await threads.run(priority: priority) {
            let start = report.now
            do throws(ImageProcessingError) {
                var image = try processor.process(loaded.image)
                report(key, .processed(identifier: processor.identifier), since: start)
                // Whatever a processor makes of it: the full size was for this processor, frames of another size are of
                // another picture, and a part stays a part.
                image.fullSize = nil
                if image.frames?.canvasSize != image.size { image.frames = nil }
                image.partialError = image.partialError ?? loaded.image.partialError
                return image
            } catch {
                throw PipelineError(.processing, error.message, cause: error)
            }
        }
        return processed
    }
}

/// Lets previews go through a request's processors, one at a time; those that come meanwhile are left out.
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

    /// Does not block.
    func take(_ preview: ImagePreview) {
        guard !processors.isEmpty else { return show(preview) }
        let isFree = isBusy.withLock { isBusy in
            defer { isBusy = true }
            return !isBusy
        }
        guard isFree else { return }
        Task(executorPreference: threads.taskExecutor) { [self] in
            // A processor that cannot do it will say so of the whole image.
            let processed = try? await threads.run(priority: PriorityHandle(.low)) { [processors] in
                var processed = preview
                for processor in processors {
                    processed.image = try processor.process(processed.image)
                    processed.image.fullSize = nil
                }
                return processed
            }
            isBusy.withLock { $0 = false }
            if let processed { show(processed) }
        }
    }
}
