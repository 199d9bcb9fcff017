import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// The stage that decodes the bytes of a resource to an image of the size that a request needs.
struct DecodeStage: Sendable {
    private let download: DownloadStage
    private let codecs: CodecRegistry
    private let color: ColorStage
    private let threads: DecodingThreads
    private let previewInterval: Duration
    private let report: Reporter
    /// The digest of the newest known bytes of each source. Images made from other bytes are outdated.
    private let newest = SourceDigests()

    init(
        download: DownloadStage, codecs: CodecRegistry, color: ColorStage, threads: DecodingThreads,
        previewInterval: Duration, report: Reporter
    ) {
        self.download = download
        self.codecs = codecs
        self.color = color
        self.threads = threads
        self.previewInterval = previewInterval
        self.report = report
    }

    /// Returns the digest of the most recently decoded bytes of a request's source, or nil when it is not known.
    func digest(of request: ImageRequest) -> UInt64? { newest[request.originalKey]?.digest }

    /// Returns the digest of the newest known bytes of a request's source: those decoded last, or else those on disk,
    /// if the request may read them. Returns nil when it is not known.
    ///
    /// The disk is asked once for a source, for the metadata alone.
    func newestDigest(of request: ImageRequest) async -> UInt64? {
        if let known = digest(of: request) { return known }
        return await newestDigests(of: request).first
    }

    /// Returns the digests of the bytes of a request's source that were decoded last, and of those on disk, as far as
    /// they are known. Both are equal, unless another process has stored other bytes, or a load has stored none.
    func newestDigests(of request: ImageRequest) async -> [UInt64] {
        guard request.cachePolicy.disk.reads, let stored = await download.storedDigest(of: request) else {
            return digest(of: request).map { [$0] } ?? []
        }
        return [newest.digest(of: request.originalKey, orRecording: stored), stored]
    }

    /// Returns whether an image of this origin was made from the newest known bytes of its source. True when they are
    /// not known, and for an image from the app, which has no origin. An image of unknown bytes is then older.
    func isCurrent(_ origin: LoadedImage.Origin?, _ request: ImageRequest) async -> Bool {
        guard let origin, let newest = await newestDigest(of: request) else { return true }
        return origin.digest == newest
    }

    /// Records bytes that were not decoded as the newest ones of a request's source.
    func recordNewest(_ digest: UInt64, of request: ImageRequest) {
        guard self.digest(of: request) != digest else { return }
        newest.record(LoadedImage.Origin(digest: digest, allowsStoring: true), for: request.originalKey)
    }

    /// Loads and decodes the bytes of a request.
    ///
    /// When bytes from disk give no image or one with wrong or missing pixels, they are removed from disk and loaded
    /// again from the source. When such bytes are from a response cache, they are requested again without the cache,
    /// unless ``UnusableResponses`` delays that. If the source then has no image, the damaged image is returned.
    ///
    /// When the request has a derived target, the first processor receives each row right after it is decoded, and the
    /// result is the image after that processor.
    ///
    /// `isRepeated` is whether bytes from a response cache were rejected earlier in this load.
    ///
    /// - Throws: ``PipelineError`` or `CancellationError`.
    func load(
        _ request: ImageRequest, isRepeated: Bool = false, _ priority: PriorityHandle,
        _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> LoadedImage {
        let previews =
            request.deliversPreviews
            ? PreviewMaker(
                codecs: request.codecs ?? codecs, options: color.options(request.effectiveDecoding, for: request),
                recordsReduction: request.derivedTarget != nil, threads: threads, interval: previewInterval,
                clock: report.clock, convert: { [color] in color.convert($0, for: request) }
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
            guard try await rejects(original, after: error, of: request, isRepeated: isRepeated, priority) else {
                throw error
            }
            return try await loadAgain(
                request, insteadOf: original, removesIt: Self.isForAll(error, request), isRepeated, priority, update)
        }
        guard !loaded.image.isIntact, let damage = loaded.image.damage?.error else {
            download.accept(original, of: request)
            return loaded
        }
        let error = PipelineError(.decoding(damage.code), damage.message)
        guard try await rejects(original, after: error, of: request, isImage: true, isRepeated: isRepeated, priority)
        else { return loaded }
        do {
            return try await loadAgain(
                request, insteadOf: original, removesIt: Self.isForAll(error, request), isRepeated, priority, update)
        } catch let error as PipelineError where PipelineError.isOfSource(error) {
            // The source is unavailable, so the damaged image is the best result.
            return loaded
        }
    }

    /// Records that bytes did not decode to an image, or only to one with damaged pixels. Returns whether they are
    /// worth loading again.
    ///
    /// - Throws: `CancellationError` only.
    func rejects(
        _ original: Original, after error: PipelineError, of request: ImageRequest, isImage: Bool = false,
        isRepeated: Bool = false, _ priority: PriorityHandle
    ) async throws -> Bool {
        guard case .decoding(let code) = error.code, error.meansDamage else { return false }
        if try await isDecodable(original, of: request, priority) { return false }
        if original.layer == .disk {
            return Self.isForAll(error, request) || download.mayReplace(original, of: request)
        }
        return download.reject(original, of: request, after: code, isImage: isImage) && !isRepeated
    }

    /// Whether an error of a request's codecs says that its bytes are damaged for all requests. Other requests may have
    /// the missing codec, or one that reads what a request's own codec rejects.
    private static func isForAll(_ error: PipelineError, _ request: ImageRequest) -> Bool {
        !error.meansNoCodec && request.codecs == nil
    }

    /// Whether another request has decoded the bytes to an intact image, or the pipeline's codecs decode what the
    /// request's own ones reject. The bytes are then not damaged.
    ///
    /// - Throws: `CancellationError` only.
    func isDecodable(
        _ original: Original, of request: ImageRequest, _ priority: PriorityHandle
    ) async throws -> Bool {
        if let last = newest[request.originalKey], last.digest == original.data.digest, last.isIntact { return true }
        guard request.codecs != nil else { return false }
        var plain = request
        (plain.codecs, plain.processors) = (nil, [])
        do {
            return try await decode(original, for: plain, priority).image.isIntact
        } catch is PipelineError {
            return false
        }
    }

    /// Removes bytes from disk that do not decode to an intact image, although their checksum may be valid, and loads
    /// the source. Bytes that only the request's own codecs reject, or of an unknown format, are kept until others
    /// replace them.
    private func loadAgain(
        _ request: ImageRequest, insteadOf damaged: Original, removesIt: Bool, _ isRepeated: Bool,
        _ priority: PriorityHandle, _ update: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> LoadedImage {
        // The new download must not wait for the bytes it replaces.
        damaged.reservation?.release()
        let isFromDisk = damaged.layer == .disk
        if isFromDisk, removesIt { await download.forget(request) }
        var changedRequest = request
        if isFromDisk { changedRequest.cachePolicy.disk.reads = false }
        return try await load(changedRequest, isRepeated: isRepeated || !isFromDisk, priority, update)
    }

    /// Decodes the bytes of a request, applies its first processor if the request has a derived target, and records the
    /// digest of the bytes as that of the newest ones. Throws ``PipelineError`` or `CancellationError`.
    func decode(
        _ original: Original, for request: ImageRequest, _ priority: PriorityHandle
    ) async throws -> LoadedImage {
        let codecs = request.codecs ?? codecs
        var options = color.options(request.effectiveDecoding, for: request)
        let processor = request.derivedTarget == nil ? nil : request.processors.first
        options.isFiltered = processor != nil
        do {
            var consumer: (@Sendable () -> any PixelRowConsumer)?
            if let processor {
                consumer = { color.rows(for: request, into: processor.rows(into: PixelRowCollector())).consumer }
            }
            if let decoder = codecs.asyncDecoder(for: original.data) {
                return try await threads.decode(
                    original.data, for: request, options: options, by: decoder, into: consumer, priority: priority,
                    report
                ) { image, file, start in
                    report(request.key, .decoded(image.size), since: start)
                    color.convert(&image, for: request)
                    if let processor {
                        image.reduction = image.reduction ?? ImageReduction(image.size, image.orientation, of: file)
                        image = try process(image, by: processor, for: request)
                    }
                    return loaded(image, original, request)
                }
            }
            return try await threads.decode(
                original.data, for: request, options: options, by: codecs, into: consumer, priority: priority
            ) { [options] reader in
                let image: DecodedImage
                if let processor {
                    image = try processed(reader, options, by: processor, for: request)
                } else {
                    image = try decoded(reader, options, for: request)
                }
                return loaded(image, original, request)
            }
        } catch let error as ImageDecodingError {
            throw PipelineError(.decoding(error.code), error.message, cause: error)
        }
    }

    /// Returns the image of bytes, and records their digest as that of the newest ones.
    private func loaded(_ image: DecodedImage, _ original: Original, _ request: ImageRequest) -> LoadedImage {
        let origin = LoadedImage.Origin(
            digest: original.data.digest, allowsStoring: original.allowsStoring,
            varyingFields: original.varyingFields, requestedAt: original.requestedAt,
            isIntact: image.isIntact)
        newest.record(origin, for: request.varying(by: original.varyingFields).originalKey)
        return LoadedImage(image: image, layer: original.layer, original: original, origin: origin)
    }

    private func decoded(
        _ reader: any ImageReading, _ options: DecodingOptions, for request: ImageRequest
    ) throws(ImageDecodingError) -> DecodedImage {
        let start = report.now
        var image = try reader.decode(options)
        report(request.key, .decoded(image.size), since: start)
        color.convert(&image, for: request)
        return image
    }

    /// Decodes an image and passes its rows to a processor, so that the image before the processor is not in memory. An
    /// animation, and a partial image, are decoded as a whole first.
    private func processed(
        _ reader: any ImageReading, _ options: DecodingOptions, by processor: any ImageProcessing,
        for request: ImageRequest
    ) throws -> DecodedImage {
        if reader.header.size.isPositive,
            !options.includesAnimation || (try? reader.info())?.frameCount == 1
        {
            do {
                return try rows(of: reader, options, by: processor, for: request)
            } catch let error as ImageDecodingError where options.allows(error) {}
        }
        var image = try decoded(reader, options, for: request)
        image.reduction = image.reduction ?? ImageReduction(image.size, image.orientation, of: reader.header)
        return try process(image, by: processor, for: request)
    }

    private func rows(
        of reader: any ImageReading, _ options: DecodingOptions, by processor: any ImageProcessing,
        for request: ImageRequest
    ) throws -> DecodedImage {
        let header = reader.header
        let start = report.now
        let collector = PixelRowCollector()
        let rows = DecodedRows(of: header, next: processor.rows(into: collector))
        let convertedRows = color.rows(for: request, into: rows)
        let damage: ImageDamage?
        let span = report.begin(.process, detail: processor.identifier)
        // The processor ends with the decoder, unless it fails itself.
        defer { span?.end(.success) }
        do {
            damage = try reader.decodeRows(options, into: convertedRows.consumer)
        } catch let error as ImageProcessingError {
            span?.end(.failure(error))
            throw PipelineError(.processing, error.message, cause: error)
        }
        guard var image = collector.image else {
            throw ImageDecodingError(.corrupt, "\(header.format): the decoder passed on no image")
        }
        report(request.key, .decoded(rows.size ?? image.size), since: start)
        convertedRows.report(start)
        report(request.key, .processed(identifier: processor.identifier), since: start)
        image.format = header.format
        image.damage = damage
        // The reduction was meant for the processor.
        image.reduction = nil
        return image
    }

    /// Returns the processed image. Throws ``PipelineError``.
    func process(
        _ image: DecodedImage, by processor: any ImageProcessing, for request: ImageRequest
    ) throws(PipelineError) -> DecodedImage {
        let start = report.now
        let span = report.begin(.process, detail: processor.identifier)
        do throws(ImageProcessingError) {
            let result = try Self.result(of: processor, for: image, in: span)
            span?.end(.success)
            report(request.key, .processed(identifier: processor.identifier), since: start)
            return result
        } catch {
            span?.end(.failure(error))
            throw PipelineError(.processing, error.message, cause: error)
        }
    }

    /// Returns the processed image. Steps of the processor itself are children of the span.
    private static func result(
        of processor: any ImageProcessing, for image: DecodedImage, in span: ActiveSpan?
    ) throws(ImageProcessingError) -> DecodedImage {
        guard let span else { return try processor.consistentResult(for: image) }
        return try ActiveSpan.$current.withValue(span) {
            Result { () throws(ImageProcessingError) in try processor.consistentResult(for: image) }
        }.get()
    }
}

/// A consumer that records the size of the decoded rows, and passes them on with their position in the file's image.
private final class DecodedRows: PixelRowConsumer {
    private(set) var size: PixelSize?
    private let file: ImageHeader
    private let next: any PixelRowConsumer

    init(of file: ImageHeader, next: any PixelRowConsumer) {
        self.file = file
        self.next = next
    }

    func begin(_ header: PixelRowHeader) throws {
        size = header.size
        var header = header
        header.reduction = header.reduction ?? ImageReduction(header.size, header.orientation, of: file)
        try next.begin(header)
    }

    func consume(_ row: RawSpan) throws { try next.consume(row) }

    func finish() throws { try next.finish() }
}

extension ImageReduction {
    /// Creates the position of an image that a decoder scaled down without recording the position: that of samples that
    /// cover the full image.
    ///
    /// The result is nil when the image has its full size, or when its proportions differ from those of the file. A
    /// processor then uses the size of the image.
    ///
    /// - Parameters:
    ///   - size: The size of the decoded image.
    ///   - orientation: The orientation of the decoded image.
    ///   - file: The header of the file, or nil when there is none.
    init?(_ size: PixelSize, _ orientation: ImageOrientation, of file: ImageHeader?) {
        guard let file else { return nil }
        let swapsSides = orientation == .up && file.orientation.swapsSides
        let full = swapsSides ? file.size.transposed : file.size
        guard full.isPositive, full != size, full.width >= size.width, full.height >= size.height else { return nil }
        let horizontal = Double(size.width) / Double(full.width)
        let vertical = Double(size.height) / Double(full.height)
        // Decoders round each side to whole pixels.
        guard abs(horizontal - vertical) <= 1 / Double(min(full.width, full.height)) else { return nil }
        self.init(of: full, exactly: size)
    }
}
