import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// The processed images in the disk cache.
struct ProcessedImageStore: Sendable {
    private let disk: DiskStage
    private let serializer: any CacheSerializer
    private let codecs: CodecRegistry
    private let color: ColorStage
    private let threads: DecodingThreads
    private let encodedBudget: EncodedByteBudget
    private let report: Reporter

    init(
        disk: DiskStage, serializer: any CacheSerializer, codecs: CodecRegistry, color: ColorStage,
        threads: DecodingThreads, encodedBudget: EncodedByteBudget, report: Reporter
    ) {
        self.disk = disk
        self.serializer = serializer
        self.codecs = codecs
        self.color = color
        self.threads = threads
        self.encodedBudget = encodedBudget
        self.report = report
    }

    private func serializer(of request: ImageRequest) -> any CacheSerializer { request.serializer ?? serializer }

    private func context(
        of request: ImageRequest, isProcessed: Bool, decoding: DecodingOptions = DecodingOptions()
    ) -> CacheSerializationContext {
        CacheSerializationContext(
            key: request.key, request: request, isProcessed: isProcessed, codecs: codecs, decoding: decoding)
    }

    /// Returns the processed image of a request from disk. Returns nil when it is missing or cannot be decoded, or when
    /// the request's cache policy forbids reading it. Damaged bytes are removed, and reported as a miss.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - digests: The digests of the newest known bytes, from which the image must have been made. Default: empty,
    ///     for an image of any bytes.
    ///   - priority: The priority of the work.
    /// - Throws: `CancellationError` only.
    func image(
        _ request: ImageRequest, madeOf digests: [UInt64] = [], _ priority: PriorityHandle
    ) async throws -> LoadedImage? {
        let key = request.key
        let reservation = EncodedByteReservation(of: encodedBudget)
        defer { reservation.release() }
        guard
            let entry = try await disk.read(
                key, isAllowed: request.cachePolicy.disk.reads, madeOf: digests, into: reservation, priority)
        else { return nil }
        let data = entry.data
        _ = reservation.arrived(data.count)
        var options = request.decoding.withDepthOfRange
        // The stored image already has the target size and orientation.
        options.target = nil
        // A stored image is written by this process or another one, which stores complete images only.
        options.tolerance = .harmless
        do {
            let context = context(of: request, isProcessed: request.isProcessed, decoding: options)
            let serializer = serializer(of: request)
            @Sendable func finish(_ image: inout DecodedImage, since start: Duration) {
                report(key, .decoded(image.size), since: start)
                // The stored image has the color space of the request, unless the app stored it.
                color.convert(&image, for: request)
            }
            let image: DecodedImage
            if codecs.hasAsyncCodecs, let decoder = serializer.asyncDecoder(of: data, in: context) {
                image = try await threads.decode(data, options: options, by: decoder, priority: priority, report) {
                    image, _, start in
                    finish(&image, since: start)
                    return image
                }
            } else {
                image = try await threads.decodeStored(data, options: options, priority: priority) {
                    let start = report.now
                    var image = try serializer.image(from: data, in: context)
                    finish(&image, since: start)
                    return image
                }
            }
            return LoadedImage(
                image: image, layer: .disk,
                original: Original(data: data, layer: .disk, allowsStoring: true, isProcessed: true),
                origin: LoadedImage.Origin(
                    digest: DigestMetadata.digest(in: entry.metadata), allowsStoring: true,
                    varyingFields: request.variance?.fields ?? .none))
        } catch is CancellationError {
            throw CancellationError()
        } catch is PipelineError {
            // An asynchronous decoder failed, which says nothing about the bytes.
            return nil
        } catch let error as ImageDecodingError where !error.code.meansDamage || error.code == .unknownFormat {
            // The entry stays: another process may have its codec, another request may have other limits, and more
            // memory may be free later.
            return nil
        } catch {
            report(key, .diskMiss(.damaged))
            await disk.remove(key)
            return nil
        }
    }

    /// Returns the processed image of a request as ``image(_:madeOf:_:)`` does, if it was made from the newest bytes. A
    /// missing one is not reported, and costs no more than the question whether it is there.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - digests: A closure that returns the digests of the newest known bytes. Called for an image that is there.
    ///   - priority: The priority of the work.
    func imageIfStored(
        _ request: ImageRequest, madeOf digests: () async -> [UInt64], _ priority: PriorityHandle
    ) async throws -> LoadedImage? {
        guard await disk.contains(request.key) else { return nil }
        return try await image(request, madeOf: digests(), priority)
    }

    /// Writes a processed image in the background, if the server permits storing. The caller has checked that the image
    /// is intact, and that the request may write to disk.
    func keep(_ loaded: LoadedImage, for request: ImageRequest, since generation: Generation?) async {
        let byteCount = loaded.image.cost + (loaded.original?.data.count ?? 0)
        let (serializer, context) = (
            serializer(of: request), context(of: request, isProcessed: request.isProcessed)
        )
        var loaded = loaded
        // The bytes no longer wait for a decoder; the write queue counts them.
        loaded.original?.reservation = nil
        await disk.write(
            for: request.key, since: generation, timeToLive: request.diskTimeToLive, digest: loaded.origin?.digest,
            byteCount: byteCount
        ) { [loaded] in
            guard await mayKeep(loaded, request) else { return nil }
            let span = report.begin(.encode)
            defer { span?.end(.cancelled) }
            let serialized = try await threads.bytes(
                of: loaded.image, original: loaded.original?.data, by: serializer, in: context, priority: .low)
            span?.end(serialized == nil ? .failure(Self.notEncodable) : .success)
            // The original bytes are no processed image. They are one in the form of a serializer that keeps them.
            guard let serialized, !serialized.isOriginal || !request.isProcessed else { return nil }
            // Another process may have learned since the read that the resource varies, and have removed what it found.
            if loaded.layer == .disk, request.variance == nil, await disk.marker(request.originalKey) != nil {
                return nil
            }
            return serialized.data
        }
    }

    /// Encodes and writes an image from the app. Returns when it is on disk, or when the resource has changed in the
    /// meantime.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - request: The request. If it is for the original, the image replaces the original bytes.
    ///   - newest: The digest of the newest bytes, from which the image counts as made, or nil when it is not known.
    ///   - generation: The generation after the change.
    /// - Throws: ``PipelineError`` `notStored`, or `CancellationError` before the image is encoded.
    func store(
        _ image: DecodedImage, for request: ImageRequest, madeOf newest: UInt64?, since generation: Generation
    ) async throws {
        let serialized = try await threads.bytes(
            of: image, original: nil, by: serializer(of: request), in: context(of: request, isProcessed: true),
            priority: request.priority)
        guard let serialized else {
            throw PipelineError(
                .notStored,
                request.serializer == nil
                    ? "cannot store the image: no registered codec can encode it; add one to the CodecRegistry"
                    : "cannot store the image: the serializer of the request returned no bytes")
        }
        let digest = request.key.isOriginal ? serialized.data.digest : newest
        try await disk.store(
            CachedData(serialized.data, metadata: DigestMetadata.data(digest)), for: request.key, since: generation)
    }

    private static let notEncodable = PipelineError(.notStored, "no registered codec can encode the processed image")

    /// Returns whether the image may be stored. Without a known origin, it may be stored if the original bytes are on
    /// disk.
    private func mayKeep(_ loaded: LoadedImage, _ request: ImageRequest) async -> Bool {
        if let origin = loaded.origin { return origin.allowsStoring }
        return await disk.contains(request.originalKey)
    }
}
