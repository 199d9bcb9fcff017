import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// Turns bytes into images: decoding once for each way of it, each processor once for all who want it.
struct ImageStage: Sendable {
    private let originals: OriginalLoader
    private let memory: MemoryStage
    private let recent: RecentPictures
    private let codecs: CodecRegistry
    private let threads: DecodingThreads
    private let previewInterval: Duration
    private let report: Reporter
    /// What came last of each source: what was made of other bytes is outdated.
    private let newest = OriginTable()
    private let steps: Coalescer<StepKey, LoadUpdate, Picture>

    init(
        originals: OriginalLoader, memory: MemoryStage, recent: RecentPictures, codecs: CodecRegistry,
        threads: DecodingThreads, previewInterval: Duration, report: Reporter
    ) {
        self.originals = originals
        self.memory = memory
        self.recent = recent
        self.codecs = codecs
        self.threads = threads
        self.previewInterval = previewInterval
        self.report = report
        steps = Coalescer(taskExecutor: threads.taskExecutor, isOfSource: PipelineError.isOfSource)
    }

    /// The image of a request. Throws ``PipelineError``, or `CancellationError`.
    func picture(
        _ request: ImageRequest, _ priority: LivePriority, _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> Picture {
        let previews = ProcessedPreviews(request.processors, threads: threads) { update(.preview($0)) }
        return try await picture(request, steps: request.processors.count, priority) { news in
            if case .preview(let preview) = news { previews.take(preview) } else { update(news) }
        }
    }

    /// The image of a request, made of bytes that are here. Throws ``PipelineError``, or `CancellationError`.
    func picture(_ request: ImageRequest, of original: Original, _ priority: LivePriority) async throws -> Picture {
        try await picture(request, of: original, original.data.digest, steps: request.processors.count, priority)
    }

    private func picture(
        _ request: ImageRequest, of original: Original, _ digest: UInt64, steps count: Int, _ priority: LivePriority
    ) async throws -> Picture {
        let key = StepKey(request, stepCount: count, of: digest)
        return try await steps.value(for: key, priority: priority) { _, priority in
            guard count > 0 else { return try await self.decoded(original, request, priority) }
            let before = try await self.picture(request, of: original, digest, steps: count - 1, priority)
            return try await self.processed(before, request.processors[count - 1], request, priority)
        }
    }

    /// Of the bytes of a source that were decoded last; nil when that is not known.
    func digest(of request: ImageRequest) -> UInt64? { newest[request.originalKey]?.digest }

    /// Releases what is held of a resource.
    func forget(_ resource: ResourceKey) { recent.removeAll(of: resource) }

    /// Releases everything that is held.
    func forgetAll() { recent.removeAll() }

    func shutDown() async {
        await steps.shutDown(throwing: PipelineError.shutDown)
        recent.removeAll()
    }

    /// - Parameter count: How many of the processors are done; with none it is the image as decoded.
    private func picture(
        _ request: ImageRequest, steps count: Int, _ priority: LivePriority,
        _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> Picture {
        let key = StepKey(request, stepCount: count)
        // The last step's image is looked for, and kept, by whoever asks for it.
        let isOnTheWay = count < request.processors.count
        if isOnTheWay, let picture = intermediate(key, request, steps: count) { return picture }
        return try await steps.value(for: key, from: request.source, priority: priority, onUpdate: update) {
            update, priority in
            // An equal step may have ended between the look and the beginning of this one.
            if isOnTheWay, let picture = self.intermediate(key, request, steps: count) { return picture }
            let mark = isOnTheWay ? self.recent.mark(request) : nil
            let picture = try await self.made(request, steps: count, priority, update)
            self.recent.remember(picture, for: key, request, since: mark)
            return picture
        }
    }

    /// The picture after some of a request's processors, if one is held that is of the bytes that came last.
    private func intermediate(_ key: StepKey, _ request: ImageRequest, steps count: Int) -> Picture? {
        if let picture = memory.intermediate(request, steps: count), isCurrent(picture, request) { return picture }
        var keys = [key]
        // The whole image, which another request needed, will do as well.
        if count == 0, request.derivedTarget != nil { keys.append(StepKey(request, stepCount: 0, isShrunk: false)) }
        for key in keys {
            if let picture = recent.picture(key, request), isCurrent(picture, request) { return picture }
        }
        return nil
    }

    /// Whether a picture is not known to be of other bytes than those that came last.
    private func isCurrent(_ picture: Picture, _ request: ImageRequest) -> Bool {
        guard let digest = picture.origin?.digest, let last = newest[request.originalKey]?.digest else { return true }
        return digest == last
    }

    private func made(
        _ request: ImageRequest, steps count: Int, _ priority: LivePriority,
        _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> Picture {
        guard count > 0 else {
            if case .image(let image, _) = request.source {
                let origin = Picture.Origin(digest: nil, allowsStoring: true)
                return Picture(image: image, layer: .local, origin: origin)
            }
            return try await decoded(request, priority, update)
        }
        let before = try await picture(request, steps: count - 1, priority, update)
        return try await processed(before, request.processors[count - 1], request, priority)
    }

    // MARK: Decoding

    private func decoded(
        _ request: ImageRequest, _ priority: LivePriority, _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> Picture {
        let previews =
            request.wantsPreviews
            ? PreviewMaker(
                codecs: request.codecs ?? codecs, options: request.effectiveDecoding,
                notesFullSize: request.derivedTarget != nil, threads: threads, interval: previewInterval,
                clock: report.clock
            ) { update(.preview($0)) } : nil
        defer { previews?.end() }
        let original = try await originals.load(request, priority) { news in
            switch news {
            case .progress(let progress): update(.progress(progress))
            case .bytes(let offset, let bytes): previews?.append(bytes, at: offset)
            }
        }
        previews?.end()
        let picture: Picture
        do {
            picture = try await decoded(original, request, priority)
        } catch let error as PipelineError {
            guard original.layer == .disk, error.meansDamage else { throw error }
            return try await decodedAnew(request, insteadOf: original, priority, update)
        }
        guard picture.image.isPartial, original.layer == .disk else { return picture }
        do {
            return try await decodedAnew(request, insteadOf: original, priority, update)
        } catch let error as PipelineError where error.meansNoBytes {
            // The part is all there is to have.
            return picture
        }
    }

    /// What is on disk is no whole image, whatever its checksum says: forgets it and asks the source.
    private func decodedAnew(
        _ request: ImageRequest, insteadOf damaged: Original, _ priority: LivePriority,
        _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> Picture {
        // What waits for room must not wait for itself.
        damaged.hold?.release()
        await originals.forget(request)
        var again = request
        again.cachePolicy.disk.remove(.read)
        return try await decoded(again, priority, update)
    }

    private func decoded(
        _ original: Original, _ request: ImageRequest, _ priority: LivePriority
    ) async throws -> Picture {
        let key = request.key
        let (codecs, options) = (request.codecs ?? codecs, request.effectiveDecoding)
        return try await threads.decode(original.data, options: options, by: codecs, priority: priority) {
            let start = report.now
            do throws(ImageDecodingError) {
                var image = try codecs.decode(original.data, options: options)
                if request.derivedTarget != nil {
                    // What can be decoded can be inspected; if not, the image is processed at the size that it has.
                    image.noteFullSize(try? codecs.inspect(original.data, limits: options.limits))
                }
                report(key, .decoded(image.size), since: start)
                let origin = Picture.Origin(digest: original.data.digest, allowsStoring: original.allowsStoring)
                newest.note(origin, for: request.originalKey)
                return Picture(image: image, layer: original.layer, original: original, origin: origin)
            } catch {
                throw PipelineError(.decoding(error.code), error.message, cause: error)
            }
        }
    }

    // MARK: Processing

    private func processed(
        _ picture: Picture, _ processor: any ImageProcessing, _ request: ImageRequest, _ priority: LivePriority
    ) async throws -> Picture {
        let key = request.key
        var processed = picture
        processed.image = try await threads.run(priority: priority) {
            let start = report.now
            do throws(ImageProcessingError) {
                var image = try processor.process(picture.image)
                report(key, .processed(identifier: processor.identifier), since: start)
                // Whatever a processor makes of it: the full size was for this processor, frames of another size are of
                // another picture, and a part stays a part.
                image.fullSize = nil
                if image.frames?.canvasSize != image.size { image.frames = nil }
                image.partialError = image.partialError ?? picture.image.partialError
                return image
            } catch {
                throw PipelineError(.processing, error.message, cause: error)
            }
        }
        return processed
    }
}
