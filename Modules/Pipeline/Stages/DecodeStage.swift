import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// Turns the bytes of a resource into an image, at the size that a request needs.
struct DecodeStage: Sendable {
    private let download: DownloadStage
    private let codecs: CodecRegistry
    private let threads: DecodingThreads
    private let previewInterval: Duration
    private let report: Reporter
    /// What came last of each source: what was made of other bytes is outdated.
    private let newest = SourceDigests()

    init(
        download: DownloadStage, codecs: CodecRegistry, threads: DecodingThreads, previewInterval: Duration,
        report: Reporter
    ) {
        self.download = download
        self.codecs = codecs
        self.threads = threads
        self.previewInterval = previewInterval
        self.report = report
    }

    /// The digest of the bytes of a source that were decoded last; nil when it is not known.
    func digest(of request: ImageRequest) -> UInt64? { newest[request.originalKey]?.digest }

    /// Whether a picture is not known to be of other bytes than those that came last.
    func isCurrent(_ loaded: LoadedImage, _ request: ImageRequest) -> Bool {
        guard let digest = loaded.origin?.digest, let last = newest[request.originalKey]?.digest else { return true }
        return digest == last
    }

    /// Gets the bytes of a request, and decodes them. Bytes on disk that are no whole image are fetched again.
    ///
    /// - Throws: ``PipelineError``, or `CancellationError`.
    func load(
        _ request: ImageRequest, _ priority: PriorityHandle, _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> LoadedImage {
        let previews =
            request.wantsPreviews
            ? PreviewMaker(
                codecs: request.codecs ?? codecs, options: request.effectiveDecoding,
                recordsFullSize: request.derivedTarget != nil, threads: threads, interval: previewInterval,
                clock: report.clock
            ) { update(.preview($0)) } : nil
        defer { previews?.end() }
        let original = try await download.load(request, priority) { event in
            switch event {
            case .progress(let progress): update(.progress(progress))
            case .bytes(let offset, let bytes): previews?.append(bytes, at: offset)
            }
        }
        previews?.end()
        let loaded: LoadedImage
        do {
            loaded = try await decode(original, for: request, priority)
        } catch let error as PipelineError {
            guard original.layer == .disk, error.meansDamage else { throw error }
            return try await loadAgain(request, insteadOf: original, priority, update)
        }
        guard loaded.image.isPartial, original.layer == .disk else { return loaded }
        do {
            return try await loadAgain(request, insteadOf: original, priority, update)
        } catch let error as PipelineError where error.meansNoBytes {
            // The part is all there is to have.
            return loaded
        }
    }

    /// What is on disk is no whole image, whatever its checksum says: forgets it and asks the source.
    private func loadAgain(
        _ request: ImageRequest, insteadOf damaged: Original, _ priority: PriorityHandle,
        _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> LoadedImage {
        // What waits for room must not wait for itself.
        damaged.reservation?.release()
        await download.forget(request)
        var again = request
        again.cachePolicy.disk.reads = false
        return try await load(again, priority, update)
    }

    /// Decodes the bytes of a request. Throws ``PipelineError``, or `CancellationError`.
    func decode(
        _ original: Original, for request: ImageRequest, _ priority: PriorityHandle
    ) async throws -> LoadedImage {
        let key = request.key
        let (codecs, options) = (request.codecs ?? codecs, request.effectiveDecoding)
        return try await threads.decode(original.data, options: options, by: codecs, priority: priority) {
            let start = report.now
            do throws(ImageDecodingError) {
                var image = try codecs.decode(original.data, options: options)
                if request.derivedTarget != nil {
                    // What can be decoded can be inspected; if not, the image is processed at the size that it has.
                    image.recordFullSize(try? codecs.inspect(original.data, limits: options.limits))
                }
                report(key, .decoded(image.size), since: start)
                let origin = LoadedImage.Origin(digest: original.data.digest, allowsStoring: original.allowsStoring)
                newest.record(origin, for: request.originalKey)
                return LoadedImage(image: image, layer: original.layer, original: original, origin: origin)
            } catch {
                throw PipelineError(.decoding(error.code), error.message, cause: error)
            }
        }
    }
}

extension DecodedImage {
    /// Records the size that the image has when it is not decoded smaller, for the first processor.
    ///
    /// Records nothing where the image is not smaller, and where the decoder gives it other proportions than the file has:
    /// the processor then goes by the size of the image.
    ///
    /// - Parameter info: The decoder's description of the file; nil when there is none.
    mutating func recordFullSize(_ info: ImageInfo?) {
        guard let info else { return }
        let isTurned = orientation == .up && info.orientation.swapsSides
        let full = isTurned ? info.size.transposed : info.size
        guard full.isPositive, full != size, full.width >= size.width, full.height >= size.height else { return }
        let horizontal = Double(size.width) / Double(full.width)
        let vertical = Double(size.height) / Double(full.height)
        // Decoders round each side to whole pixels.
        guard abs(horizontal - vertical) <= 1 / Double(min(full.width, full.height)) else { return }
        fullSize = full
    }
}
